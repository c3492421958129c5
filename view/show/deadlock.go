package show

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/control"
	"softswitch/view/observe"
)

// Declared is what a switch's detector has declared, and what the switch is called.
type Declared struct {
	observe.Deadlocks
	setup observe.Setup
}

func fetchDeadlocks(e control.Endpoint) (d Declared, err error) {
	if d.setup, err = control.Get[observe.Setup](e, "setup", nil); err != nil {
		return d, err
	}
	d.Deadlocks, err = control.Get[observe.Deadlocks](e, "deadlocks", nil)
	return d, err
}

// Lasts reports whether one of the deadlocks that were declared has not ended, and how
// many switches have no detector, so that nothing is declared there.
func Lasts(all []Declared) (lasts bool, blind int) {
	for _, d := range all {
		if d.setup.Detector == "none" {
			blind++
		}
		lasts = lasts || slices.ContainsFunc(d.Findings, func(f observe.Finding) bool { return f.Over == 0 })
	}
	return lasts, blind
}

func place(p observe.Place) string { return p.Port + ":" + strconv.Itoa(p.Class) }

func lasting(f observe.Finding) string {
	if f.Over == 0 {
		return "lasts"
	}
	return "over after " + Milliseconds(f.Over-f.At) + " ms"
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// labelled are a switch's labels, and what the switch is called.
type labelled struct {
	labels []observe.Labels
	setup  observe.Setup
}

func (l labelled) MarshalJSON() ([]byte, error) { return json.Marshal(l.labels) }

func fetchLabels(e control.Endpoint) (l labelled, err error) {
	if l.setup, err = control.Get[observe.Setup](e, "setup", nil); err != nil {
		return l, err
	}
	l.labels, err = control.Get[[]observe.Labels](e, "labels", nil)
	return l, err
}

// switchPorts are names of ports by "node.port".
type switchPorts map[string]string

// add enters the ports of a switch.
func (names switchPorts) add(of observe.Setup) {
	for i, p := range of.Ports {
		names[fmt.Sprintf("%d.%d", of.ID, i)] = of.Name + " " + p.Name
	}
}

// of is the port at "node.port" by its name, "-" for none.
func (names switchPorts) of(at string) string {
	switch name := names[at]; {
	case at == "":
		return "-"
	case name != "":
		return name
	}
	return strings.Replace("node "+at, ".", " port ", 1)
}

// label is a label for people, "-" for none.
func (names switchPorts) label(l *observe.Label) string {
	if l == nil {
		return "-"
	}
	text := fmt.Sprintf("%d of %s", l.Seq, names.of(l.Initiator))
	if l.Kind != "label" {
		text = l.Kind + " " + text
	}
	if l.Trigger != "" {
		text += ", trigger " + names.of(l.Trigger)
	}
	if l.Hops != 0 {
		text += fmt.Sprintf(", hops %d", l.Hops)
	}
	if l.Flags != 0 {
		text += fmt.Sprintf(", flags %#02x", l.Flags)
	}
	return text
}

// Deadlocks are what the detectors have declared.
func Deadlocks() View[Declared] {
	names := switchPorts{}
	return View[Declared]{
		Fetch: fetchDeadlocks,
		Merge: true, Empty: "No deadlock has been declared.",
		Prepare: func(all []Declared) {
			for _, d := range all {
				names.add(d.setup)
			}
		},
		Tables: func(d Declared) []table {
			t := table{header: []string{"Declared at", "Queue", "Priority group", "Trigger", "On loop", "State", "Label"}, left: 7}
			for _, f := range d.Findings {
				t.add(clock(f.At), place(f.Queue), place(f.Bucket), names.of(f.Trigger), yesNo(f.OnLoop), lasting(f), names.label(f.Label))
			}
			return []table{t}
		},
	}
}

// Labels are those that pause frames carry now, in and out.
func Labels() View[labelled] {
	names := switchPorts{}
	return View[labelled]{
		Fetch: fetchLabels,
		Merge: true, Empty: "No queue is paused and no priority group is XOFF.",
		Prepare: func(all []labelled) {
			for _, l := range all {
				names.add(l.setup)
			}
		},
		Tables: func(l labelled) []table {
			t := table{header: []string{"Port", "Priority", "Paused", "Label in", "XOFF", "Label out"}, left: 6}
			for _, l := range l.labels {
				t.add(l.Port, strconv.Itoa(l.Class), yesNo(l.Paused), names.label(l.In), yesNo(l.XOFF), names.label(l.Out))
			}
			return []table{t}
		},
	}
}
