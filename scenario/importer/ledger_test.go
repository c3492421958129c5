package importer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var gardenLedger = ledger{
	"bed": {
		used: "length",
		told: reasons{{"soil drain", "a plan has no ground"}},
		idle: reasons{{"colour", "it is paint"}},
	},
	"gnome": {all: "ornaments"},
	"plant": {used: "*", told: reasons{{"smell", "a plan has none"}}},
}

// TestLedger: what is used is not told; what is not is told once, with its reason, its first place and how
// many more there are; what no table has is named.
func TestLedger(t *testing.T) {
	y := tally{ledger: gardenLedger}
	for i := range 3 {
		y.see("bed", "soil", fmt.Sprint("bed ", i))
	}
	y.see("bed", "length", "bed 0")
	y.see("bed", "drain", "bed 7")
	y.see("bed", "colour", "bed 0")
	y.see("gnome", "hat", "gnome 1")
	y.see("gnome", "beard", "gnome 2")
	y.see("plant", "height", "rose")
	y.see("plant", "smell", "rose")
	y.see("bed", "volume", "bed 2")
	y.see("pond", "", "the file")
	y.tell("A plan is flat")
	y.tellAt("bed 1", "it is round")
	y.tellAt("bed 2", "it is round")
	want := []string{
		"Made of a garden.",
		"A plan is flat.",
		"bed 1 and 1 more: it is round.",
		"Unknown, and not used: bed.volume (bed 2), pond (the file).",
		"Not used: bed.drain (bed 7), bed.soil (bed 0 and 2 more): a plan has no ground.",
		"Not used: plant.smell (rose): a plan has none.",
		"Without effect on frames: bed.colour: it is paint.",
		"Without effect on frames: gnome: ornaments.",
	}
	m := y.imported("Made of a garden.", []byte("name: garden\n"))
	if !slices.Equal(m.Told, want) || m.Unused != 7 {
		t.Errorf("told, %d unused:\n%s\nwant 7:\n%s", m.Unused, strings.Join(m.Told, "\n"), strings.Join(want, "\n"))
	}
	for _, line := range strings.SplitAfter(string(bytes.TrimSuffix(m.Text, []byte("name: garden\n"))), "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") || len(line) > width+1 {
			t.Errorf("head has the line %q", line)
		}
	}
	if got, want := m.UnusedWords(), "7 fields of the files are not used; the head of the scenario says which"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLedgerNames: names of a file cannot break out of a comment, and many or long ones do not fill the head.
func TestLedgerNames(t *testing.T) {
	y := tally{ledger: gardenLedger}
	y.see("bed", "a\nname: b", "bed 1")
	y.see("bed", strings.Repeat("x", 10_000), "bed 1")
	for i := range 5000 {
		y.see("bed", fmt.Sprint("f", i), "bed 1")
	}
	y.tell("It has a\nname: %s", "c\x00\xff\u0085d: e")
	m := y.imported("Made of a garden.", nil)
	if m.Unused != 5002 || len(m.Text) > 10_000 || !strings.Contains(strings.Join(m.Told, "\n"), " and 4942 more.") {
		t.Errorf("%d unused, %d bytes:\n%s", m.Unused, len(m.Text), m.Text)
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(m.Text), "\n"), "\n") {
		if !strings.HasPrefix(line, "# ") {
			t.Errorf("head has the line %q", line)
		}
	}
}
