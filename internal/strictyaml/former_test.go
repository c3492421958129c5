package strictyaml

import (
	"reflect"
	"strings"
	"testing"
)

// lane is what has keys that had other names.
type lane struct {
	Priority *int           `yaml:"priority" schema:"0..7" was:"class"`
	Rates    map[int]inside `yaml:"rates" was:"speeds"`
	List     []inside       `yaml:"list"`
	One      Some[inside]   `yaml:"one"`
	Sub      *inside        `yaml:"sub"`
	Name     string         `yaml:"name"`
}

type inside struct {
	Priority int    `yaml:"priority" was:"class"`
	Text     string `yaml:"text"`
}

// TestFormerKeys: a file with former names is as one with the present ones, and so are settings.
func TestFormerKeys(t *testing.T) {
	for older, present := range map[string]string{
		"class: 3\n":                          "priority: 3\n",
		"class: 3\nname: class\n":             "priority: 3\nname: class\n",
		"{class: 0}\n":                        "{priority: 0}\n",
		"speeds: {4: {class: 5}}\n":           "rates: {4: {priority: 5}}\n",
		"speeds:\n  4:\n    class: 5\n":       "rates:\n  4:\n    priority: 5\n",
		"list: [{class: 1}, {priority: 2}]\n": "list: [{priority: 1}, {priority: 2}]\n",
		"one: {class: 1, text: class}\n":      "one: {priority: 1, text: class}\n",
		"one: [{class: 1}]\n":                 "one: [{priority: 1}]\n",
		"sub:\n  class: 7\n":                  "sub:\n  priority: 7\n",
		"'class': 3\n":                        "priority: 3\n",
		"class:\n":                            "priority:\n",
		"class: 3\n--set class=4":             "priority: 4\n",
		"class: 3\n--set priority=4":          "priority: 4\n",
		"priority: 3\n--set class=4":          "priority: 4\n",
		"class: 3\n--set priority=":           "{}\n",
		"class: 3\n--set class=":              "{}\n",
		"list: [{class: 1}]\n--set list[0].class=6\n--set list[1]={class: 2}": "list: [{priority: 6}, {priority: 2}]\n",
		"one: {class: 1}\n--set one.class=6":                                  "one: {priority: 6}\n",
		"sub:\n--set sub.class=6":                                             "sub: {priority: 6}\n",
		"name: x\n--set speeds.3.class=6":                                     "name: x\nrates: {3: {priority: 6}}\n",
	} {
		text, set, _ := strings.Cut(older, "--set ")
		var with []Setting
		if set != "" {
			with = settings(t, strings.ReplaceAll(set, "--set ", ""))
		}
		var got, want lane
		d := Read("f", []byte(text), &got, with...)
		if err := Read("f", []byte(present), &want).Err(); err != nil {
			t.Fatal(err)
		}
		if err := d.Err(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", older, got, err, want)
		}
		if d.Has("class") || d.Has("list[0].class") || got.Priority != nil && !d.Has("priority") {
			t.Errorf("%q: it has the key under its former name", older)
		}
	}
}

// TestFormerKeyFaults: faults have the present names, and a key given by both of its names is one.
func TestFormerKeyFaults(t *testing.T) {
	for text, want := range map[string]string{
		"priority: 4\nclass: 3\n":                    `f:2: priority: given as "class" too, its name in older files: remove "class"`,
		"class: 3\npriority: 4\n":                    `f:1: priority: given as "class" too, its name in older files: remove "class"`,
		"name: x\nlist: [{class: 1, priority: 2}]\n": `f:2: list[0].priority: given as "class" too, its name in older files: remove "class"`,
		"class: 3\nclass: 4\n":                       "f:2: priority: given twice, first in line 1",
		"name: x\nclass: many\n":                     `f:2: priority: "many" is not a whole number`,
		"name: x\nclas: 3\n":                         `f:2: clas: unknown key "clas"; the keys here are priority, rates, list, one, sub, name`,
	} {
		var got lane
		if err := Read("f", []byte(text), &got).Err(); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	var got lane
	err := Read("f", nil, &got, settings(t, "sub={class: 1, priority: 2}")...).Err()
	if want := `f: --set sub: sub.priority: given as "class" too, its name in older files: remove "class"`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	err = Read("f", nil, &got, settings(t, "priority=3\nclass=4")...).Err()
	if want := "f: --set priority: given twice"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
