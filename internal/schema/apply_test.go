package schema

import (
	"reflect"
	"testing"

	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// parameters is a format with a key of each kind that Fill and Check know.
type parameters struct {
	Name  string      `yaml:"name" schema:"name,required"`
	Count int         `yaml:"count" schema:"1..9,default=3"`
	Zero  *int        `yaml:"zero" schema:"0..9,default=4"`
	Port  uint16      `yaml:"port" schema:"1..65535,default=80"`
	Word  string      `yaml:"word" schema:"red|green,default=red"`
	Power int         `yaml:"power" schema:"1|2|4,default=2"`
	List  []int       `yaml:"list" schema:"0..7,default=[3, 4]"`
	Time  unit.Time   `yaml:"time" schema:"time,default=5ms"`
	Rate  *unit.Rate  `yaml:"rate" schema:"rate,default=0"`
	Below []parameter `yaml:"below" schema:""`
	Own   filled      `yaml:"own" schema:""`
}

type parameter struct {
	N int `yaml:"n" schema:"1..9,default=7"`
}

// filled fills itself.
type filled struct {
	N int `yaml:"n" schema:"1..9,default=7"`
}

func (f *filled) Fill() { f.N = 8 }

func TestFill(t *testing.T) {
	four, rate := 4, unit.Rate(0)
	want := parameters{Count: 3, Zero: &four, Port: 80, Word: "red", Power: 2, List: []int{3, 4}, Time: 5 * unit.Millisecond, Rate: &rate, Below: []parameter{{7}, {2}}, Own: filled{8}}
	got := parameters{Below: []parameter{{}, {2}}}
	for range 2 {
		if Fill(&got); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
	zero := 0
	got = parameters{Count: 5, Zero: &zero, List: []int{}}
	if Fill(&got); got.Count != 5 || *got.Zero != 0 || len(got.List) != 0 {
		t.Errorf("what is there has become %+v", got)
	}
}

func TestCheck(t *testing.T) {
	for file, want := range map[string]string{
		"name: a\ncount: 9\nzero: 0\nword: green\npower: 4\nlist: [0, 7]\nbelow: [{n: 1}]\n": "",
		"name: a\n": "",
		"name: a\ncount:\nword:\nport: # nothing\n": "",
		"count: 1\n":            "f:1: name: missing",
		"name: a\ncount: 0\n":   "f:2: count: 0: use 1 to 9",
		"name: a\nzero: -1\n":   "f:2: zero: -1: use 0 to 9",
		"name: a\nport: 0\n":    "f:2: port: 0: use 1 to 65535",
		"name: a\nword: gren\n": `f:2: word: "gren" (did you mean "green" or "red"?); use red, green`,
		"name: a\npower: 3\n":   "f:2: power: 3: use 1, 2, 4",
		"name: a\nlist: [1, 8]": "f:2: list[1]: 8: use 0 to 7",
		"name: a\nbelow: [{n: 0}, {n: 1}, {n: 10}]\nrate: fast": "f:2: below[0].n: 0: use 1 to 9\nf:2: below[2].n: 10: use 1 to 9\n" +
			`f:3: rate: "fast" is not a rate: write a number and bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s, such as "100Mbit/s", or "0" for unlimited; at most 1000Tbit/s`,
	} {
		var p parameters
		d := strictyaml.Read("f", []byte(file), &p)
		Check(d, &p)
		got := ""
		if err := d.Err(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", file, got, want)
		}
	}
}

// What a format says of a key itself goes before what its tag says, whichever comes first.
func TestCheckGivesWay(t *testing.T) {
	var p parameters
	d := strictyaml.Read("f", []byte("name: a\ncount: 10\n"), &p)
	Check(d, &p)
	if !d.Faulty("count") {
		t.Error("the key is not faulty")
	}
	d.Faultf("count", "too many")
	Check(d, &p)
	if err := d.Err(); err == nil || err.Error() != "f:2: count: too many" {
		t.Errorf("got %v", err)
	}
}
