package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/strictyaml"
)

// Axis is a key of a scenario and the values that it takes in turn.
type Axis struct {
	Path   string
	Values []string // YAML, each another; at least one
}

// ParseAxis reads an axis that is written as PATH=VALUE,VALUE,...: a comma within quotes or
// brackets is part of a value.
func ParseAxis(text string) (Axis, error) {
	s, err := strictyaml.ParseSetting(text)
	if err != nil {
		return Axis{}, err
	}
	a := Axis{s.Path, split(s.Text)}
	for i, v := range a.Values {
		if slices.Contains(a.Values[:i], v) {
			return Axis{}, fmt.Errorf("%s: %q is there twice", a.Path, v)
		}
	}
	return a, nil
}

// split takes values apart at commas that stand neither in quotes nor in brackets, and the
// spaces around them away. Quotes and brackets are those of YAML on one line: a quote that
// is not the first of a value or of an entry is a letter like others.
func split(text string) (values []string) {
	from, depth := 0, 0
	quote, before := byte(0), byte(',') // before is the last byte that is no space
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			switch {
			case c == '\\' && quote == '"', c == '\'' && quote == c && strings.HasPrefix(text[i+1:], "'"):
				i++ // what follows is no end
			case c == quote:
				quote = 0
			}
		case (c == '"' || c == '\'') && strings.IndexByte(",[{:", before) >= 0:
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth <= 0:
			values = append(values, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
		if c != ' ' {
			before = c
		}
	}
	return append(values, strings.TrimSpace(text[from:]))
}

// errTwice is for a key with two axes.
var errTwice = errors.New("given twice; write all its values in one --set")

// checkAxes says what is wrong with several axes together.
func checkAxes(axes []Axis) error {
	for i, a := range axes {
		if slices.ContainsFunc(axes[:i], func(other Axis) bool { return other.Path == a.Path }) {
			return fmt.Errorf("--set %s: %w", a.Path, errTwice)
		}
	}
	return nil
}
