package schema

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"softswitch/internal/lists"
)

// Kind is a kind of scalar.
type Kind struct {
	// Name is what the reference calls it: "rate", "0 to 7", "`dscp` or `pcp`".
	Name string
	// Words are the valid ones, nil for any.
	Words []string
	// Pattern is a regular expression of all words that are valid, "" for any.
	Pattern string
	// Number: it is a whole one, of Low to High.
	Number    bool
	Low, High int64
	Bool      bool
	// OrZero: in addition to words, the number 0 is valid. OrAny: numbers and true are words too.
	OrZero, OrAny bool
}

// Patterns of values, as package config reads them.
const (
	rate    = `([0-9]+(\.[0-9]+)? *(bit/s|kbit/s|Mbit/s|Gbit/s|Tbit/s)|0)`
	percent = `(0*100(\.0{1,2})?|0*[0-9]{1,2}(\.[0-9]{1,2})?)%`
	span    = `\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+|\+?0`
	octet   = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	ipv4    = octet + `(\.` + octet + `){3}`
	bits    = `/(3[0-2]|[12]?[0-9])`
	hex2    = `[0-9A-Fa-f]{2}`
)

// kinds are those that a tag can name, apart from ranges ("0..7") and words
// ("dscp|pcp"). Names of things in the same file have no pattern: the file itself
// tells which are valid.
var kinds = []Kind{
	{Name: "text", OrAny: true},
	{Name: "name", OrAny: true},
	{Name: "node", OrAny: true},
	{Name: "switch", OrAny: true},
	{Name: "host", OrAny: true},
	{Name: "flow", OrAny: true},
	{Name: "path", OrAny: true},
	{Name: "interface", Pattern: `[^/: \t\n]{1,15}`, OrAny: true},
	{Name: "node or prefix", OrAny: true},
	{Name: "pair", Pattern: `.*--.*`},
	{Name: "link", Pattern: `.+--.+`},
	{Name: "rate", Pattern: rate, OrZero: true},
	{Name: "rate or line", Pattern: rate + `|line`},
	{Name: "share", OrAny: true},
	{Name: "memory address", Pattern: `0[xX][0-9A-Fa-f]{1,16}|0|[1-9][0-9]{0,19}`, OrAny: true},
	{Name: "number or forever", Pattern: `[0-9]+|forever`, OrAny: true},
	{Name: "number or any", Pattern: `[0-9]+|any`, OrAny: true},
	{Name: "number or probe", Pattern: `[0-9]+|probe`, OrAny: true},
	{Name: "priority or probe", Pattern: `[0-7]|probe`, OrAny: true},
	{Name: "percent", Pattern: percent},
	{Name: "time", Pattern: span, OrZero: true},
	{Name: "drawn time", Pattern: `(` + span + `)( *(±|\+-) *(` + span + `))?`, OrZero: true},
	{Name: "drawn rate or line", Pattern: `(` + rate + `)( *(±|\+-) *((` + rate + `)|` + percent + `))?|line`},
	{Name: "length", Pattern: `[0-9]+(\.[0-9]+)?m`},
	{Name: "quanta", Pattern: `[0-9]+|802\.3`, OrAny: true},
	{Name: "mac", Pattern: hex2 + `(:` + hex2 + `){5}`},
	{Name: "ip", Pattern: ipv4},
	{Name: "prefix", Pattern: ipv4 + bits},
	{Name: "address", Pattern: ipv4 + bits},
	{Name: "hex", Pattern: `[0-9A-Fa-f: \n]+`},
	{Name: "listen", Pattern: `(.*:)?[0-9]+`},
}

// kind is the kind that a tag says, or that of the Go type if it says nothing.
func (r *reader) kind(tag string, t reflect.Type) Kind {
	if tag == "" {
		return kindOf(t)
	}
	if words, ok := r.choices[tag]; ok {
		return Kind{Name: tag, Words: words}
	}
	for _, k := range kinds {
		if k.Name == tag {
			return k
		}
	}
	if lo, hi, ok := strings.Cut(tag, ".."); ok {
		low, err1 := strconv.ParseInt(lo, 10, 64)
		high, err2 := strconv.ParseInt(hi, 10, 64)
		if err1 == nil && err2 == nil && low <= high {
			return number(low, high)
		}
	}
	if words := strings.Split(tag, "|"); len(words) > 1 {
		return Kind{Name: oneOf(words), Words: words}
	}
	panic(fmt.Sprintf("schema: %q is no kind of value; see kinds.go", tag))
}

func kindOf(t reflect.Type) Kind {
	switch t.Kind() {
	case reflect.String:
		return Kind{Name: "text", OrAny: true}
	case reflect.Bool:
		return Kind{Name: "true or false", Bool: true}
	case reflect.Uint16:
		return number(0, 1<<16-1)
	case reflect.Uint32:
		return number(0, 1<<32-1)
	case reflect.Int:
		return Kind{Name: "number", Number: true, Low: -1 << 63, High: 1<<63 - 1}
	}
	panic(fmt.Sprintf("schema: a field of type %s", t))
}

func number(low, high int64) Kind {
	return Kind{Name: fmt.Sprintf("%d to %d", low, high), Number: true, Low: low, High: high}
}

// oneOf is "`a`, `b` or `c`".
func oneOf(words []string) string {
	all, last := lists.Map(words, quoted), len(words)-1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// quoted is a word as Markdown has one of a program.
func quoted(word string) string { return "`" + word + "`" }
