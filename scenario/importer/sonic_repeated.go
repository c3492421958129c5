package importer

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// repeats are the values of a file that do not count, because their key comes again in the same object: the last
// one counts, as with Python's json, by which SONiC reads its file.
type repeats struct {
	stale map[int64]bool // by the offset behind the key
	first []string       // of the tables, rows and fields that come again, with their lines
}

// maxRepeats limits those that are told of.
const maxRepeats = 8

// String lists the keys.
func (r *repeats) String() string {
	list := strings.Join(r.first, ", ")
	if more := len(r.stale) - len(r.first); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// repeated finds the tables, rows and fields that a file, which d is to read, has more than once. The error is that it is no JSON, or
// that there are too many.
func repeated(d *jsontext.Decoder, data []byte) (r repeats, err error) {
	r.stale = map[int64]bool{}
	line, counted := 1, 0
	var object func(path []string) error
	object = func(path []string) error {
		if d.PeekKind() != '{' || len(path) == 3 {
			return d.SkipValue()
		}
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		behind := map[string]int64{}
		for d.PeekKind() != '}' {
			key, err := d.ReadToken()
			if err != nil {
				return err
			}
			name := key.String()
			of := append(path[:len(path):len(path)], name)
			at := d.InputOffset()
			if before, ok := behind[name]; ok {
				if r.stale[before] = true; len(r.stale) > maxFields {
					return fmt.Errorf("more than %d keys come more than once", maxFields)
				}
				if len(r.first) < maxRepeats {
					line, counted = line+bytes.Count(data[counted:at], []byte("\n")), int(at)
					r.first = append(r.first, fmt.Sprintf("%s (line %d)", quoted(strings.Join(of, "|")), line))
				}
			}
			behind[name] = at
			if err := object(of); err != nil {
				return err
			}
		}
		_, err := d.ReadToken()
		return err
	}
	return r, object(nil)
}
