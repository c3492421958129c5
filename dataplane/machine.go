package dataplane

import (
	"softswitch/buffer"
	"softswitch/event"
	"softswitch/unit"
)

// Machine is a network element (switch or host) as a pure state machine. It starts
// no goroutine, takes no lock, makes no system call and reads no clock. Calls must
// not overlap, and now never decreases.
//
// The driver's duties, per port: read frames into slots from Lend and pass them to
// Receive; ask Transmit for frames when the port is in Work's ready set or at the
// time that Transmit named; pass what left to Sent.
//
// Times are nanoseconds of one clock, live or virtual. The holder of a frame owns it: Lend
// and Transmit pass it to the driver, Receive and Sent back.
type Machine interface {
	// Ports is the number of ports.
	Ports() int
	// Lend replaces every nil in dst by an empty slot to read into; it always can.
	Lend(in unit.Port, dst []*buffer.Frame)
	// Portion is how many of the frames that arrived at in, parsed and at least one, the driver
	// may pass to Receive now. Before it passes more it has to transmit what has become ready:
	// more at once could pause the far end, or overrun the headroom, without congestion.
	Portion(in unit.Port, fs []*buffer.Frame) int
	// Receive takes the frames fs that arrived at in, with Data and Len filled in and
	// parsed, and owns them.
	Receive(now unit.Time, in unit.Port, fs []*buffer.Frame)
	// Transmit lends up to len(fs) frames that leave through out now, in this order,
	// and names the time at which to ask again even if the port is not ready before.
	Transmit(now unit.Time, out unit.Port, fs []*buffer.Frame) (n int, next unit.Time)
	// Sent takes back frames of Transmit: they left, or the wire lost them.
	Sent(now unit.Time, out unit.Port, fs []*buffer.Frame)
	// SetLink tells whether p's link is up.
	SetLink(now unit.Time, p unit.Port, up bool)
	// Work returns and clears the set of ports that have something to send, and
	// appends to ev and clears the events since the last call.
	Work(ev []event.Event) (ready unit.PortSet, _ []event.Event)
	// Urgent is the set of ports that have a pause or a message to send: what is ready
	// leaves through these first.
	Urgent() unit.PortSet
	// Parse fills in f.Info from f.Data. f is of Lend, or its In is the port by which it came. Parse
	// reads nothing but the frame and the configuration,
	// and changes nothing but the frame, so a driver may call it without the exclusion that the
	// other calls need. It may pad f.Data.
	Parse(f *buffer.Frame)
}
