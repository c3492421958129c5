package strictyaml

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

type inner struct {
	A int    `yaml:"a"`
	B string `yaml:"b"`
}

type outer struct {
	Name string        `yaml:"name"`
	On   *bool         `yaml:"on,omitempty"`
	Port uint16        `yaml:"port"`
	List []inner       `yaml:"list"`
	Map  map[int]inner `yaml:"map"`
	Sub  *inner        `yaml:"sub"`
}

func TestRead(t *testing.T) {
	const text = `
# a comment
name: 5.0
on: false
port: 0x10
list:
  - a: 1 # one
    b: |
      two
      lines
  - {b: no}
map: {3: {a: -7}}
sub:
  b: "quoted: yes"
`
	var got outer
	d := Read("x", []byte(text), &got)
	if err := d.Err(); err != nil {
		t.Fatal(err)
	}
	off := false
	want := outer{
		Name: "5.0", On: &off, Port: 16,
		List: []inner{{1, "two\nlines\n"}, {B: "no"}},
		Map:  map[int]inner{3: {A: -7}},
		Sub:  &inner{B: "quoted: yes"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for path, line := range map[string]int{"name": 3, "list": 6, "list[0].b": 8, "list[1]": 11, "list[1].a": 11, "map.3.a": 12, "sub.a": 13, "none": 3} {
		if got := d.Line(path); got != line {
			t.Errorf("Line(%q) = %d, want %d", path, got, line)
		}
	}
	if !d.Has("list[1].b") || d.Has("list[1].a") {
		t.Error("Has: want list[1].b and not list[1].a")
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"# nothing":                      "",
		"name:":                          "",
		"- 1":                            "x:1: a list where keys name, on, port, list, map, sub should be",
		"word":                           `x:1: "word" where keys name, on, port, list, map, sub should be`,
		"name: [1]":                      "x:1: name: a list where a word should be",
		"on: yes":                        `x:1: on: "yes" is neither true nor false`,
		"port: 65536":                    `x:1: port: "65536" is not a whole number of 0 to 65535`,
		"port: 010":                      `x:1: port: "010" begins with 0, so that it counts by eights for some (YAML 1.1) and by tens for others: write it without`,
		"list: [{a: -08}]":               `x:1: list[0].a: "-08" begins with 0, so that it counts by eights for some (YAML 1.1) and by tens for others: write it without`,
		"port: 1.5":                      `x:1: port: "1.5" is not a whole number of 0 to 65535`,
		"list: {a: 1}":                   "x:1: list: keys and values where a list should be",
		"list: [{a: x}, {a: y}]":         "x:1: list[0].a: \"x\" is not a whole number\nx:1: list[1].a: \"y\" is not a whole number",
		"map: {x: {}}":                   `x:1: map.x: "x" is not a whole number`,
		"map: {1: {}, 1: {}}":            "x:1: map.1: given twice, first in line 1",
		"nam: 1\nsubb: 2\nname: [":       "x:3: not YAML: sequence end token ']' not found",
		"nam: 1\nport: x":                "x:1: nam: unknown key \"nam\" (did you mean \"name\" or \"map\"?); the keys here are name, on, port, list, map, sub\nx:2: port: \"x\" is not a whole number of 0 to 65535",
		"name: a\nname: b":               "x:2: name: given twice, first in line 1",
		"name: a\n---\nname: b":          "x:3: a second YAML document: a file has one",
		"<<: {a: 1}":                     "x:1: << as a key in line 1: a key is a plain word",
		strings.Repeat("[", 65):          "x:1: more than 64 brackets open",
		strings.Repeat("#\n", 1<<21+1):   "x: more than 4194304 bytes",
		"\n" + strings.Repeat("a", 5000): "x:2: a line of more than 4096 bytes",
	} {
		var v outer
		got := ""
		if err := Read("x", []byte(text), &v).Err(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.40q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestFaultfOnce(t *testing.T) {
	var v outer
	d := Read("x", []byte("name: a\nlist:\n  - {a: x}\n"), &v)
	d.Faultf("list[0].a", "again")   // at the same key
	d.Faultf("list[0].a.c", "below") // and below it: both only repeat
	d.Faultf("list[0].ab", "another key")
	d.Faultf("name", "bad")
	want := "x:1: name: bad\nx:3: list[0].a: \"x\" is not a whole number\nx:3: list[0].ab: another key"
	if got := d.Err().Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestNearest(t *testing.T) {
	choices := []string{"core0--agg0-0", "core0--agg1-0", "h1", "slow", "storm"}
	for name, want := range map[string]string{
		"strom":         ` (did you mean "storm"?)`,
		"SLOW":          ` (did you mean "slow"?)`,
		"core0--agg0-1": ` (did you mean "core0--agg0-0" or "core0--agg1-0"?)`,
		"xyz":           "",
		"":              "",
	} {
		if got := DidYouMean(name, choices); got != want {
			t.Errorf("DidYouMean(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("name: a\nlist: [{a: 1}]\n"))
	f.Add([]byte("? [a]\n: - - b\n<<: *x\n"))
	f.Add([]byte("a: &a [*a, !t 1, \"\\u12\"]\r\n--- \n..."))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v outer
		if err := Read("x", data, &v).Err(); err != nil && err.Error() == "" {
			t.Error("a fault without text")
		}
	})
}

// TestSome: a single element stands for a list of it, at the list's own key.
func TestSome(t *testing.T) {
	type file struct {
		Names Some[string] `yaml:"names"`
		Parts Some[inner]  `yaml:"parts"`
	}
	for text, want := range map[string]file{
		"names: x\nparts: {a: 1}\n":            {Some[string]{"x"}, Some[inner]{{A: 1}}},
		"names: [x]\nparts:\n  - {a: 1}\n":     {Some[string]{"x"}, Some[inner]{{A: 1}}},
		"names: [x, y]\nparts:\n  a: 1\n":      {Some[string]{"x", "y"}, Some[inner]{{A: 1}}},
		"names: []\nparts: [{a: 1}, {b: z}]\n": {Some[string]{}, Some[inner]{{A: 1}, {B: "z"}}},
		"names:\n":                             {},
	} {
		var got file
		if err := Read("x", []byte(text), &got).Err(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v (%v), want %+v", text, got, err, want)
		}
	}
	var got file
	err := Read("x", []byte("names: {a: 1}\nparts: {c: 1}\n"), &got).Err()
	want := "x:1: names: keys and values where a word should be\nx:2: parts.c: unknown key \"c\"; the keys here are a, b"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestInline: the keys of an embedded struct stand in its place, but for one that the outer struct has too.
func TestInline(t *testing.T) {
	type inner struct {
		Rate  int `yaml:"rate" schema:"1..9,required"`
		Start int `yaml:"start" schema:"0..9,default=1"`
		Stop  int `yaml:"stop" schema:"0..9,default=2"`
	}
	type outer struct {
		Name  string `yaml:"name"`
		inner `yaml:",inline" schema:",optional"`
		Start string `yaml:"start" schema:"text,default=now"`
	}
	var v outer
	if err := Read("x.yaml", []byte("name: a\nstart: b\nstop: 3\n"), &v).Err(); err != nil {
		t.Error(err)
	}
	if v.Name != "a" || v.Start != "b" || v.Stop != 3 || v.inner.Start != 0 {
		t.Errorf("read as %+v", v)
	}
	const want = `x.yaml:1: rat: unknown key "rat" (did you mean "rate"?); the keys here are name, rate, start, stop`
	if err := Read("x.yaml", []byte("rat: 1\n"), &v).Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	var tags []string
	for _, f := range Fields(reflect.TypeFor[outer]()) {
		tags = append(tags, f.Tag.Get("schema"))
	}
	if want := []string{"", "1..9", "text,default=now", "0..9"}; !slices.Equal(tags, want) {
		t.Errorf("schema tags %q, want %q", tags, want)
	}
}
