package itsy

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy/model"
	"softswitch/internal/stat"
	"softswitch/unit"
)

// machine is a detector that package model puts into states in which it was. Times are in no
// state, nor is what only the diagnosis reads.
//
// The blame of a priority group is its own in every state, since nothing is put down to pauses where no
// time passes.
type machine struct{ *detector }

func newMachine(v detect.View, a detect.Actions) model.Detector {
	return machine{newDetector(v, a, true)}
}

func newUncheckedMachine(v detect.View, a detect.Actions) model.Detector {
	return machine{newDetector(v, a, false)}
}

func (m machine) priority() *priority { return m.priorities[model.Priority] }

func (m machine) State(b []byte) []byte {
	k := coder{b: b, writes: true}
	k.priority(m.priority())
	return k.b
}

func (m machine) SetState(b []byte) {
	c := newPriority(model.Priority, m.view.Ports(), m.priority().index, len(m.order))
	k := coder{b: b}
	k.priority(c)
	for i := range c.in {
		c.in[i].due = m.hops(notYet)
		if i := unit.Port(i); c.xoff.Has(i) {
			c.in[i].trigger = m.own(i)
		}
	}
	m.priorities[model.Priority], m.order[c.index], m.deadline = c, c, unit.Never
}

// Times beside the model's, which stands still: timers that are not due, and messages that came
// long ago.
const (
	notYet  = model.Now + 1000*model.Hop
	longAgo = model.Now - 1000*model.Hop
)

func (m machine) Due(b detect.PG) bool { return m.priority().blocked.Has(b.Port) }

// Fire lets the priority group alone be due.
func (m machine) Fire(b detect.PG, chance int) {
	for i := range m.priority().in {
		m.priority().in[i].due = m.hops(notYet)
	}
	m.priority().in[b.Port].due = m.hops(model.Now)
	m.random = chances[chance]
	m.Tick(model.Now)
}

// chances are generators. What a priority group leaves to chance that decides anything is whether it checks
// or verifies, the first number that it draws, below 2; and which of two queues counts, the third or
// the fourth.
var chances = func() (all [model.Chances]stat.Rand) {
	found := map[int]bool{}
	for seed := stat.Rand(0); len(found) < model.Chances; seed++ {
		r := seed
		first, _, third, fourth := r.Below(2), r.Below(2), r.Below(2), r.Below(2)
		if k := first + 2*third; third == fourth && !found[k] {
			found[k], all[k] = true, seed
		}
	}
	return all
}()

func (m machine) Age() {
	for k := range m.priority().slots {
		m.priority().slots[k].seen = m.hops(longAgo)
	}
}

// coder writes the fields of a priority to b, or reads them from it.
type coder struct {
	b      []byte
	writes bool
}

func code[T ~uint8 | ~uint16 | ~uint32 | ~uint64](k *coder, v *T) {
	if k.writes {
		k.b = binary.AppendUvarint(k.b, uint64(*v))
		return
	}
	is, n := binary.Uvarint(k.b)
	*v, k.b = T(is), k.b[n:]
}

// ports is a set of ports of a switch that has few.
func (k *coder) ports(s *unit.PortSet) {
	w := s.Words()
	code(k, &w[0])
	*s = unit.PortsOfWords(w)
}

func (k *coder) label(l *label) {
	code(k, &l.word)
	code(k, &l.trigger)
}

func (k *coder) priority(c *priority) {
	for p := range c.lab {
		k.label(&c.lab[p])
		code(k, &c.in[p].own)
		code(k, &c.in[p].min)
		code(k, &c.in[p].declared)
	}
	for _, set := range [...]*unit.PortSet{
		&c.paused, &c.stopped, &c.xoff, &c.announced, &c.proved, &c.settled, &c.blocked, &c.done, &c.outdone, &c.freed, &c.suspect,
		&c.trusting, &c.unanswered, &c.live,
	} {
		k.ports(set)
	}
	for i := range c.slots {
		k.slot(&c.slots[i])
	}
	code(k, &c.clock)
}

func (k *coder) slot(s *slot) {
	k.label(&s.id)
	if s.id == (label{}) {
		clear(s.of)
		*s = slot{of: s.of}
		return
	}
	for i := range s.of {
		pt := &s.of[i]
		for _, set := range [...]*unit.PortSet{&pt.asked, &pt.free, &pt.engaged, &pt.walked, &pt.named} {
			k.ports(set)
		}
	}
	code(k, &s.asker)
	code(k, &s.priority)
	code(k, &s.deficit)
	code(k, &s.seen)
	code(k, &s.parent)
	code(k, &s.via)
	code(k, &s.flags)
}

const few = "a switch of the model has no port above 63"

// stateless are the fields that are in no state, with the reason.
var stateless = map[string]string{
	"PortSet.w1": few, "PortSet.w2": few, "PortSet.w3": few,
	"ingress.checked": "a budget, new at each time", "ingress.checkedAt": "time", "ingress.asks": "a budget", "ingress.asked": "time",
	"ingress.due": "time", "ingress.tries": "how long to wait", "ingress.unended": "how long to wait", "slot.until": "time", "slot.patience": "how long to wait", "fixed.id": "constant", "fixed.index": "constant",
	"ingress.blame": "diagnosis", "ingress.burst": "diagnosis", "ingress.next": "diagnosis", "ingress.lap": "diagnosis", "priority.out": "diagnosis",
	"fixed.undiagnosed": "diagnosis", "fixed.asking": "diagnosis", "fixed.askUntil": "diagnosis", "fixed.found": "diagnosis",
}

// Every field of a priority is in its state, but for those that are left out with a reason: each has
// its value again in another detector that is put into that state.
func TestMachineKeepsAll(t *testing.T) {
	from, to := newMachine(&stub{id: 1, ports: 4}, nil).(machine), newMachine(&stub{id: 1, ports: 4}, nil).(machine)
	var want, got []string
	n := uint64(0)
	eachField(reflect.ValueOf(from.priority()).Elem(), "", func(path string, v reflect.Value) {
		n = n%60 + 1
		v.SetUint(n)
		want = append(want, fmt.Sprint(path, " ", n))
	})
	to.SetState(from.State(nil))
	eachField(reflect.ValueOf(to.priority()).Elem(), "", func(path string, v reflect.Value) {
		got = append(got, fmt.Sprint(path, " ", v.Uint()))
	})
	if len(want) < 60 {
		t.Errorf("only %d fields: %q", len(want), want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s came back as %s: put it into the state, or among the stateless with a reason", want[i], got[i])
		}
	}
}

// eachField calls do for every number in v that is in a state.
func eachField(v reflect.Value, path string, do func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); stateless[v.Type().Name()+"."+f.Name] == "" {
				eachField(v.Field(i), path+"."+f.Name, do)
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			eachField(v.Index(i), fmt.Sprintf("%s[%d]", path, i), do)
		}
	default:
		do(path, reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()) // the fields are not exported
	}
}
