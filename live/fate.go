package live

import (
	"sync"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/unit"
)

// Freeze holds the node until Thaw, as SIGSTOP holds a process: it receives, sends and
// answers nothing, while its interfaces stay up and its receive rings fill.
func (n *Node) Freeze() {
	n.leave(true)
	n.mu.Lock()
}

// Thaw makes a frozen node go on.
func (n *Node) Thaw() {
	n.mu.Unlock()
	n.leave(false)
}

// leave has the poller leave the node alone, or not any more: it must never wait for n.mu.
func (n *Node) leave(alone bool) {
	if l := n.opt.Poller; l != nil {
		l.mu.Lock()
		n.frozen = alone
		l.mu.Unlock()
	}
}

// Crash ends a frozen node as SIGKILL ends a process, where the process is not to end:
// its links are closed when Crash returns, nothing that it held leaves, and events that
// were not passed to Log are lost. The context of Run has to end then.
func (n *Node) Crash() {
	n.machine, n.stamped, n.pending = corpse{n.machine.Ports()}, nil, nil
	n.mu.Unlock()
	var closing sync.WaitGroup // the kernel takes milliseconds for each
	for _, p := range n.ports {
		closing.Go(func() {
			p.change.Lock() // a link that is being opened is known to the poller by then
			defer p.change.Unlock()
			if l := p.current(); l != nil {
				if p.opt.Polled {
					p.node.opt.Poller.drop(p)
				}
				l.Close()
			}
		})
	}
	closing.Wait()
}

// corpse is the machine of a crashed node: what still calls it gets nothing.
type corpse struct{ ports int }

func (c corpse) Ports() int                                        { return c.ports }
func (corpse) Portion(_ unit.Port, fs []*buffer.Frame) int         { return len(fs) }
func (corpse) Receive(unit.Time, unit.Port, []*buffer.Frame)       {}
func (corpse) Sent(unit.Time, unit.Port, []*buffer.Frame)          {}
func (corpse) SetLink(unit.Time, unit.Port, bool)                  {}
func (corpse) SetMAC(unit.Port, unit.MAC)                          {}
func (corpse) Work(ev []event.Event) (unit.PortSet, []event.Event) { return unit.PortSet{}, ev }
func (corpse) Urgent() unit.PortSet                                { return unit.PortSet{} }
func (corpse) Parse(*buffer.Frame)                                 {}

func (corpse) Transmit(unit.Time, unit.Port, []*buffer.Frame) (int, unit.Time) {
	return 0, unit.Never
}

func (corpse) Lend(_ unit.Port, dst []*buffer.Frame) {
	for i, f := range dst {
		if f == nil {
			dst[i] = new(buffer.Frame)
		}
	}
}

var _ Machine = corpse{}
