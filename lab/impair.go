package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"softswitch/internal/control"
	"softswitch/internal/lists"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/config"
	"softswitch/node/observe"
)

// WireState is one direction of a link of a lab.
type WireState struct {
	From string `json:"from"` // node
	To   string `json:"to"`
	Port string `json:"port"` // of From
	config.Wire
	Lost       uint64 `json:"lost"`
	Duplicated uint64 `json:"duplicated"`
	Overtaken  uint64 `json:"overtaken"`
	Held       int64  `json:"held"` // frames on their way
}

// WireStates are wires of a lab.
type WireStates []WireState

// WriteText writes a line for each wire that does, or has done, anything to frames.
func (all WireStates) WriteText(out io.Writer) error {
	all = lists.Where(all, func(w WireState) bool { return w.Wire != (config.Wire{}) || w.Lost+w.Duplicated+w.Overtaken > 0 })
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "no link is impaired")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "from\tto\tdelay\tjitter\tcontrol loss\tloss\tduplicate\treorder\tlost\ttwice\tovertaken\ton the way")
	for _, w := range all {
		fmt.Fprintf(t, "%s:%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\n", w.From, w.Port, w.To,
			cmp.Or(w.Delay, "-"), cmp.Or(w.Jitter, "-"), cmp.Or(w.ControlLoss, "-"), cmp.Or(w.Loss, "-"), cmp.Or(w.Duplicate, "-"), cmp.Or(w.Reorder, "-"),
			w.Lost, w.Duplicated, w.Overtaken, w.Held)
	}
	return t.Flush()
}

// Wires are the wires of a lab, each direction of a link, in the order of the links. Nodes
// that do not answer are in the error; the others' wires are returned all the same.
func Wires(ctx context.Context, st *netnslab.State) (all WireStates, err error) {
	nodes, err := Pick(st, nil, "")
	if err != nil {
		return nil, err
	}
	all = WireStates{}
	byNode, err := control.AskByName(ctx, Endpoints(nodes), client.Wires)
	for _, l := range st.Links {
		for _, e := range [][2]netnslab.End{{l.A, l.B}, {l.B, l.A}} {
			wires := byNode[e[0].Node]
			if i := slices.IndexFunc(wires, func(w observe.PortWire) bool { return w.Port == e[0].Iface }); i >= 0 {
				w := wires[i]
				all = append(all, WireState{
					From: e[0].Node, To: e[1].Node, Port: w.Port, Wire: config.WireOf(w.Faults),
					Lost: w.Lost, Duplicated: w.Duplicated, Overtaken: w.Overtaken, Held: w.Held,
				})
			}
		}
	}
	return all, err
}
