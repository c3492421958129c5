package link

// Asleep is a Link, for tests as Pipe is, whose Stats says on Asked that it was called, and returns
// once Wake is closed. Asked has room for one.
type Asleep struct {
	Link
	Asked, Wake chan struct{}
}

// Stats implements Link.
func (a *Asleep) Stats() Stats {
	select {
	case a.Asked <- struct{}{}:
	default:
	}
	<-a.Wake
	return a.Link.Stats()
}
