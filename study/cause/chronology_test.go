package cause_test

import (
	"fmt"
	"slices"
	"testing"

	"softswitch/event"
	"softswitch/oracle"
	"softswitch/scenario"
	"softswitch/sim/simtest"
	"softswitch/study/cause"
	"softswitch/study/fuzz"
	"softswitch/unit"
)

// entry is an event and the node that it is of.
type entry struct {
	event.Event
	node event.Node
}

func (e *entry) queue() oracle.Queue {
	return oracle.Queue{NodePort: unit.NodePort{Node: e.node.ID, Port: e.Out}, Priority: e.OutPriority}
}

func (e *entry) pg() oracle.PG {
	return oracle.PG{NodePort: unit.NodePort{Node: e.node.ID, Port: e.Port}, Priority: e.Priority}
}

// slowChronology goes back through the log of a run for everything that it wants to know.
type slowChronology struct {
	run *cause.Run
	log []entry
}

// pausedBy is the index of the event that began the period which pauses q just before
// the event at index i: an XOFF, or the pause itself if it is a host's; -1 if q is not
// paused.
func (s *slowChronology) pausedBy(q oracle.Queue, i int) int {
	for i--; i >= 0; i-- {
		e := &s.log[i]
		if e.queue() != q || e.Type != event.Paused && e.Type != event.Resumed && e.Type != event.Expired {
			continue
		}
		if e.Type != event.Paused {
			return -1
		}
		if s.run.Fabric().FacesHost(q.NodePort) {
			return i
		}
		b, _ := s.run.Fabric().Down(q)
		for k := i - 1; k >= 0; k-- {
			if x := &s.log[k]; x.Type == event.XOFF && x.pg() == b && x.Period == e.Period {
				return k
			}
		}
	}
	return -1
}

// causes are the events that began the periods which caused the one that begins at i.
// The events of a priority group's bytes in paused queues follow its XOFF.
func (s *slowChronology) causes(i int) (causes []int) {
	x := &s.log[i]
	if x.Type != event.XOFF {
		return nil
	}
	bytes := int32(0)
	for k := i + 1; k < len(s.log) && (s.log[k].Type == event.Held || s.log[k].Type == event.StrongCreated) && s.log[k].pg() == x.pg() && s.log[k].At == x.At; k++ {
		if s.log[k].Type == event.Held {
			bytes += s.log[k].Bytes
			causes = append(causes, s.pausedBy(s.log[k].queue(), i))
		}
	}
	if bytes <= x.Limit {
		return nil
	}
	slices.Sort(causes)
	return slices.Compact(causes)
}

// text is every period that led to d, with its causes.
func (s *slowChronology) text(d *cause.Deadlock) (lines []string) {
	var work []int
	seen := map[int]bool{}
	for _, q := range d.Queues {
		work = append(work, s.pausedBy(q, len(s.log)))
	}
	for ; len(work) > 0; work = work[1:] {
		i := work[0]
		if seen[i] {
			continue
		}
		seen[i] = true
		causes := s.causes(i)
		work = append(work, causes...)
		line := s.name(i) + " <-"
		for _, by := range causes {
			line += " " + s.name(by)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func (s *slowChronology) name(i int) string {
	e := &s.log[i]
	at := e.pg().NodePort
	priority := e.Priority
	if e.Type == event.Paused {
		far, _ := s.run.Fabric().Far(e.queue().NodePort)
		at, priority = far, e.OutPriority
	}
	return fmt.Sprintf("%s/%d@%d", s.run.Fabric().PortName(at), priority, e.At)
}

// textOf is the same of a Chronology.
func textOf(c *cause.Chronology) (lines []string) {
	name := func(p cause.Period) string { return fmt.Sprintf("%s:%s/%d@%d", p.Node, p.Port, p.Priority, p.From) }
	for _, p := range c.Periods {
		line := name(p) + " <-"
		for _, by := range p.CausedBy {
			line += " " + name(c.Periods[by])
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// slowly is the log up to the first deadlock, and the deadlock.
func slowly(t *testing.T, plan *scenario.Plan, seed uint64) (*slowChronology, *cause.Deadlock) {
	t.Helper()
	r, err := cause.NewRun(plan, seed)
	if err != nil {
		t.Fatal(err)
	}
	s := &slowChronology{run: r}
	r.OnEvents(func(n event.Node, e event.Event) { s.log = append(s.log, entry{e, n}) })
	var d *cause.Deadlock
	err = r.Play(func(at unit.Time, stuck *oracle.Stuck) bool {
		if !stuck.Empty() {
			d = r.DeadlockAt(at, stuck)
		}
		return d == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

// TestChronology holds the chronology of random deadlocks against what the log of the
// run says. Cases with flooded frames are left out: a log counts such a frame once for
// every queue that it waits in. In the last three a priority group begins its next period before
// the pause of the one before has arrived.
func TestChronology(t *testing.T) {
	const seed = 17
	var numbers []int
	for i := range 100 {
		numbers = append(numbers, i)
	}
	deadlocks, caused, fromHosts := 0, 0, 0
	for _, i := range append(numbers, 160, 455, 1738) {
		k := fuzz.New(seed, i, fuzz.Usual)
		if len(k.Dead) > 0 {
			continue
		}
		s := simtest.Parse(t, k.Name(), string(k.Text("none", "")), "none")
		log, d := slowly(t, simtest.Compile(t, s), k.Wires)
		if d == nil {
			continue
		}
		deadlocks++
		c := cause.NewCase(t, s, k.Wires)
		got, want := textOf(c.Chronology), log.text(d)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, case %d:\ngot  %q\nwant %q", seed, i, got, want)
		}
		for n, p := range c.Chronology.Periods {
			if p.CausedBy != nil {
				caused++
			}
			if p.Host {
				fromHosts++
			}
			if n > 0 && p.From < c.Chronology.Periods[n-1].From || (p.CausedBy == nil) != slices.Contains(c.Chronology.Sources, n) {
				t.Errorf("seed %d, case %d: period %d, %+v, out of order or no source", seed, i, n, p)
			}
		}
	}
	t.Logf("%d deadlocks, %d caused periods, %d pauses of hosts", deadlocks, caused, fromHosts)
	if deadlocks < 40 || caused < deadlocks || fromHosts < 3 {
		t.Errorf("of %d deadlocks only %d periods are caused, and %d those of hosts", deadlocks, caused, fromHosts)
	}
}
