package dataplane

import (
	"softswitch/buffer"
	"softswitch/unit"
)

// Sent takes back frames that Transmit lent: they left, or the wire lost them.
// Their bytes are released, and a priority group that falls to its XON threshold makes
// its port send a resume. Until then the bytes are charged although M(b, q) is without them
// (popped). The port does not matter: a frame is charged where it came in.
func (s *Switch) Sent(now unit.Time, _ unit.Port, fs []*buffer.Frame) {
	s.now = now
	for _, f := range fs {
		s.free(f)
	}
}
