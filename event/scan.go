package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// object reads an object and calls value at the value of each key; a key that
// comes twice is an error.
func (s *scanner) object(value func(name string) error) error {
	if !s.take('{') {
		return errEnd
	}
	var seen []string
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return errEnd
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		for _, n := range seen {
			if n == name {
				return fmt.Errorf("key %q twice", name)
			}
		}
		seen = append(seen, name)
		if !s.take(':') {
			return errEnd
		}
		if err := value(name); err != nil {
			return err
		}
	}
	return nil
}

// number reads an integer from lo to hi into *v.
func number[T ~int64 | ~int32 | ~uint32 | ~uint16 | ~uint8](s *scanner, key string, lo, hi int64, v *T) error {
	s.space()
	from := s.i
	for s.i < len(s.b) && (s.b[s.i] == '-' || s.b[s.i] >= '0' && s.b[s.i] <= '9') {
		s.i++
	}
	text := s.b[from:s.i]
	n, err := strconv.ParseInt(string(text), 10, 64)
	canonical := err == nil && (text[0] != '0' || len(text) == 1) && !bytes.HasPrefix(text, []byte("-0"))
	if !canonical || n < lo || n > hi {
		return fmt.Errorf("%s: %s: want an integer, %d to %d", key, short(s.b[from:]), lo, hi)
	}
	*v = T(n)
	return nil
}

func (s *scanner) bool(key string) (bool, error) {
	s.space()
	for _, v := range [...]bool{true, false} {
		if text := strconv.FormatBool(v); bytes.HasPrefix(s.b[s.i:], []byte(text)) {
			s.i += len(text)
			return v, nil
		}
	}
	return false, fmt.Errorf("%s: %s: want true or false", key, short(s.b[s.i:]))
}

// name reads a string that is not empty.
func (s *scanner) name(key string) (string, error) {
	text, err := s.text()
	if err == nil && text == "" {
		err = errors.New("empty name")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	return text, nil
}

// text reads a string.
func (s *scanner) text() (string, error) {
	if s.space(); s.i >= len(s.b) {
		return "", errEnd
	}
	if s.b[s.i] != '"' {
		return "", fmt.Errorf("%s: want a string", short(s.b[s.i:]))
	}
	from, escaped := s.i, false
	for s.i++; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case '\\':
			escaped = true
			s.i++
		case '"':
			s.i++
			return s.unquote(s.b[from:s.i], escaped)
		}
	}
	return "", errEnd
}

func (s *scanner) unquote(quoted []byte, escaped bool) (string, error) {
	inner := quoted[1 : len(quoted)-1]
	if known, ok := s.names[string(inner)]; ok && !escaped {
		return known, nil
	}
	if !utf8.Valid(inner) {
		return "", fmt.Errorf("%s: not UTF-8", short(quoted))
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return "", fmt.Errorf("%s: not a JSON string", short(quoted))
	}
	// Keys and names are few; the bound holds against a file that is not a log.
	if !escaped && len(s.names) < 4096 {
		s.names[text] = text
	}
	return text, nil
}

func (s *scanner) take(c byte) bool {
	if s.space(); s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

// short is the start of b, for an error.
func short(b []byte) string {
	if i := bytes.IndexAny(b, ",}"); i > 0 {
		b = b[:i]
	}
	if len(b) > 40 {
		b = b[:40]
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}
