package model

import (
	"fmt"

	"softswitch/unit"
)

// Fabric is a few switches, numbered from 1, and the ways of frames through them. A port
// that no link has leads to a host.
type Fabric struct {
	Name     string
	Switches int
	Pool     int // a priority group resumes only when empty while others of its switch keep this many units; 0: they do not matter
	Links    []Link
	Turns    []Turn
}

// Link carries frames from From to To, and pauses and messages both ways.
type Link struct{ From, To unit.NodePort }

// Turn is a way of frames through a switch: in by In, out by one of Outs, or, if there are
// several, by all of them, as a flooded frame.
type Turn struct {
	At   unit.NodeID
	In   unit.Port
	Outs unit.PortSet
}

// Most of what a fabric may have.
const (
	maxSwitches = 6
	maxPorts    = 6 // of a switch
	maxLinks    = 12
)

// Ports of a switch of a ring, as in package detecttest.
const (
	In   unit.Port = iota // from the switch before it
	Out                   // to the one after it
	Host                  // to its host
	In2                   // further ports, if it has them
	Out2
)

// Ring is n switches in a ring. Frames stay on it or leave to a host.
func Ring(n int) Fabric {
	f := Fabric{Name: fmt.Sprintf("ring of %d", n)}
	for k := 1; k <= n; k++ {
		f.ringSwitch()
		f.link(k, Out, k%n+1, In)
	}
	return f
}

// Eight is two rings, of m and n switches, that share switch 1: frames go on round their
// ring or change to the other.
func Eight(m, n int) Fabric {
	f := Fabric{Name: fmt.Sprintf("eight of %d and %d", m, n), Switches: 1}
	f.turn(1, In, Out)
	f.turn(1, In, Out2)
	f.turn(1, In2, Out)
	f.turn(1, In2, Out2)
	for _, ring := range [...]struct {
		size    int
		out, in unit.Port
	}{{m, Out, In}, {n, Out2, In2}} {
		last, out := 1, ring.out
		for range ring.size - 1 {
			k := f.ringSwitch()
			f.link(last, out, k, In)
			last, out = k, Out
		}
		f.link(last, out, 1, ring.in)
	}
	return f
}

// Branch is a ring of n switches with one more behind switch 1, out of the ring: it waits for
// its host, and who waits for it hangs on the ring as well.
func Branch(n int) Fabric {
	f := Ring(n)
	f.Name += " with a branch"
	f.Switches++
	f.link(1, Out2, f.Switches, In)
	f.turn(1, In, Out2)
	f.turn(f.Switches, In, Host)
	return f
}

// Victim is a ring of n switches with a chain of two before switch 1: what comes from
// there waits for the ring, and nothing on the ring waits for it.
func Victim(n int) Fabric {
	f := Ring(n)
	f.Name += " with a victim"
	f.Switches += 2
	f.link(n+1, Out, n+2, In)
	f.turn(n+2, In, Out)
	f.link(n+2, Out, 1, In2)
	f.turn(1, In2, Out)
	return f
}

// Shortcut is a ring of n switches with a link from switch 1 to switch 3 as well: the bytes
// of a priority group may wait in two queues of the ring, neither of which alone holds it.
func Shortcut(n int) Fabric {
	f := Ring(n)
	f.Name += " with a shortcut"
	f.link(1, Out2, 3, In2)
	f.turn(1, In, Out2)
	f.turn(3, In2, Out)
	return f
}

// Flooded is a shortcut of which frames take both ways at once.
func Flooded(n int) Fabric {
	f := Shortcut(n)
	f.Name = fmt.Sprintf("ring of %d with flooding", n)
	f.Turns = append(f.Turns, Turn{1, In, unit.PortsOf(1, 4)})
	return f
}

// Pooled is f with priority groups that share a pool.
func (f Fabric) Pooled(units int) Fabric {
	f.Name += fmt.Sprintf(" with a pool of %d", units)
	f.Pool = units
	return f
}

// xon is the units at which a priority group resumes whose switch keeps others units of other priority
// groups.
func (f *Fabric) xon(others int) int {
	if f.Pool > 0 && others >= f.Pool {
		return 0
	}
	return xon
}

// ringSwitch adds a switch of a ring and returns its number.
func (f *Fabric) ringSwitch() int {
	f.Switches++
	f.turn(f.Switches, In, Out)
	f.turn(f.Switches, In, Host)
	return f.Switches
}

func (f *Fabric) turn(k int, in, out unit.Port) {
	f.Turns = append(f.Turns, Turn{unit.NodeID(k), in, out.Set()})
}

func (f *Fabric) link(k int, out unit.Port, l int, in unit.Port) {
	f.Links = append(f.Links, Link{unit.NodePort{Node: unit.NodeID(k), Port: out}, unit.NodePort{Node: unit.NodeID(l), Port: in}})
}
