package control

import (
	"encoding/json"
	"net/url"
)

// fromQuery converts a query to a JSON object: a value is JSON if it can be, else text.
func fromQuery(query string) (json.RawMessage, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	object := map[string]json.RawMessage{}
	for name, all := range values {
		value := []byte(all[0])
		if !json.Valid(value) {
			if value, err = json.Marshal(all[0]); err != nil {
				return nil, err
			}
		}
		object[name] = value
	}
	return json.Marshal(object)
}

// toQuery converts args, an object or nil, to a query.
func toQuery(args any) (string, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &object); err != nil {
		return "", err
	}
	values := url.Values{}
	for name, value := range object {
		values.Set(name, string(value))
	}
	return values.Encode(), nil
}
