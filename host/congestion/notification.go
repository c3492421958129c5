package congestion

import "softswitch/unit"

// Notification is a flow's notification point: when a receiver sends CNPs. The zero value
// is a flow of which no marked frame has come.
type Notification struct {
	since unit.Time // the last CNP
	sent  bool
}

// Marked takes note of a frame that came with Congestion Experienced. It reports whether to
// send a CNP: if there was none within the interval before (Zhu et al., figure 6).
func (n *Notification) Marked(now, interval unit.Time) (send bool) {
	if n.sent && now-n.since < interval {
		return false
	}
	n.since, n.sent = now, true
	return true
}
