// Package strictjson reads JSON that has to be one value of known keys and nothing else: a decoder of
// encoding/json takes the first value of a text, and leaves what follows it.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Decode reads data, one JSON value that has no unknown keys, into what to points to.
func Decode(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("something follows it at byte %d", d.InputOffset())
	}
	return nil
}
