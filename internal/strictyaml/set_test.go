package strictyaml

import (
	"reflect"
	"strings"
	"testing"
)

const settable = `# a file
name: x
port: 7
list:
  - {a: 1}
  - a: 2
    b: two
sub:
`

// settings are those of lines.
func settings(t *testing.T, lines string) (all []Setting) {
	t.Helper()
	for line := range strings.Lines(lines) {
		s, err := ParseSetting(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// TestSettings: a file with settings is as one in which their values stand.
func TestSettings(t *testing.T) {
	off := false
	for lines, change := range map[string]func(*outer){
		"":                                   func(*outer) {},
		"name=y":                             func(o *outer) { o.Name = "y" },
		"name=":                              func(o *outer) { o.Name = "before" },
		"name=~":                             func(o *outer) { o.Name = "before" },
		"map.3.a=5\nmap.3=":                  func(o *outer) { o.Map = map[int]inner{} },
		"sub=\nsub.a=4":                      func(o *outer) { o.Sub = &inner{A: 4} },
		"name=5.0":                           func(o *outer) { o.Name = "5.0" },
		`name="a: b, [c"`:                    func(o *outer) { o.Name = "a: b, [c" },
		"name=a=b":                           func(o *outer) { o.Name = "a=b" },
		"on=false":                           func(o *outer) { o.On = &off },
		"list[0].a=9":                        func(o *outer) { o.List[0].A = 9 },
		"list[0].b=one":                      func(o *outer) { o.List[0].B = "one" },
		"list[1].a=9\nlist[1].b=":            func(o *outer) { o.List[1] = inner{A: 9} },
		"list[2]={a: 3}":                     func(o *outer) { o.List = append(o.List, inner{A: 3}) },
		"list[2].a=3\nlist[3].a=4":           func(o *outer) { o.List = append(o.List, inner{A: 3}, inner{A: 4}) },
		"list=[]":                            func(o *outer) { o.List = []inner{} },
		"list=":                              func(o *outer) { o.List = nil },
		"sub.a=4":                            func(o *outer) { o.Sub = &inner{A: 4} },
		"sub={a: 4}\nsub.b=c":                func(o *outer) { o.Sub = &inner{4, "c"} },
		"sub.b=c\nsub={a: 4}":                func(o *outer) { o.Sub = &inner{A: 4} },
		"map.3.a=5\nmap.4.b=z":               func(o *outer) { o.Map = map[int]inner{3: {A: 5}, 4: {B: "z"}} },
		"map={3: {a: 5}}":                    func(o *outer) { o.Map = map[int]inner{3: {A: 5}} },
		"port=0x10 # which is sixteen\nsub=": func(o *outer) { o.Port = 16 },
	} {
		want := outer{Name: "x", Port: 7, List: []inner{{A: 1}, {2, "two"}}}
		change(&want)
		got := outer{Name: "before"}
		d := Read("x", []byte(settable), &got, settings(t, lines)...)
		if err := d.Err(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v\ngot  %+v\nwant %+v", lines, err, got, want)
		}
		if all := settings(t, lines); len(all) > 0 {
			if s := all[len(all)-1]; d.Has(s.Path) != (s.Text != "") || d.Line(s.Path) != 0 {
				t.Errorf("%q: Has(%q) = %v, Line = %d; want %v, 0", lines, s.Path, d.Has(s.Path), d.Line(s.Path), s.Text != "")
			}
		}
	}
	for _, text := range []string{"", "# nothing", "{}"} {
		var got outer
		if err := Read("x", []byte(text), &got, Setting{"sub.a", "4"}).Err(); err != nil || got.Sub.A != 4 {
			t.Errorf("%q: %v, %+v", text, err, got)
		}
	}
}

// TestSettingFaults: each is told with its setting, and those of the file with their
// lines, in the order of these.
func TestSettingFaults(t *testing.T) {
	for lines, want := range map[string]string{
		"port=x":                     `x: --set port: "x" is not a whole number of 0 to 65535`,
		"prt=":                       `x: --set prt: unknown key "prt" (did you mean "port"?); the keys here are name, on, port, list, map, sub`,
		"prt=1":                      `x: --set prt: unknown key "prt" (did you mean "port"?); the keys here are name, on, port, list, map, sub`,
		"sup.a=1":                    `x: --set sup.a: sup: unknown key "sup" (did you mean "sub" or "map"?); the keys here are name, on, port, list, map, sub`,
		"sub.c=1":                    `x: --set sub.c: unknown key "c"; the keys here are a, b`,
		"sub={c: 1}":                 `x: --set sub: sub.c: unknown key "c"; the keys here are a, b`,
		"sub.a=1\nsub={a: x}":        `x: --set sub: sub.a: "x" is not a whole number`,
		"sub={a: 1, a: 2}":           `x: --set sub: sub.a: given twice, first in line 1`,
		"list[1].a=x":                `x: --set list[1].a: "x" is not a whole number`,
		"list[3].a=1":                `x: --set list[3].a: list has 2 entries: the next one is [2]`,
		"list.a=1":                   `x: --set list.a: list is a list: no key is below it; write which entry, such as [0]`,
		"name.a=1":                   `x: --set name.a: name is "x": no key is below it`,
		"sub.a=1\nsub[0]=1":          `x: --set sub[0]: sub is keys and values, no list`,
		"name=a: b":                  `x: --set name: keys and values where a word should be`,
		"name=[":                     `x: --set name: not YAML: sequence end token ']' not found`,
		"name=*x":                    `x: --set name: *: anchors, aliases, tags and directives are not supported: write the value itself`,
		"port=1\nport=2":             `x: --set port: given twice`,
		"port=x\nlist[0].a=y":        "x: --set port: \"x\" is not a whole number of 0 to 65535\nx: --set list[0].a: \"y\" is not a whole number",
		"list[0].a=x\nlist=[{b: z}]": "",
	} {
		var v outer
		got := ""
		if err := Read("x", []byte(settable), &v, settings(t, lines)...).Err(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", lines, got, want)
		}
	}
	var v outer
	d := Read("x", []byte("nam: 1\nport: 2\n"), &v, Setting{"port", "3"}, Setting{"sub", "{}"})
	d.Faultf("port", "bad")
	d.Faultf("sub.a", "missing")
	want := "x: --set port: bad\nx: --set sub: sub.a: missing\nx:1: nam: unknown key \"nam\" (did you mean \"name\" or \"map\"?); the keys here are name, on, port, list, map, sub"
	if got := d.Err().Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	// What is no YAML has no keys to set.
	if got := Read("x", []byte("a: ["), &v, Setting{"port", "x"}).Err().Error(); got != "x:1: not YAML: sequence end token ']' not found" {
		t.Error(got)
	}
}

// TestSettingText: what a setting's text may be.
func TestSettingText(t *testing.T) {
	for text, want := range map[string]string{
		"a\n---\nb":               "x: --set name: a second YAML document: a file has one",
		strings.Repeat("[", 65):   "x: --set name: more than 64 brackets open",
		strings.Repeat("a", 5000): "x: --set name: a line of more than 4096 bytes",
		"|\n  two\n  lines\n":     "",
	} {
		var v outer
		got := ""
		if err := Read("x", []byte(settable), &v, Setting{"name", text}).Err(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.20q: %s, want %s", text, got, want)
		}
	}
}

func TestParseSetting(t *testing.T) {
	for _, good := range []string{"a=", "a.b-c.d_e=1", "a[0][1].b=x", "expect_for.sai-dldr.missed=true"} {
		if _, err := ParseSetting(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, want := range map[string]string{
		"a":      "write KEY=VALUE",
		"":       "write KEY=VALUE",
		"=1":     `"" is no key`,
		"a.=1":   `"a." is no key`,
		".a=1":   `".a" is no key`,
		"[0]=1":  `"[0]" is no key`,
		"a b=1":  `"a b" is no key`,
		"a]=1":   `"a]" is no key`,
		"a[=1":   "a number in brackets",
		"a[]=1":  "a number in brackets",
		"a[-1]=": "a number in brackets",
		"a[x]=1": "a number in brackets",
		"a[0]b=": "after a bracket comes a dot",
	} {
		if _, err := ParseSetting(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", bad, err, want)
		}
	}
}

// FuzzSetting: a setting never panics, and where it leads to no fault the file has its
// key.
func FuzzSetting(f *testing.F) {
	f.Add([]byte(settable), "list[1].b", "x")
	f.Add([]byte("name: x"), "sub.a", "1")
	f.Add([]byte("- 1"), "map.3", "{a: 2, b: }")
	f.Add([]byte("list:\n- a: 1\n"), "list[1]", "{b: |\n a}")
	f.Add([]byte(settable), "list", " # nothing")
	f.Fuzz(func(t *testing.T, data []byte, path, text string) {
		if _, err := ParseSetting(path + "=" + text); err != nil || strings.Contains(path, "=") {
			return
		}
		var v outer
		d := Read("x", data, &v, Setting{path, text})
		value, _, fault := read([]byte(text))
		switch err := d.Err(); {
		case err != nil && err.Error() == "":
			t.Error("a fault without text")
		case err == nil && (fault != "" || d.Has(path) != (value != nil)):
			t.Errorf("no fault, and whether it has key %q: %v; fault of the text: %s", path, d.Has(path), fault)
		}
	})
}
