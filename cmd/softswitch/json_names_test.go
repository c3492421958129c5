package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// kindBook is what each key of JSON has been the name of: by kind of value, the command that first had it.
type kindBook struct {
	sync.Mutex
	of map[string]map[string]string
}

// kinds is of all commands that were tried.
var kinds = kindBook{of: map[string]map[string]string{}}

// sums are the commands that sum up runs or cases: what is a word, a truth, a list or a number of one run is
// how often it was, or how it is spread, under the same name.
var sums = []string{"compare", "compare traffic", "sweep", "sim fuzz", "campaign merge", "check", "lab list"}

// manyKinds are the keys that are names of things of several kinds, with what these are.
var manyKinds = map[string]string{
	"node":    "frames and logs of events have the numbers of nodes and ports, everything else their names",
	"port":    "likewise",
	"bytes":   "tables of show that have a column for each priority have lists",
	"policed": "of a verdict how many frames were, of a flow whether any of its frames was",
}

// wantOneKind wants each key of a value of JSON to be the name of one kind of thing, in the output of every
// command.
func (b *bed) wantOneKind(command string, v any) {
	b.Helper()
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if wrong := kinds.note(command, key, kindOf(value)); wrong != "" {
				b.Error(wrong)
			}
			b.wantOneKind(command, value)
		}
	case []any:
		for _, value := range v {
			b.wantOneKind(command, value)
		}
	}
}

// note returns what is wrong if key was the name of another kind of thing, else "".
func (k *kindBook) note(command, key, kind string) string {
	if kind == "" || slices.Contains(sums, command) {
		return ""
	}
	k.Lock()
	defer k.Unlock()
	had := k.of[key]
	if had == nil {
		had = map[string]string{}
		k.of[key] = had
	}
	if had[kind] != "" {
		return ""
	}
	had[kind] = command
	if _, may := manyKinds[key]; may || len(had) == 1 {
		return ""
	}
	var all []string
	for kind, command := range had {
		all = append(all, kind+" of "+command)
	}
	slices.Sort(all)
	return fmt.Sprintf("JSON key %q is a %s; one name is one kind of thing", key, strings.Join(all, ", a "))
}

// TestKindBook: a key that is the name of two kinds of things is told, once, and not of what sums up.
func TestKindBook(t *testing.T) {
	k := kindBook{of: map[string]map[string]string{}}
	for _, n := range []struct{ command, key, kind, want string }{
		{"sim run", "deadlock", "truth", ""},
		{"compare", "deadlock", "number", ""},
		{"show mac", "deadlock", "", ""},
		{"lab events", "deadlock", "truth", ""},
		{"cause", "deadlock", "object", `JSON key "deadlock" is a object of cause, a truth of sim run; one name is one kind of thing`},
		{"lab events", "node", "text", ""},
		{"decode", "node", "number", ""},
	} {
		if got := k.note(n.command, n.key, n.kind); got != n.want {
			t.Errorf("%+v: %s", n, got)
		}
	}
}

// kindOf is the kind of a value: "" if it does not tell, such as null and an empty list.
func kindOf(v any) string {
	switch v := v.(type) {
	case string:
		return "text"
	case bool:
		return "truth"
	case float64:
		return "number"
	case map[string]any:
		return "object"
	case []any:
		if len(v) > 0 { // of things, or of their names
			return "list"
		}
	}
	return ""
}
