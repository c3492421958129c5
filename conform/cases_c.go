package conform

import (
	"fmt"
	"slices"

	"softswitch/unit"
)

// casesC are the cases of group C: the DUT's own counters.
var casesC = []*Case{
	{
		ID: "C01", Title: "PFC frames that come are counted, by port and priority", Clause: "IEEE 802.1Q 12.23", Ports: 2, Needs: []string{"R01"},
		Theirs:  "test_pfc_counters; SONiC lossless plan L15",
		Bound:   "as many as were sent; those of other ports and priorities unchanged",
		Hand:    "read the DUT's counters (show pfc counters), send 1,000 pauses and resumes of each priority, and read them again",
		Missing: countless,
		Next:    Times(Exact(1), c01),
		Judge:   judgeC01,
	},
	{
		ID: "C02", Title: "PFC frames that the DUT sends are counted", Clause: "IEEE 802.1Q 12.23", Ports: 2, Needs: []string{"T01"},
		Theirs:  "snappi tx_drop_counter; SONiC lossless plan L15",
		Bound:   "as many as were captured, of each port and priority",
		Hand:    "read the DUT's counters, make it pause a sender as in T01, count its pauses with tcpdump -i a ether proto 0x8808, and read them again",
		Missing: countless,
		Next: Times(Exact(1), func(t *Task, _ int) *Script {
			s := stopAndGo(t, t.Lossless().First())
			s.Wait(t.Quanta(0, 65535))
			s.Do(ReadCounters, 0)
			s.Acts = slices.Insert(s.Acts, 0, Act{At: s.Streams[0].Start / 2, Do: ReadCounters})
			s.Wait(t.settling(0))
			return s
		}),
		Judge: judgeC02,
	},
	{
		ID: "C03", Title: "PAUSE is counted as no PFC, and PFC neither as data nor as drop", Clause: "IEEE 802.3 31B; 802.1Q 12.23", Ports: 2,
		Theirs:  "pfcwd xon_not_counted; test_pfc_counters",
		Bound:   "PFC counters unchanged by PAUSE; counters of data and drops unchanged by PFC",
		Hand:    "read the DUT's counters, send PAUSE, read them, send PFC, read them again",
		Missing: countless,
		Next:    Times(Exact(1), c03),
		Judge:   judgeC03,
	},
}

// countless says that the DUT's counters cannot be read. In virtual time they can.
func countless(t *Task) string {
	if t.Live && t.Profile.Counters == nil {
		return "the profile says nothing of counters"
	}
	return ""
}

// Names of counters in a Reading, each with a priority behind it, but those of drops.
const (
	RxPFC   = "rx pfc"
	TxPFC   = "tx pfc"
	RxData  = "rx"
	TxData  = "tx"
	Dropped = "dropped"
)

// framesC is how many control frames of each kind are sent.
const framesC = 1000

// everyC is how often: a DUT has a bound for control frames, so that a flood of them does no harm.
func everyC(t *Task, port int) unit.Time { return 40 * t.FrameTime(port, shortest) }

func c01(t *Task, _ int) *Script {
	s := t.Script("pauses and resumes of each priority")
	s.Wait(t.settling(0))
	s.Do(ReadCounters, 0)
	s.Wait(t.settling(0))
	for c := range unit.Priority(unit.Priorities) {
		s.trainC(streamOf(c), Pause(1<<c, 1), Pause(1<<c, 0))
	}
	s.Do(ReadCounters, 0)
	s.Wait(t.settling(0))
	return s
}

// trainC sends control frames of two kinds by turns into port 1.
func (s *Script) trainC(name string, frames ...Control) {
	f := Train{Name: name, Port: 1, Every: everyC(s.task, 1), Count: framesC}
	for _, c := range frames {
		f.Frames = append(f.Frames, s.task.Frame(c, 1))
	}
	s.Frames(f)
	s.Wait(framesC*f.Every + s.task.settling(1))
}

// grown is by how much a counter of a port grew from a reading to the next; ok is false if it was not read.
func (r *Record) grown(port int, name string, reading int) (n uint64, ok bool) {
	var values []uint64
	for i := range r.Readings {
		if v := &r.Readings[i]; v.Port == port {
			if k := slices.Index(v.Names, name); k >= 0 {
				values = append(values, v.Values[k])
			}
		}
	}
	if len(values) < reading+2 {
		return 0, false
	}
	return values[reading+1] - values[reading], true
}

// grows wants a counter to grow by so much.
func (j *Judge) grows(t *Task, r *Record, port int, name string, reading int, by uint64) {
	n, ok := r.grown(port, name, reading)
	if !ok {
		j.Note("port %s: %q is not among the counters that were read", t.Profile.Ports[port].Name, name)
		return
	}
	j.Count(fmt.Sprintf("port %s: by how much %q grew", t.Profile.Ports[port].Name, name), Only(n), by, by)
}

func counterOf(name string, c unit.Priority) string { return fmt.Sprintf("%s %d", name, c) }

func judgeC01(t *Task, done []*Record, j *Judge) {
	r := done[0]
	for p := range t.Profile.Ports {
		for c := range unit.Priority(unit.Priorities) {
			want := uint64(0)
			if p == 1 {
				want = uint64(len(r.Train(streamOf(c)).Left))
			}
			j.grows(t, r, p, counterOf(RxPFC, c), 0, want)
			j.grows(t, r, p, counterOf(TxPFC, c), 0, uint64(len(r.PausesOf(p, c))))
		}
	}
}

func judgeC02(t *Task, done []*Record, j *Judge) {
	r := done[0]
	var all uint64
	for p := range t.Profile.Ports {
		for c := range unit.Priority(unit.Priorities) {
			seen := uint64(len(r.PausesOf(p, c)))
			all += seen
			j.grows(t, r, p, counterOf(TxPFC, c), 0, seen)
		}
	}
	if all == 0 {
		j.Unsure("the DUT sent no pause at all")
	}
}

func c03(t *Task, _ int) *Script {
	s := t.Script("PAUSE, then PFC")
	s.Wait(t.settling(0))
	s.Do(ReadCounters, 0)
	s.Wait(t.settling(0))
	s.trainC("PAUSE", Pause8023(1), Pause8023(0))
	s.Do(ReadCounters, 0)
	s.Wait(t.settling(0))
	s.trainC("PFC", Pause(0xff, 1), Pause(0xff, 0))
	s.Do(ReadCounters, 0)
	s.Wait(t.settling(0))
	return s
}

func judgeC03(t *Task, done []*Record, j *Judge) {
	r := done[0]
	for p := range t.Profile.Ports {
		for c := range unit.Priority(unit.Priorities) {
			j.grows(t, r, p, counterOf(RxPFC, c), 0, 0)
			j.grows(t, r, p, counterOf(TxPFC, c), 0, 0)
			j.grows(t, r, p, counterOf(RxData, c), 1, 0)
			j.grows(t, r, p, counterOf(TxData, c), 1, 0)
		}
		j.grows(t, r, p, Dropped, 1, 0)
	}
}
