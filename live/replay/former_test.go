package replay

import (
	"strings"
	"testing"

	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// told is a machine that has events to tell.
type told struct {
	Machine
	events []event.Event
}

func (m *told) Work(dst []event.Event) (unit.PortSet, []event.Event) {
	return unit.PortSet{}, append(dst, m.events...)
}

// TestOlderEvents: an event that was recorded with the names of an older program is the same event.
func TestOlderEvents(t *testing.T) {
	node := event.Node{ID: 4, Name: "s", Ports: []string{"a", "b"}}
	e := event.Event{At: 9, Type: event.Deadlock, Port: 1, Priority: 3, OutPriority: 3, Label: itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3}}
	line := string(node.Append(nil, e))
	for older, same := range map[string]bool{
		line: true,
		strings.Replace(line, `{"kind":"label","priority":3`, `{"kind":"label","class":3`, 1): true,
		strings.Replace(line, `{"kind":"label","priority":3`, `{"kind":"label","class":4`, 1): false,
		"damaged\n": false,
	} {
		p := player{machine: &told{events: []event.Event{e}}, node: node}
		p.compare([]byte(older))
		if got := p.res.Difference == nil; got != same || same && p.res.Events != 1 {
			t.Errorf("%s: the same %v, want %v: %+v", older, got, same, p.res.Difference)
		}
	}
	if !strings.Contains(line, `{"kind":"label","priority":3`) {
		t.Errorf("no label in %s", line)
	}
}
