// Package lldp is one end of a link that speaks the Link Layer Discovery Protocol (IEEE 802.1AB),
// with DCBX (IEEE 802.1Q, clause 38): it tells the far end who it is, which priorities are
// lossless here and how they share the link, learns the same of the far end, and compares.
//
//	machine --Up, Due--> Agent --Append--> frame ~~~ link ~~~> Receive --> neighbours
//	        <--------- Changes: a neighbour came or is gone, the ends disagree or agree again
//
// Read in this order: Config and Agent (this file), neighbour.go (what is kept of the far end),
// dcbx.go (what is compared, and how), frame.go and tlv.go (octets).
//
// Invariants:
//   - no clock: now comes in, and Next says when there is something to do;
//   - bounded: at most NeighboursMax neighbours, at most a frame a second in the long run, and no
//     more than a few a second are read;
//   - no frame from the wire panics: what is malformed is an error, and changes nothing.
//
// This end is never willing: it changes nothing by what the far end says. It says only what IEEE
// 802.1Q has of DCBX, and nothing of the versions before it (CIN, CEE).
package lldp

import "softswitch/unit"

// Times and numbers of IEEE 802.1AB, 9.2.5.
const (
	holdMultiplier = 4               // msgTxHold: a neighbour lasts for as many intervals
	fastInterval   = 1 * unit.Second // msgFastTx
	fastFrames     = 4               // txFastInit: to a new neighbour
	creditMax      = 5               // txCreditMax: frames that may follow one another
)

// DefaultInterval is how often a frame is sent, IntervalMin and IntervalMax the limits of that
// (msgTxInterval).
const (
	DefaultInterval = 30 * unit.Second
	IntervalMin     = 1 * unit.Second
	IntervalMax     = 3600 * unit.Second
)

// What one end reads at most. Chosen: ten times what a far end sends while it is new, and several
// of them behind a hub.
const (
	readInterval = 100 * unit.Millisecond
	readBurst    = 16
)

// Config is what an end says of itself.
type Config struct {
	Interval unit.Time // from IntervalMin to IntervalMax
	System   string    // the node's name
	Port     string    // the interface's name
	// Chassis names the node, by the address of its first port; MAC is that of this port.
	Chassis, MAC unit.MAC
	Capabilities Capabilities
	DCBX         DCBX
}

// Counters are what an end has counted since it was made.
type Counters struct {
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"` // that were read
	// Aged are the neighbours that were forgotten because nothing came of them any more.
	Aged uint64 `json:"aged,omitempty"`
}

// What says what changed.
type What uint8

// Changes of what an end knows.
const (
	Learned  What = iota + 1 // a neighbour is new
	Gone                     // a neighbour has said goodbye, has aged, or went with the link
	Disagree                 // of a Feature the two ends say different things
	Agree                    // they no longer do
)

// Change is one of them.
type Change struct {
	What    What
	Feature Feature // of Disagree and Agree
	// Own and Peer are the priorities here and there, if Feature is OfPriorities.
	Own, Peer unit.PrioritySet
}

// Agent is one end of a link. New makes one.
type Agent struct {
	cfg    Config
	up     bool
	sendAt unit.Time // when the next frame is due
	fast   int       // frames that are still to be sent at fastInterval
	spent  unit.Time // a frame may be sent a burst before this
	read   unit.Time // as spent, of frames that come in

	neighbours []Neighbour
	differ     Features
	disagreed  [features]Disagreement
	changes    []Change
	count      Counters
}

// New makes an end whose link is down.
func New(c Config) *Agent { return &Agent{cfg: c} }

// Config is what the end says of itself.
func (a *Agent) Config() *Config { return &a.cfg }

// SetMAC sets the addresses if the configuration leaves them to the interfaces.
func (a *Agent) SetMAC(chassis, port unit.MAC) { a.cfg.Chassis, a.cfg.MAC = chassis, port }

// Counters are what the end has counted, to read between calls.
func (a *Agent) Counters() Counters { return a.count }

// Up says that the link is up from now on: a frame is due.
func (a *Agent) Up(now unit.Time) { a.up, a.sendAt, a.fast = true, now, 0 }

// Down says that the link is down. Who is at its other end when it comes back is not known.
func (a *Agent) Down() {
	a.up = false
	for range a.neighbours {
		a.change(Change{What: Gone})
	}
	a.neighbours = a.neighbours[:0]
	a.compare()
}

// Due reports whether a frame is to be sent now.
func (a *Agent) Due(now unit.Time) bool { return a.up && a.due() <= now }

// due is when the next frame is to be sent: not before there is credit for it.
func (a *Agent) due() unit.Time { return max(a.sendAt, a.spent-(creditMax-1)*fastInterval) }

// Next is when Tick has something to do or a frame is due, unit.Never if neither will be.
func (a *Agent) Next() unit.Time {
	next := unit.Never
	if a.up {
		next = a.due()
	}
	for i := range a.neighbours {
		next = min(next, a.neighbours[i].Until)
	}
	return next
}

// Tick forgets the neighbours of which nothing came for as long as they said.
func (a *Agent) Tick(now unit.Time) {
	kept := a.neighbours[:0]
	for _, n := range a.neighbours {
		if n.Until > now {
			kept = append(kept, n)
			continue
		}
		a.count.Aged++
		a.change(Change{What: Gone})
	}
	if len(kept) < len(a.neighbours) {
		a.neighbours = kept
		a.compare()
	}
}

// Append appends the frame that leaves now to dst, which has nothing of it yet, without its FCS.
func (a *Agent) Append(now unit.Time, dst []byte) []byte {
	a.count.Sent++
	a.spent = max(a.spent, now) + fastInterval
	a.sendAt = now + a.cfg.Interval
	if a.fast > 0 {
		if a.fast--; a.fast > 0 {
			a.sendAt = now + fastInterval
		}
	}
	return a.cfg.appendFrame(dst)
}

// Goodbye is the frame by which the far end forgets this end at once, nil if the link is down: the three
// TLVs that have to be there, with a time to live of 0 (802.1AB, mibConstrShutdownLLDPDU). It changes nothing,
// and is for an end that is about to stop.
func (a *Agent) Goodbye() []byte {
	if !a.up {
		return nil
	}
	return a.cfg.appendGoodbye(nil)
}

// ttl is for how many seconds the far end is to believe a frame (802.1AB, 9.2.5.22).
func (c *Config) ttl() uint16 {
	return uint16(min(c.Interval/unit.Second*holdMultiplier+1, 1<<16-1))
}

// Changes calls f with what changed since the last call, in order.
func (a *Agent) Changes(f func(Change)) {
	for _, c := range a.changes {
		f(c)
	}
	a.changes = a.changes[:0]
}

func (a *Agent) change(c Change) { a.changes = append(a.changes, c) }
