package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/internal/control"
	"softswitch/view/observe"
)

// declared is what a switch's detector has declared, and what the switch is called.
type declared struct {
	observe.Deadlocks
	setup observe.Setup
}

func fetchDeadlocks(e control.Endpoint) (d declared, err error) {
	if d.setup, err = control.Get[observe.Setup](e, "setup", nil); err != nil {
		return d, err
	}
	d.Deadlocks, err = control.Get[observe.Deadlocks](e, "deadlocks", nil)
	return d, err
}

func (s *shower) deadlock() *cobra.Command {
	var check bool
	names := switchPorts{}
	c := command(s, view[declared]{
		use: "deadlock", short: "Deadlocks that the detectors have declared",
		long: `Deadlocks that the detectors have declared: where (the egress queue that is
paused and the ingress priority group that waits for it), with which label, and the
initial trigger if the detector tells it. A deadlock lasts until that queue or group
goes on.

With --check-deadlock the exit status is 1 if one lasts, else 0.`,
		fetch: fetchDeadlocks,
		merge: true, empty: "No deadlock has been declared.",
		prepare: func(all []declared) {
			for _, d := range all {
				names.add(d.setup)
			}
		},
		tables: func(d declared) []table {
			t := table{header: []string{"Declared at", "Queue", "Priority group", "Trigger", "On loop", "State", "Label"}, left: 7}
			for _, f := range d.Findings {
				t.add(clock(f.At), place(f.Queue), place(f.Bucket), names.of(f.Trigger), yesNo(f.OnLoop), lasting(f), names.label(f.Label))
			}
			return []table{t}
		},
		check: func(all []declared) error {
			if !check {
				return nil
			}
			return checkDeadlocks(all)
		},
	})
	c.Flags().BoolVar(&check, "check-deadlock", false, "exit with 1 if a deadlock lasts")
	return c
}

// checkDeadlocks is errUnmet if a deadlock lasts. It warns if nobody looks for any.
func checkDeadlocks(all []declared) error {
	blind := 0
	for _, d := range all {
		if d.setup.Detector == "none" {
			blind++
		}
		for _, f := range d.Findings {
			if f.Over == 0 {
				return errUnmet
			}
		}
	}
	if blind > 0 {
		fmt.Fprintf(os.Stderr, "warning: %d of %d switches have no detector: what is not looked for is not found\n", blind, len(all))
	}
	return nil
}

func place(p observe.Place) string { return p.Port + ":" + strconv.Itoa(p.Class) }

func lasting(f observe.Finding) string {
	if f.Over == 0 {
		return "lasts"
	}
	return "over after " + milliseconds(f.Over-f.At) + " ms"
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

func (s *shower) itsy() *cobra.Command {
	names := switchPorts{}
	labels := command(s, view[labelled]{
		use: "labels", short: "Labels that pause frames carry now, in and out",
		long: `The label of the latest pause frame of every queue that is paused (in) and of
every priority group that is XOFF (out). A label that comes back to the switch that
made it has gone round a loop.`,
		fetch: fetchLabels,
		merge: true, empty: "No queue is paused and no priority group is XOFF.",
		prepare: func(all []labelled) {
			for _, l := range all {
				names.add(l.setup)
			}
		},
		tables: func(l labelled) []table {
			t := table{header: []string{"Port", "Priority", "Paused", "Label in", "XOFF", "Label out"}, left: 6}
			for _, l := range l.labels {
				t.add(l.Port, strconv.Itoa(l.Class), yesNo(l.Paused), names.label(l.In), yesNo(l.XOFF), names.label(l.Out))
			}
			return []table{t}
		},
	})
	return below("itsy", "The deadlock detector", labels)
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
