package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"softswitch/internal/control"
	"softswitch/internal/ether"
	"softswitch/live"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// portOf is the interface of a port of a node, with its wire.
func portOf(c config.Port, mtu int) (p live.Port, err error) {
	p = live.Port{Name: c.Name, KeepMAC: c.MAC != 0, FacesHost: c.Peer == "host", MTU: mtu}
	if w := c.Wire; w != nil {
		p.Seed, p.Stream = uint64(w.Seed), uint64(w.Stream)
		p.Wire, err = w.Build()
	}
	return p, err
}

// wireRequests are those that every node answers about its wires.
var wireRequests = map[string]func(*live.Node, unit.Port, config.WireRequest) (any, error){
	"impair": func(n *live.Node, p unit.Port, a config.WireRequest) (any, error) {
		f, err := a.Wire.Build()
		if err == nil {
			n.Impair(p, f)
		}
		return nil, err
	},
	"lose": func(n *live.Node, p unit.Port, a config.WireRequest) (any, error) {
		if a.Nth < 1 {
			return nil, fmt.Errorf("nth: %d; valid: 1 or more", a.Nth)
		}
		n.Lose(p, a.Nth)
		return nil, nil
	},
	"forge": func(n *live.Node, p unit.Port, a config.WireRequest) (any, error) {
		if len(a.Frame) < ether.HeaderLen {
			return nil, fmt.Errorf("frame: %d bytes; valid: %d or more", len(a.Frame), ether.HeaderLen)
		}
		n.Forge(p, a.Frame)
		return nil, nil
	},
	"tape": func(n *live.Node, p unit.Port, _ config.WireRequest) (any, error) {
		n.Tape(p)
		return nil, nil
	},
	"taped": func(n *live.Node, p unit.Port, a config.WireRequest) (any, error) {
		return n.Taped(p, a.Nth, a.Flip), nil
	},
}

// unknown is the error of a request that a node has not, beside what every node has.
func unknown(do string, own ...string) error {
	names := slices.AppendSeq(append(own, "capture", "wires"), maps.Keys(wireRequests))
	slices.Sort(names)
	return control.Unknown(do, names...)
}

// wireRequest answers a request about the wire from a port, or the state of all; ok is
// false if it is about something else.
func (r *runner) wireRequest(n *live.Node, req control.Request) (out any, ok bool, err error) {
	if req.Do == "wires" {
		all := []observe.PortWire{}
		for i, p := range r.ports {
			all = append(all, observe.PortWire{Port: p.Name, State: n.Wire(unit.Port(i))})
		}
		return all, true, nil
	}
	do := wireRequests[req.Do]
	if do == nil {
		return nil, false, nil
	}
	var a config.WireRequest
	if err := readArguments(json.RawMessage(req.Args), &a); err != nil {
		return nil, true, err
	}
	names := r.node().Ports
	i := slices.Index(names, a.Port)
	if i < 0 {
		return nil, true, fmt.Errorf("%s: no port %q; there is: %s", req.Do, a.Port, strings.Join(names, ", "))
	}
	if out, err = do(n, unit.Port(i), a); err != nil {
		return nil, true, fmt.Errorf("%s: %w", req.Do, err)
	}
	return out, true, nil
}

// impaired are the ports whose wires were changed by request.
func impaired(n *live.Node, ports []live.Port) (names []string) {
	for i, p := range ports {
		if n.Wire(unit.Port(i)).Changed {
			names = append(names, p.Name)
		}
	}
	return names
}
