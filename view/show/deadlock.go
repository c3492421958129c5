package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/detect"
	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/node/client"
	"softswitch/node/observe"
)

// Declared is what a switch's detector has declared, and the switch's name.
type Declared struct {
	observe.Deadlocks
	setup observe.Setup
	names switchPorts // of all switches that answered
}

func fetchDeadlocks(e control.Endpoint) (d Declared, err error) {
	if d.setup, err = client.Setup(e); err == nil {
		d.Deadlocks, err = client.Deadlocks(e)
	}
	return d, err
}

// finding is an observe.Finding for programs: with times by the wall clock, null for
// none, and ports by name.
type finding struct {
	At *string `json:"at"` // RFC 3339
	observe.Finding
	Trigger *port   `json:"initial_trigger"` // null if unknown
	Label   *label  `json:"label"`           // null if the detector has no labels
	Lasts   bool    `json:"lasts"`
	Over    *string `json:"over"` // RFC 3339, null while it lasts
	Causes  []cause `json:"causes"`
}

// cause is an observe.Cause with names.
type cause struct {
	observe.Cause
	At *port `json:"at"`
	In *port `json:"in"` // null if it is no turn
}

// action is an observe.Action for programs, with the time by the wall clock too.
type action struct {
	Since *string `json:"since"` // RFC 3339
	observe.Action
}

// port is a port in a label, "switch.port" by numbers, with its names if its switch
// answered.
type port struct {
	Number string `json:"number"`
	Switch string `json:"switch,omitempty"`
	Port   string `json:"port,omitempty"`
}

// label is an observe.Label with names.
type label struct {
	observe.Label
	Initiator *port `json:"initiator"`
	Trigger   *port `json:"trigger,omitempty"`
}

// MarshalJSON encodes d with names and times.
func (d Declared) MarshalJSON() ([]byte, error) {
	out := struct {
		Detector string    `json:"detector"`
		Declared uint64    `json:"declared"`
		Findings []finding `json:"findings"`
		Actions  []action  `json:"actions"`
	}{d.setup.Detector, d.Deadlocks.Declared, []finding{}, []action{}}
	for _, f := range d.Findings {
		causes := lists.Map(f.Causes, func(c observe.Cause) cause { return cause{c, d.names.port(c.At), d.names.port(c.In)} })
		out.Findings = append(out.Findings, finding{
			At: rfc3339(f.At), Finding: f, Trigger: d.names.port(f.Trigger), Label: d.names.jsonLabel(f.Label),
			Lasts: f.Over == 0, Over: rfc3339(f.Over), Causes: append([]cause{}, causes...),
		})
	}
	out.Actions = append(out.Actions, lists.Map(d.Actions, func(m observe.Action) action { return action{rfc3339(m.Since), m} })...)
	return json.Marshal(out)
}

// Lasts reports whether any declared deadlock has not ended.
func Lasts(all []Declared) bool {
	return slices.ContainsFunc(all, func(d Declared) bool {
		return slices.ContainsFunc(d.Findings, func(f observe.Finding) bool { return f.Over == 0 })
	})
}

// blind is a warning if there are switches without a detector, else "".
func blind(all []Declared) string {
	switch n := len(lists.Where(all, func(d Declared) bool { return d.setup.Detector == "none" })); n {
	case 0:
		return ""
	case len(all):
		return "No detector runs (--detector): a deadlock would not be declared."
	default:
		return fmt.Sprintf("No detector runs on %d of %d switches (--detector): a deadlock would not be declared there.", n, len(all))
	}
}

func place(p observe.Place) string { return p.Port + ":" + strconv.Itoa(p.Priority) }

func lasting(f observe.Finding) string {
	if f.Over == 0 {
		return "lasts"
	}
	return "over after " + Milliseconds(f.Over-f.At) + " ms"
}

// yesNo is how a statement that is true, or is not, is shown.
var yesNo = map[bool]string{true: "yes", false: "no"}

// labelled are a switch's labels, and the switch's name.
type labelled struct {
	labels []observe.Labels
	setup  observe.Setup
	names  switchPorts // of all switches that answered
}

// MarshalJSON encodes the labels with names.
func (l labelled) MarshalJSON() ([]byte, error) {
	type named struct {
		observe.Labels
		In  *label `json:"in"`
		Out *label `json:"out"`
	}
	out := []named{}
	for _, at := range l.labels {
		out = append(out, named{Labels: at, In: l.names.jsonLabel(at.In), Out: l.names.jsonLabel(at.Out)})
	}
	return json.Marshal(out)
}

// switchPorts maps "node.port" to ports.
type switchPorts map[string]port

// add adds the ports of a switch.
func (names switchPorts) add(of observe.Setup) {
	for i, p := range of.Ports {
		at := fmt.Sprintf("%d.%d", of.ID, i)
		names[at] = port{at, of.Name, p.Name}
	}
}

// port is the port at "node.port", nil if unknown.
func (names switchPorts) port(at string) *port {
	if at == "" {
		return nil
	}
	p, ok := names[at]
	if !ok {
		p.Number = at
	}
	return &p
}

// of is the port at "node.port" for people, "-" for no port.
func (names switchPorts) of(at string) string {
	switch p := names.port(at); {
	case p == nil:
		return "-"
	case p.Switch == "":
		return strings.Replace("node "+at, ".", " port ", 1)
	default:
		return p.Switch + " " + p.Port
	}
}

// in is the name of the port at "node.port" without its switch, "-" for no port.
func (names switchPorts) in(at string) string {
	if p := names.port(at); p != nil && p.Port != "" {
		return p.Port
	}
	return names.of(at)
}

func (names switchPorts) jsonLabel(l *observe.Label) *label {
	if l == nil {
		return nil
	}
	return &label{Label: *l, Initiator: names.port(l.Initiator), Trigger: names.port(l.Trigger)}
}

// label formats a label for people, "-" for none.
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

// Deadlocks shows what the detectors have declared.
func Deadlocks() View[Declared] {
	names := switchPorts{}
	return View[Declared]{
		Fetch: fetchDeadlocks,
		Merge: true, Empty: "No deadlock has been declared.", Note: blind,
		Prepare: func(all []Declared) {
			for i := range all {
				names.add(all[i].setup)
				all[i].names = names
			}
		},
		Tables: one(table{header: []string{"Declared at", "Queue", "Priority group", "Trigger", "On loop", "State", "Label"}, left: 7},
			func(t *table, d Declared) {
				for _, f := range d.Findings {
					t.add(clock(f.At), place(f.Queue), place(f.PG), names.of(f.Trigger), yesNo[f.OnLoop], lasting(f), names.label(f.Label))
				}
			}),
	}
}

// Causes shows why declared deadlocks formed, as the detectors diagnosed it.
func Causes() View[Declared] {
	v := Deadlocks()
	v.Empty = "No cause of a deadlock has been named."
	v.Tables = one(table{header: []string{"Declared at", "Cause", "At", "From", "On loop", "Flows", "Confidence"}, left: 6},
		func(t *table, d Declared) {
			for _, f := range d.Findings {
				for i, c := range f.Causes {
					what := fmt.Sprintf("%d: %s%s", i+1, map[bool]string{true: "and "}[c.Together], c.Type)
					t.add(clock(f.At), what, d.names.of(c.At), d.names.in(c.In), yesNo[c.OnLoop],
						cmp.Or(strings.Join(c.Flows, " "), "-"), fmt.Sprintf("%d %%", c.Confidence))
				}
			}
		})
	return v
}

// Actions shows what responses have done and not ended yet.
func Actions() View[Declared] {
	v := Deadlocks()
	v.Empty, v.Note = "No action is in effect.", nil
	v.Tables = one(table{header: []string{"Since", "Action", "Priority group", "Queue", "Flow", "Why", "Until"}, left: 7},
		func(t *table, d Declared) {
			for _, m := range d.Actions {
				t.add(clock(m.Since), amount(m), orAll(m.PG), orAll(m.Queue), cmp.Or(m.Flow, "-"), m.Why, m.Until)
			}
		})
	return v
}

// amount is an action and the number that goes with it.
func amount(m observe.Action) string {
	switch {
	case m.Bytes == 0:
		return m.Action
	case m.Action == detect.ActionPolice.String():
		return fmt.Sprintf("%s %d kbit/s", m.Action, m.Bytes)
	}
	return fmt.Sprintf("%s %d B", m.Action, m.Bytes)
}

func orAll(p *observe.Place) string {
	if p == nil {
		return "-"
	}
	return place(*p)
}

// Labels shows the labels that pause frames carry now, in and out.
func Labels() View[labelled] {
	names := switchPorts{}
	return View[labelled]{
		Fetch: func(e control.Endpoint) (l labelled, err error) {
			if l.setup, err = client.Setup(e); err == nil {
				l.labels, err = client.Labels(e)
			}
			return l, err
		},
		Merge: true, Empty: "No queue is paused and no priority group is XOFF.",
		Prepare: func(all []labelled) {
			for i := range all {
				names.add(all[i].setup)
				all[i].names = names
			}
		},
		Tables: one(table{header: []string{"Port", "Priority", "Paused", "Label in", "XOFF", "Label out"}, left: 6},
			func(t *table, l labelled) {
				for _, l := range l.labels {
					t.add(l.Port, strconv.Itoa(l.Priority), yesNo[l.Paused], names.label(l.In), yesNo[l.XOFF], names.label(l.Out))
				}
			}),
	}
}
