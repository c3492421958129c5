package itsy

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/unit"
)

// example is the lap of docs/format/itsy.md.
var example = lap{
	priority: 3, owner: unit.NodePort{Node: 5, Port: 2}, rank: 9, hops: 3,
	least:   turn{at: unit.NodePort{Node: 6, Port: 1}, in: 4, count: 1, flows: detect.CauseFlows{0x0a0b0c0d}},
	most:    turn{at: unit.NodePort{Node: 7, Port: 3}, in: 2, count: 2, flows: detect.CauseFlows{0x0a0b0c0d, 0x01020304}},
	through: detect.CauseFlows{0x0a0b0c0d},
	eldest:  90_000,
	young: [youngMax]young{
		{flow: 0x01020304, age: 150, bytes: 24_000, at: unit.NodePort{Node: 7, Port: 3}, in: 2, most: 15_000},
		{flow: 0x0a0b0c0d, age: 80_000, bytes: 31_000, at: unit.NodePort{Node: 6, Port: 1}, in: 4, most: 22_000},
	},
	hosts: [hostsMax]hostPart{{trigger: newTrigger(unit.NodePort{Node: 7, Port: 1}, true), pgs: 2, most: 200, sum: 350}},
}

// docExample reads the hex block of a lap; each line begins with its offset.
func docExample(t *testing.T) (b []byte) {
	t.Helper()
	text, err := os.ReadFile("../../docs/format/itsy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```hex lap\n")
	block, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("docs/format/itsy.md has no ```hex lap block")
	}
	for line := range strings.Lines(block) {
		off, octets, _ := strings.Cut(line, "  ")
		if want := fmt.Sprintf("%04x", len(b)); off != want {
			t.Fatalf("a line begins with offset %s, want %s", off, want)
		}
		more, err := hex.DecodeString(strings.Join(strings.Fields(octets), ""))
		if err != nil {
			t.Fatalf("line %s: %v", off, err)
		}
		b = append(b, more...)
	}
	return b
}

func TestDocument(t *testing.T) {
	want := docExample(t)
	if got := example.append(nil); !bytes.Equal(got, want) {
		t.Errorf("the lap and docs/format/itsy.md differ:\n got %x\nwant %x", got, want)
	}
	if got, ok := parseLap(want); !ok || got != example {
		t.Errorf("docs/format/itsy.md is read as %+v, %v\nwant %+v", got, ok, example)
	}
}

func TestMessageText(t *testing.T) {
	q := quest{priority: 3, owner: example.owner, rank: 9, about: 0x0a0b0c0d, hops: 2, answered: true}
	asks := q
	asks.answered = false
	for _, tt := range []struct {
		payload []byte
		want    string
	}{
		{example.append(nil), "lap priority 3 from 5.2 rank 9 hops 3"},
		{append(example.append(nil), 0, 0), "lap priority 3 from 5.2 rank 9 hops 3"},
		{q.append(nil), "quest priority 3 from 5.2 rank 9 about flow 0a0b0c0d hops 2, answered"},
		{asks.append(nil), "quest priority 3 from 5.2 rank 9 about flow 0a0b0c0d hops 2"},
	} {
		m, err := ParseMessage(tt.payload)
		if err != nil || m.String() != tt.want || !IsMessage(tt.payload) {
			t.Errorf("%x: %q, %v; want %q", tt.payload, m, err, tt.want)
		}
		tt.payload[8], tt.payload[9] = 0, 0 // without an owner
		if _, err := ParseMessage(tt.payload); err != ErrMessage || !IsMessage(tt.payload) {
			t.Errorf("%x: %v; want %v", tt.payload, err, ErrMessage)
		}
	}
	for _, b := range [][]byte{nil, example.append(nil)[:5], {0xfe, 24, 0x02, 0x49, 0x54, 1}} {
		if IsMessage(b) {
			t.Errorf("%x is taken for a lap or a quest", b)
		}
	}
}
