package watchdog

import (
	"fmt"
	"slices"
	"unsafe"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Watchdog watches the lossless queues of one switch. Of all that the switch tells
// it listens to the beginnings and ends of pauses only; everything else it looks up at a poll.
type Watchdog struct {
	detect.None
	cfg    Config // scaled to the switch
	view   detect.View
	act    detect.Actions
	phase  unit.Time // polls are at phase + n x Poll
	last   unit.Time // the latest poll
	next   unit.Time
	queues perQueue[queue]
	idle   bool // looks at no queue
	bigRed bool // drops in all queues
}

// perQueue is what is known of each queue, by priority and port; nil for a lossy priority.
type perQueue[T any] [unit.Priorities][]T

// newPerQueue has first for each lossless queue.
func newPerQueue[T any](v detect.View, first T) (all perQueue[T]) {
	for set := v.Lossless(); set != 0; set &= set - 1 {
		all[set.First()] = slices.Repeat([]T{first}, v.Ports())
	}
	return all
}

func (all *perQueue[T]) of(q detect.Queue) *T { return &all[q.Priority][q.Port] }

func (all *perQueue[T]) size() (n int) {
	var one T
	for _, of := range all {
		n += len(of) * int(unsafe.Sizeof(one))
	}
	return n
}

// queue is what is known of one queue.
type queue struct {
	resumes uint64    // pauses of it that ended
	since   unit.Time // when the pause that lasts began, as far as it is known; unit.Never if none lasts
	lasted  unit.Time // how long all that ended had lasted
	was     sample    // at the latest poll, unless a storm lasts
	left    unit.Time // of the detection time or, while a storm lasts, of the restoration time
	pauses  uint64    // while a storm lasts: pause frames that had come by the latest poll
	mark    detect.Frames
	stats   Stats
	red     bool // of the big red switch
}

// sample is a queue at a poll.
type sample struct {
	taken   bool // false before the first poll
	paused  bool
	resumes uint64
	bytes   int
	sent    uint64
	pauses  uint64    // pause frames that had come
	lasted  unit.Time // how long the queue had been paused
}

// stalled reports whether not a byte left the queue from the sample old to s, while
// some wait and a pause is active.
func (s sample) stalled(old sample) bool {
	return s.paused && s.bytes > 0 && s.sent == old.sent
}

// agrees reports whether the queue was stalled from the sample old to s, and paused
// without an end.
func (s sample) agrees(old sample) bool {
	return s.stalled(old) && old.paused && s.resumes == old.resumes
}

// newWatchdog allocates all its state and nothing later. It panics if the switch has
// more ports than unit.MaxPorts, or none.
func newWatchdog(c Config, v detect.View, a detect.Actions) *Watchdog {
	ports := v.Ports()
	if ports < 1 || ports > unit.MaxPorts {
		panic(fmt.Sprintf("watchdog: switch %d with %d ports: want 1 to %d", v.Self(), ports, unit.MaxPorts))
	}
	w := &Watchdog{cfg: c.scaled(ports), view: v, act: a}
	w.phase = phase(v.Self(), w.cfg.Poll)
	w.next = w.phase
	w.queues = newPerQueue(v, queue{left: w.cfg.Detection, since: unit.Never})
	return w
}

// phase is when a switch polls first: multiples of the golden ratio, which lie about
// evenly in [0, poll) for any set of consecutive numbers.
func phase(id unit.NodeID, poll unit.Time) unit.Time {
	const golden = 40503 // 2^16 x 0.618
	return poll * unit.Time(uint16(id)*golden) >> 16
}

// Name is the name of the action's watchdog, whatever its times.
func (w *Watchdog) Name() string { return w.cfg.name() }

// Config is the configuration that the watchdog uses, scaled to its switch.
func (w *Watchdog) Config() Config { return w.cfg }

// Release ends all storms and what is being done about them, for a watchdog about to be
// taken out of its switch.
func (w *Watchdog) Release() {
	w.bigRed = false
	for priority, of := range w.queues {
		for port := range of {
			if of[port].stats.Stormed {
				w.restored(detect.Queue{Port: unit.Port(port), Priority: unit.Priority(priority)})
			}
		}
	}
}

// SetPoll changes the time between two polls, from the next one on. It is an error if it is not above
// 0, or above one of the other times.
func (w *Watchdog) SetPoll(poll unit.Time) error {
	c := w.cfg
	if c.Poll = poll; poll > c.Detection {
		return fmt.Errorf("unable to use polling interval = %s, value is bigger than the configured detection time, %s", poll, c.Detection)
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("unable to use polling interval = %s, value is bigger than the configured restoration time, %s", poll, c.Restoration)
	}
	w.cfg = c
	w.phase = phase(w.view.Self(), poll)
	w.next = unit.NextTick(w.last-w.phase, poll) + w.phase
	return nil
}

// SetPolling makes the watchdog look at its queues, or at none: then no storm begins or ends. The first look
// after that is a baseline.
func (w *Watchdog) SetPolling(on bool) {
	for _, of := range w.queues {
		for port := range of {
			if s := &of[port]; w.idle && on && !s.stats.Stormed {
				s.was, s.left = sample{}, w.cfg.Detection
			}
		}
	}
	w.idle = !on
}

// Polling reports whether it looks at its queues.
func (w *Watchdog) Polling() bool { return !w.idle }

// SetBigRed makes the watchdog drop in all lossless queues of these ports, whether they are paused or not, and
// detect nothing meanwhile; or ends that. It is what BIG_RED_SWITCH of SONiC does
// (sonic-net/sonic-swss, orchagent/pfcwdsworch.cpp).
func (w *Watchdog) SetBigRed(on bool, ports unit.PortSet) {
	if on == w.bigRed {
		return
	}
	w.Release()
	if w.bigRed = on; !on {
		return
	}
	for priority, of := range w.queues {
		for port := range of {
			if q := (detect.Queue{Port: unit.Port(port), Priority: unit.Priority(priority)}); ports.Has(q.Port) {
				s := &of[port]
				s.red, s.stats.Stormed, s.mark = true, true, w.view.Frames(q)
				s.stats.Detected++
				w.mitigate(q, true)
			}
		}
	}
}

// BigRed reports whether it drops in all queues.
func (w *Watchdog) BigRed() bool { return w.bigRed }

// StateBytes is the size of what is kept of all queues.
func (w *Watchdog) StateBytes() int { return w.queues.size() }

// Pause notes when a pause begins.
func (w *Watchdog) Pause(now unit.Time, q detect.Queue, _ itsyhdr.TLV, fresh bool) {
	if s := w.queues.of(q); fresh {
		s.since = now
	}
}

// Resume counts pauses that ended, and how long they lasted. A poll cannot see one that ends before it.
func (w *Watchdog) Resume(now unit.Time, q detect.Queue, _ bool) {
	s := w.queues.of(q)
	s.resumes++
	if s.since != unit.Never {
		s.lasted += now - s.since
	}
	s.since = unit.Never
}

// Deadline is the next poll.
func (w *Watchdog) Deadline() unit.Time { return w.next }

// Tick polls all queues. A poll that comes late is charged for the time that has
// really passed, and does not move the grid.
func (w *Watchdog) Tick(now unit.Time) {
	elapsed := now - w.last
	w.last = now
	w.next = unit.NextTick(now-w.phase, w.cfg.Poll) + w.phase
	if w.idle || w.bigRed {
		return
	}
	for priority, of := range w.queues {
		for port := range of {
			w.poll(elapsed, detect.Queue{Port: unit.Port(port), Priority: unit.Priority(priority)})
		}
	}
}

func (w *Watchdog) poll(elapsed unit.Time, q detect.Queue) {
	switch s := w.queues.of(q); {
	case !s.stats.Stormed:
		w.detect(elapsed, q)
	case w.cfg.Action == Alert:
		if !w.stuck(elapsed, q) { // nothing was done about it: the first sample that does not agree ends it
			w.restored(q)
		}
	default:
		w.restore(q)
	}
}

// detect charges the detection time with what has passed since the latest poll, if
// the queue was stuck meanwhile. A hundredth of it may be missing, as in
// pfc_detect_mellanox.lua: polls of a busy machine are not exact.
func (w *Watchdog) detect(elapsed unit.Time, q detect.Queue) {
	s := w.queues.of(q)
	if !w.stuck(elapsed, q) {
		s.left = w.cfg.Detection
		return
	}
	missing := w.cfg.Detection / 100
	switch {
	case w.cfg.Juniper: // counts polls
		elapsed, missing = min(elapsed, w.cfg.Poll), 0
	case w.cfg.ASIC == Broadcom || w.cfg.ASIC == Mellanox2023: // so do their scripts
		elapsed, missing = w.cfg.Poll, 0
	}
	if s.left > elapsed+missing {
		s.left -= elapsed
		return
	}
	w.storm(q)
}

// stuck reports whether q was stuck since the latest poll, which was elapsed ago, and keeps the new sample.
func (w *Watchdog) stuck(elapsed unit.Time, q detect.Queue) bool {
	s := w.queues.of(q)
	old := s.was
	s.was = w.sample(q)
	now := s.was
	idle, lasted := now.sent == old.sent, now.lasted-old.lasted
	switch {
	case w.cfg.Juniper:
		return now.stalled(old)
	case w.cfg.ASIC == AnyASIC:
		return now.agrees(old)
	case !old.taken:
		return false
	case w.cfg.ASIC == Broadcom:
		return now.paused && old.paused && now.resumes == old.resumes && now.pauses > old.pauses
	case w.cfg.ASIC == Mellanox:
		return now.bytes > 0 && idle && 100*lasted > 99*elapsed
	default: // Mellanox2023
		return idle && (now.bytes > 0 && now.pauses > old.pauses || now.bytes == 0 && 10*lasted > 8*w.cfg.Poll)
	}
}

// sample is q at this poll. A pause that began before the watchdog did counts from here.
func (w *Watchdog) sample(q detect.Queue) sample {
	s := w.queues.of(q)
	now := sample{
		taken: true, paused: w.view.Paused(q), resumes: s.resumes, bytes: w.view.Backlog(q), sent: w.view.Left(q),
		pauses: w.view.PausesSeen(q), lasted: s.lasted,
	}
	if now.paused && s.since == unit.Never {
		s.since = w.last
	}
	if now.paused {
		now.lasted += max(0, w.last-s.since)
	}
	return now
}

// restore charges the restoration time with a poll time, as pfc_restore.lua does: by the time that has really
// passed a poll that is a little early, or one before it that was late, would cost a whole poll more.
// SONiC's starts again if a pause frame came meanwhile.
func (w *Watchdog) restore(q detect.Queue) {
	s := w.queues.of(q)
	before := s.pauses
	s.pauses = w.view.PausesSeen(q)
	switch {
	case s.pauses != before && !w.cfg.Juniper:
		s.left = w.cfg.Restoration
	case s.left > w.cfg.Poll:
		s.left -= w.cfg.Poll
	default:
		w.restored(q)
	}
}

// storm begins a storm.
func (w *Watchdog) storm(q detect.Queue) {
	s := w.queues.of(q)
	s.stats.Stormed = true
	s.stats.Detected++
	s.left = w.cfg.Restoration
	s.pauses = w.view.PausesSeen(q)
	s.mark = w.view.Frames(q)
	w.act.Report(detect.Finding{PG: detect.Largest(w.view, q), Queue: q})
	w.mitigate(q, true)
}

// restored ends a storm. The next one begins with a new baseline.
func (w *Watchdog) restored(q detect.Queue) {
	w.mitigate(q, false)
	s := w.queues.of(q)
	s.count(w.view.Frames(q))
	s.stats.Stormed = false
	s.stats.Restored++
	s.red = false
	s.left = w.cfg.Detection
	s.was = w.sample(q)
}

func (w *Watchdog) mitigate(q detect.Queue, on bool) {
	switch {
	case w.queues.of(q).red:
		w.act.Discard(q, on)
	case w.cfg.Juniper:
		w.act.Flush(q, on)
	case w.cfg.Action == Drop:
		w.act.Discard(q, on)
	case w.cfg.Action == Forward:
		w.act.Ignore(q, on)
	}
}
