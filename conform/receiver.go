package conform

import "softswitch/unit"

// bitTime is the unit of a receiver's fill: a byte is 8 bits x the ns of a second, so that a rate in bit/s
// times a time in ns is one.
const bitTime = 8 * int64(unit.Second)

// rate is what the receiver takes now.
func (r *taker) rate(at unit.Time) (rate unit.Rate) {
	if at >= r.Stop {
		return LineRate
	}
	for _, s := range r.Rates {
		if s.From <= at {
			rate = s.Rate
		}
	}
	return rate
}

// drain takes what the receiver took up to a time of the script.
func (r *taker) drain(to unit.Time) {
	for r.at < to {
		until := to
		if r.Stop > r.at {
			until = min(until, r.Stop)
		}
		for _, s := range r.Rates {
			if s.From > r.at {
				until = min(until, s.From)
			}
		}
		switch rate := r.rate(r.at); {
		case rate == LineRate:
			r.fill = 0
		case rate > 0 && int64(until-r.at) >= r.fill/int64(rate):
			r.fill = 0
		default:
			r.fill -= int64(rate) * int64(until-r.at)
		}
		r.at = until
	}
}

// take gives the receivers of a port a frame.
func (t *Tester) take(now unit.Time, p int, c unit.Priority, n int) {
	at := now - t.began
	for i := range t.receivers {
		r := &t.receivers[i]
		if r.Port != p || r.priority != c || at < r.Start {
			continue
		}
		if r.drain(at); r.rate(at) != LineRate {
			r.fill += int64(n) * bitTime
		}
	}
}

// wants is what a receiver has to say now: whether it pauses or resumes.
func (r *taker) wants(at unit.Time) (says, pauses bool) {
	if at < r.Start {
		return false, false
	}
	r.drain(at)
	switch {
	case at >= r.Stop:
		return r.told, false
	case !r.told && r.fill > int64(r.XOFF)*bitTime:
		return true, true
	case r.told && r.fill <= int64(r.XON)*bitTime:
		return true, false
	case r.told && at >= r.due:
		return true, true
	}
	return false, false
}

// settle reports whether a receiver at port p has something to say.
func (t *Tester) settle(now unit.Time, p int) bool {
	for i := range t.receivers {
		if r := &t.receivers[i]; r.Port == p {
			if says, _ := r.wants(now - t.began); says {
				return true
			}
		}
	}
	return false
}

// nextOfReceivers is the pause or resume of a receiver at port p that is due.
func (t *Tester) nextOfReceivers(now unit.Time, p int) (frame []byte, what flown) {
	at := now - t.began
	for i := range t.receivers {
		r := &t.receivers[i]
		if r.Port != p {
			continue
		}
		says, pauses := r.wants(at)
		if !says {
			continue
		}
		quanta := uint16(0)
		if r.told = pauses; pauses {
			quanta, r.due = r.Quanta, at+r.Every
		}
		frame = t.task.Frame(Pause(1<<r.priority, quanta), p)
		putMark(frame, t.number, 0x8000|uint16(r.index), uint32(len(t.rec.Receivers[r.index].Left)))
		return frame, flown{kind: flownReceiver, index: r.index, quanta: quanta, priority: r.priority}
	}
	return nil, what
}

// wakeOf is when a receiver has something to say next.
func (t *Tester) wakeOf(now unit.Time, r *taker) unit.Time {
	at := now - t.began
	if at < r.Start || !r.told {
		return unit.Never // it speaks when something comes
	}
	next := min(r.due, r.Stop)
	for _, s := range r.Rates {
		if s.From > at {
			next = min(next, s.From)
		}
	}
	if rate := r.rate(at); rate > 0 {
		next = min(next, at+unit.Time((r.fill-int64(r.XON)*bitTime)/int64(rate))+1)
	}
	return t.began + next
}
