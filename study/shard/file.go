package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"softswitch/internal/version"
)

// File is the result of a part of a run.
type File struct {
	Program string `json:"softswitch"` // which built it
	Command string `json:"command"`    // such as "sim fuzz"
	// Inputs is all that the result depends on, except for the part.
	Inputs map[string]json.RawMessage `json:"inputs"`
	Items  int                        `json:"items"` // of the whole run
	Shard  int                        `json:"shard"`
	Of     int                        `json:"of"`
	Result json.RawMessage            `json:"result"`
	// SHA256 is of all that goes before, so that what was changed or damaged is not merged.
	SHA256 string `json:"sha256"`

	clean bool
}

// New is the file of a part of a command's run of this many items. inputs is a struct. clean
// is what the part makes of the command's exit status. It panics if inputs or result cannot
// be written as JSON.
func New(command string, p Part, items int, inputs, result any, clean bool) *File {
	f := &File{Program: version.Exact(), Command: command, Items: items, Shard: p.Number, Of: p.Of, Result: encoded(result), clean: clean}
	if err := json.Unmarshal(encoded(inputs), &f.Inputs); err != nil {
		panic("shard: " + err.Error())
	}
	f.SHA256 = f.sum()
	return f
}

func (f *File) sum() string {
	g := *f
	g.SHA256 = ""
	return fmt.Sprintf("%x", sha256.Sum256(encoded(g)))
}

func encoded(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic("shard: " + err.Error())
	}
	return data
}

// Clean reports whether the part alone would have the command exit with 0. It is not known of
// a file that was read.
func (f *File) Clean() bool { return f.clean }

// WriteText writes it as JSON: it is for programs alone.
func (f *File) WriteText(w io.Writer) error { return json.NewEncoder(w).Encode(f) }

// Read reads the file called name. Its error begins with the name.
func Read(name string) (*File, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var f File
	if err := decode(bytes.TrimPrefix(data, []byte("\ufeff")), &f); err != nil {
		return nil, fmt.Errorf("%s: not a shard, as --shard I/N prints it, or not all of one: %w", name, err)
	}
	if f.SHA256 != f.sum() {
		return nil, fmt.Errorf("%s: changed since it was written: its content does not have the SHA-256 that it names", name)
	}
	return &f, nil
}

// decode reads data, one JSON value of known keys and nothing after it, into what to points to.
func decode(data []byte, to any) error {
	return jsonv2.Unmarshal(data, to, jsonv1.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true))
}
