package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// lamp is a thing with every kind of field.
type lamp struct {
	Name    string         `yaml:"name" schema:"name,required"`
	Watt    *int           `yaml:"watt" schema:"1..60,default=5"`
	Colours map[int]string `yaml:"colours" schema:"red|green,keys=0..1"`
	Shade   shade          `yaml:"shade" was:"screen"`
	Spares  []shade        `yaml:"spares"`
	On      string         `yaml:"on" schema:"rate"`
	Socket  string         `yaml:"socket" schema:"socket" was:"holder"`
	Do      string         `yaml:"do" schema:"glow|blink"`
	Hertz   int            `yaml:"hertz" was:"speed"`
}

type shade struct {
	IsPaper bool `yaml:"paper" schema:",required" was:"tissue"`
}

const source = `package schema

// lamp is what gives light.
type lamp struct {
	// Name is the lamp's own.
	Name string
	// Watt of the bulb. Above it, IsPaper shades burn; see Colours.
	Watt int
	Hertz int // how often it blinks
}
`

var lamps = Format{
	Title: "lamp",
	Root:  reflect.TypeFor[lamp](),
	Rules: map[reflect.Type]Rules{reflect.TypeFor[lamp](): {
		OneOf:  [][]string{{"on"}, {"socket", "watt"}},
		CaseOf: "do",
		Cases:  []Case{{Is: "blink", Must: []string{"hertz"}, Text: "On and off."}, {Is: "glow", May: []string{"watt"}}},
	}},
	Choices: map[string][]string{"socket": {"E14", "E27"}},
}

func readLamps(t *testing.T) *Object {
	t.Helper()
	c, err := ReadComments(fstest.MapFS{"schema/lamp.go": {Data: []byte(source)}, "schema/lamp_test.go": {Data: []byte("no Go")}}, "schema")
	if err != nil {
		t.Fatal(err)
	}
	return Read(lamps, c)
}

func TestJSON(t *testing.T) {
	o := readLamps(t)
	var got map[string]any
	if err := json.Unmarshal(o.JSON("lamp"), &got); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"title":                        `"lamp"`,
		"description":                  `"What gives light."`,
		"required":                     `["name"]`,
		"additionalProperties":         `false`,
		"properties.name":              `{"description":"The lamp's own.","type":["string","number","boolean"]}`,
		"properties.watt":              `{"default":5,"description":"Watt of the bulb. Above it, IsPaper shades burn; see ` + "`colours`" + `.","maximum":60,"minimum":1,"type":"integer"}`,
		"properties.colours":           `{"additionalProperties":{"enum":["red","green"]},"propertyNames":{"enum":["0","1"]},"type":"object"}`,
		"properties.shade":             `{"$ref":"#/definitions/schema.shade"}`,
		"properties.spares":            `{"items":{"$ref":"#/definitions/schema.shade"},"type":"array"}`,
		"properties.socket":            `{"enum":["E14","E27"]}`,
		"properties.hertz.description": `"How often it blinks."`,
		"properties.holder":            `{"description":"` + "`socket`" + ` in older files.","enum":["E14","E27"]}`,
		"properties.screen":            `{"allOf":[{"$ref":"#/definitions/schema.shade"}],"description":"` + "`shade`" + ` in older files."}`,
		"definitions.schema.shade": `{"additionalProperties":false,"allOf":[{"anyOf":[{"required":["paper"]},{"required":["tissue"]}]}],` +
			`"properties":{"paper":{"type":"boolean"},"tissue":{"description":"` + "`paper`" + ` in older files.","type":"boolean"}},"type":"object"}`,
		"oneOf": `[{"anyOf":[{"required":["on"]}]},{"anyOf":[{"required":["socket"]},{"required":["holder"]},{"required":["watt"]}]}]`,
		"allOf": `[{"if":{"properties":{"do":{"const":"blink"}},"required":["do"]},"then":{"allOf":[{"anyOf":[{"required":["hertz"]},{"required":["speed"]}]}],"properties":{"watt":false}}},` +
			`{"if":{"properties":{"do":{"const":"glow"}},"required":["do"]},"then":{"properties":{"hertz":false,"speed":false}}}]`,
	} {
		text, err := json.Marshal(at(got, path))
		if err != nil || string(text) != want {
			t.Errorf("%s: %s (%v)\nwant %s", path, text, err, want)
		}
	}
	if first, again := o.JSON("lamp"), readLamps(t).JSON("lamp"); string(first) != string(again) {
		t.Error("the same types give another schema")
	}
}

// at is the value at a path; a definition's name has a dot.
func at(v any, path string) any {
	if rest, ok := strings.CutPrefix(path, "definitions."); ok {
		return v.(map[string]any)["definitions"].(map[string]any)[rest]
	}
	for key := range strings.SplitSeq(path, ".") {
		v = v.(map[string]any)[key]
	}
	return v
}

func TestMarkdown(t *testing.T) {
	const want = "## lamp\n\nWhat gives light.\n\n" +
		"| `do` | has | may have | |\n|---|---|---|---|\n" +
		"| `blink` | `hertz` |  | On and off. |\n| `glow` |  | `watt` |  |\n\n" +
		"| key | value | default | |\n|---|---|---|---|\n" +
		"| `name` | name | required | The lamp's own. |\n" +
		"| `watt` | 1 to 60 | `5` | Watt of the bulb. Above it, IsPaper shades burn; see `colours`. |\n" +
		"| `colours` | 0 to 1: `red` or `green` |  |  |\n" +
		"| `shade` | [shade](#shade) |  |  |\n" +
		"| `spares` | list of [shade](#shade) |  |  |\n" +
		"| `on` | rate |  |  |\n" +
		"| `socket` | `E14` or `E27` |  |  |\n" +
		"| `do` | `glow` or `blink` |  |  |\n" +
		"| `hertz` | number |  | How often it blinks. |\n\n" +
		"One of these is given: `on`; `socket`, `watt`.\n\n" +
		"## shade\n\n| key | value | default | |\n|---|---|---|---|\n| `paper` | true or false | required |  |\n\n"
	if got := string(readLamps(t).Markdown("lamp")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBadTags: a tag or a rule that says what cannot be is found when it is read.
func TestBadTags(t *testing.T) {
	for _, c := range []struct {
		f    Format
		want string
	}{
		{Format{Root: reflect.TypeFor[struct {
			A string `yaml:"a" schema:"colour"`
		}]()}, `"colour" is no kind of value`},
		{Format{Root: reflect.TypeFor[struct {
			A int `yaml:"a" schema:"5..1"`
		}]()}, `"5..1" is no kind of value`},
		{Format{Root: reflect.TypeFor[struct {
			A int `yaml:"a" schema:"1..5,needed"`
		}]()}, `"needed" is neither`},
		{Format{Root: reflect.TypeFor[struct {
			A float64 `yaml:"a"`
		}]()}, "a field of type float64"},
		{Format{Root: reflect.TypeFor[shade](), Rules: map[reflect.Type]Rules{reflect.TypeFor[shade](): {OneOf: [][]string{{"silk"}}}}}, `a key "silk", which it does not have`},
	} {
		func() {
			defer func() {
				if got, ok := recover().(string); !ok || !strings.Contains(got, c.want) {
					t.Errorf("%v: got %q, want %q", c.f.Root, got, c.want)
				}
			}()
			Read(c.f, nil)
		}()
	}
}

// TestNoSource: comments of folders that are not there are asked for in vain.
func TestNoSource(t *testing.T) {
	_, err := ReadComments(fstest.MapFS{}, "config")
	if err == nil || !strings.Contains(err.Error(), "folder config: no Go file in it") {
		t.Errorf("error %v", err)
	}
	_, err = ReadComments(fstest.MapFS{"config/x.go": {Data: []byte("package")}}, "config")
	if err == nil || !strings.Contains(err.Error(), "config/x.go:1") {
		t.Errorf("error %v, want one that names the place", err)
	}
}

// TestPage: the reference for a terminal has each key once, with its value and what it is, in lines of 80
// columns; the manual page has the same keys.
func TestPage(t *testing.T) {
	o := readLamps(t)
	want := `LAMP
  What gives light.

  name  (name; required)
      The lamp's own.

  watt  (1 to 60; default 5)
      Watt of the bulb. Above it, IsPaper shades burn; see colours.

  colours  (0 to 1: red or green)

  shade  (shade)

  spares  (list of shade)

  on  (rate)

  socket  (E14 or E27)

  do  (glow or blink)

  hertz  (number)
      How often it blinks.

  do: blink  (has hertz)
      On and off.

  do: glow  (may have watt)

  One of these is given: on; socket, watt.

SHADE

  paper  (true or false; required)
`
	if got := string(o.Page("lamp")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	long := &Object{Text: strings.Repeat("word ", 40)}
	for line := range strings.Lines(string(long.Page("x"))) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	man := string(o.Man("lamp", "a lamp"))
	for _, want := range []string{".TH \"SOFTSWITCH-LAMP\" \"5\"", "\n.SH SHADE\n", "\n.TP\n\\fBwatt\\fP (1 to 60; default 5)\nWatt"} {
		if !strings.Contains(man, want) {
			t.Errorf("no %q in\n%s", want, man)
		}
	}
	if got := roff(".so \\x\n'a-b"); got != "\\&.so \\ex\n\\&'a\\-b" {
		t.Errorf("roff: %q", got)
	}
}
