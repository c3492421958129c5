package control

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"softswitch/internal/beside"
)

// Endpoint is a node that can be asked.
type Endpoint struct{ Name, Path string }

// callsMax is how many nodes are asked at once, at most.
const callsMax = 8

// AskAll calls ask for every endpoint, several at once. It returns the endpoints that
// answered, in their order, their answers, and an error that names the others.
func AskAll[T any](ctx context.Context, ends []Endpoint, ask func(Endpoint) (T, error)) (there []Endpoint, answers []T, err error) {
	all := make([]T, len(ends))
	errs := beside.Each(callsMax, len(ends), func(i int) (err error) {
		if err = ctx.Err(); err == nil {
			all[i], err = ask(ends[i])
		}
		return err
	})
	for i, e := range ends {
		if errs[i] == nil {
			there, answers = append(there, e), append(answers, all[i])
		}
	}
	return there, answers, gather(ends, errs)
}

// AskByName is AskAll with the answers by the names of their endpoints.
func AskByName[T any](ctx context.Context, ends []Endpoint, ask func(Endpoint) (T, error)) (map[string]T, error) {
	there, all, err := AskAll(ctx, ends, ask)
	answers := make(map[string]T, len(there))
	for i, e := range there {
		answers[e.Name] = all[i]
	}
	return answers, err
}

// gather joins the errors of endpoints, merging equal texts; nil if there are none.
func gather(ends []Endpoint, errs []error) error {
	var first []error
	names := map[string][]string{}
	for i, err := range errs {
		if err == nil {
			continue
		}
		if names[err.Error()] == nil {
			first = append(first, err)
		}
		names[err.Error()] = append(names[err.Error()], ends[i].Name)
	}
	for i, err := range first {
		if who := strings.Join(names[err.Error()], ", "); who != "" {
			first[i] = fmt.Errorf("%s: %w", who, err)
		}
	}
	return errors.Join(first...)
}

// Call asks the node at e.
func (e Endpoint) Call(do string, args, result any) error {
	return Call(e.Path, do, args, result)
}

// Get asks the node at e for a T.
func Get[T any](e Endpoint, do string, args any) (v T, err error) {
	err = e.Call(do, args, &v)
	return v, err
}
