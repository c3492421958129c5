// Package testlink has links that misbehave, for tests.
package linktest

import "softswitch/link"

// Asleep is a link whose Stats says on Asked that it was called, and returns once Wake is
// closed. Asked has room for one.
type Asleep struct {
	link.Link
	Asked, Wake chan struct{}
}

// Stats implements link.Link.
func (a *Asleep) Stats() link.Stats {
	select {
	case a.Asked <- struct{}{}:
	default:
	}
	<-a.Wake
	return a.Link.Stats()
}
