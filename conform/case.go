package conform

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/ether"
	"softswitch/internal/stat"
	"softswitch/unit"
)

// Case is one thing to be tested: scripts, and a judge of what came of them.
type Case struct {
	ID string `json:"case_id"`
	// Title is what the case proves, in a line; Clause is the standard that says so, "" where none does.
	Title  string `json:"title"`
	Clause string `json:"clause,omitempty"`
	// Theirs are the tests of others that it stands for.
	Theirs string `json:"theirs,omitempty"`
	// Bound is what passes, in words; Hand is how to see it without this program.
	Bound string `json:"bound"`
	Hand  string `json:"hand,omitempty"`
	// Ports is the fewest ports that it needs.
	Ports int `json:"needs_ports"`
	// Ring is the kind of the ring that it is played in, "" for none.
	Ring string `json:"ring,omitempty"`
	// Needs are the cases without which this one says nothing: where one of them fails, this is skipped.
	Needs []string `json:"needs,omitempty"`
	// Missing is why the case cannot be played with this profile; "" if it can. Nil: always.
	Missing func(t *Task) string `json:"-"`
	// Next is the script of the next trial, after those that were played; nil if they are enough.
	Next func(t *Task, done []*Record) *Script `json:"-"`
	// Judge judges all trials.
	Judge func(t *Task, done []*Record, j *Judge) `json:"-"`
}

// Group is the letter of a case's group.
func (c *Case) Group() string { return c.ID[:1] }

// Kinds of rings.
const (
	Instances = "instances" // several DUTs
	Loops     = "loops"     // cables between ports of one
)

// groups in the order in which they are played and listed. Each has a file of its own, cases_r.go and so
// on, with a list of its cases.
var groups = []struct {
	Letter, Title string
	Cases         []*Case
}{
	{"R", "what the DUT does with a pause", casesR},
	{"M", "malformed and foreign control frames", casesM},
	{"T", "what the DUT sends", casesT},
	{"N", "nothing lossless is lost", casesN},
	{"B", "thresholds", casesB},
	{"W", "watchdog and containment", casesW},
	{"D", "deadlock", casesD},
	{"Q", "classes, shares, marks", casesQ},
	{"C", "counters", casesC},
}

// Cases are all, in the order in which they are played.
func Cases() (all []*Case) {
	for _, g := range groups {
		all = append(all, g.Cases...)
	}
	return all
}

// Groups are the letters of the groups.
func Groups() (letters []string) {
	for _, g := range groups {
		letters = append(letters, g.Letter)
	}
	return letters
}

// GroupTitle is what the cases of a group are about.
func GroupTitle(letter string) string {
	for _, g := range groups {
		if g.Letter == letter {
			return g.Title
		}
	}
	return ""
}

// Find is the case with an ID, nil if there is none.
func Find(id string) *Case {
	all := Cases()
	if i := slices.IndexFunc(all, func(c *Case) bool { return c.ID == id }); i >= 0 {
		return all[i]
	}
	return nil
}

// Select are the cases that patterns name: an ID such as R04, or the first letters of IDs: R, W0. All for
// no pattern. The error names a pattern without a case, and the valid ones.
func Select(patterns []string) ([]*Case, error) {
	all := Cases()
	if len(patterns) == 0 {
		return all, nil
	}
	chosen := make([]bool, len(all))
	for _, p := range patterns {
		found := false
		for i, c := range all {
			if strings.HasPrefix(c.ID, strings.ToUpper(p)) && p != "" {
				chosen[i], found = true, true
			}
		}
		if !found {
			var ids []string
			for _, c := range all {
				ids = append(ids, c.ID)
			}
			return nil, fmt.Errorf("%q is no case: use a letter of a group or %s", p, strings.Join(ids, ", "))
		}
	}
	var some []*Case
	for i, c := range all {
		if chosen[i] {
			some = append(some, c)
		}
	}
	return some, nil
}

// Times is a Case.Next of n trials, or of as many as there are of what n counts, each with its number.
func Times(n func(t *Task) int, script func(t *Task, k int) *Script) func(*Task, []*Record) *Script {
	return func(t *Task, done []*Record) *Script {
		if len(done) >= n(t) {
			return nil
		}
		return script(t, len(done))
	}
}

// Exact is the number n, for Times.
func Exact(n int) func(*Task) int { return func(*Task) int { return n } }

// Task is a DUT to be tested, by what is known of it: what cases and judges ask.
type Task struct {
	Profile *Profile
	// Live says that frames pass interfaces, and times are of a clock. Otherwise everything is in virtual
	// time, and times are a third of the live ones.
	Live bool
	Seed uint64
	// Uncertain is how far a time of the tester's may be from that of the DUT at least, besides what each
	// Span says itself: a Session widens the spans of a record by it, and by what the control streams of the
	// trial show.
	Uncertain unit.Time
	// Grain is how precisely the driver keeps times: 0 is exact. A port that was late catches up by no more.
	Grain unit.Time
	// Safe bounds the rate of a stream, by what the calibration found; 0: no bound.
	Safe unit.Rate
	// Soak is for how long a soak lasts; 0: there is none.
	Soak unit.Time
	// Tiny says that wires carry frames of less than 60 bytes, as a veth does and a NIC does not.
	Tiny bool

	values []Value // that cases have found
	frames []Seen  // the different control frames of the DUT, as far as framesMost goes
	known  map[seenAs]bool
	sums   Sums
}

// Sums are what all frames of streams of a session came to, whatever their case.
type Sums struct {
	Sent, Came, Twice, Behind, Damaged uint64
	// Controls is how many control frames of the DUT came, by port.
	Controls []uint64
}

// Sums are those of all trials so far.
func (t *Task) Sums() Sums { return t.sums }

// note keeps what the judges of later cases may ask.
func (t *Task) note(r *Record) {
	t.see(r)
	t.sums.add(r)
}

func (n *Sums) add(r *Record) {
	for i := range r.Streams {
		s := &r.Streams[i]
		n.Sent += s.Sent
		n.Came += s.Came
		n.Twice += s.Twice
		n.Behind += s.Behind
		n.Damaged += s.Damaged
	}
	for i := range r.Seen {
		if s := &r.Seen[i]; !s.Own {
			for len(n.Controls) <= s.Port {
				n.Controls = append(n.Controls, 0)
			}
			n.Controls[s.Port]++
		}
	}
}

// framesMost is how many different control frames of the DUT are kept.
const framesMost = 4096

// seenAs is what makes a control frame another one.
type seenAs struct {
	port, length int
	bytes        string
}

// see keeps the control frames of the DUT that are new.
func (t *Task) see(records ...*Record) {
	if t.known == nil {
		t.known = map[seenAs]bool{}
	}
	for _, r := range records {
		for _, s := range r.Seen {
			if as := (seenAs{s.Port, s.Len, string(s.Frame)}); !s.Own && !t.known[as] && len(t.frames) < framesMost {
				t.known[as] = true
				t.frames = append(t.frames, s)
			}
		}
	}
}

// Value is something that a case has found out about the DUT.
type Value struct {
	Case string  `json:"case"`
	Name string  `json:"name"`
	Lo   float64 `json:"lo"`
	Hi   float64 `json:"hi"`
	Unit string  `json:"unit,omitempty"`
}

func (v Value) String() string {
	if v.Lo == v.Hi {
		return strings.TrimSpace(fmt.Sprintf("%.6g %s", v.Lo, v.Unit))
	}
	return strings.TrimSpace(fmt.Sprintf("%.6g to %.6g %s", v.Lo, v.Hi, v.Unit))
}

// Found is what a case that was played before has found.
func (t *Task) Found(name string) (v Value, ok bool) {
	for _, v := range slices.Backward(t.values) {
		if v.Name == name {
			return v, true
		}
	}
	return v, false
}

// Time is d live, and a third of it in virtual time.
func (t *Task) Time(d unit.Time) unit.Time {
	if t.Live {
		return d
	}
	return d / 3
}

// Patience is for how long a port of the DUT may be paused before something that the profile promises acts
// on that: cases that are not about it pause for less. unit.Never if nothing acts.
func (t *Task) Patience() unit.Time {
	w := t.Profile.Watchdog
	switch {
	case w == nil || w.Contain == 0 && w.Action == "alert":
		return unit.Never
	case w.Contain > 0:
		return w.Contain * 3 / 4
	}
	return w.Detect * 3 / 4
}

// Storm is d as Time has it, or less: so long that nothing acts on a storm of it.
func (t *Task) Storm(d unit.Time) unit.Time { return min(t.Time(d), t.Patience()) }

// lead is how long a stream takes until it comes out of the DUT as it went in.
func (t *Task) lead() unit.Time { return t.Time(30*unit.Millisecond) + t.Profile.PFC.Slack }

// Ring is the tester's ports at the profile's ring of a kind, in its order; nil if it has none.
func (t *Task) Ring(kind string) []int {
	for _, r := range t.Profile.Rings {
		if r.Kind == kind {
			ports := make([]int, len(r.Of))
			for i, name := range r.Of {
				ports[i] = t.Profile.Port(name)
			}
			return ports
		}
	}
	return nil
}

// Frames is the first number live, the other one in virtual time.
func (t *Task) Frames(live, virtual uint64) uint64 {
	if t.Live {
		return live
	}
	return virtual
}

// Random is random numbers that depend on nothing but the seed, and on what they are for.
func (t *Task) Random(what string, trial int) stat.Rand {
	z := stat.Mix(t.Seed ^ uint64(trial)<<32)
	for _, b := range []byte(what) {
		z = stat.Mix(z ^ uint64(b))
	}
	return stat.Rand(z)
}

// Lossless is the lossless priorities: those of the profile, or those that were found.
func (t *Task) Lossless() unit.PrioritySet {
	if !t.Profile.Probed() {
		return t.Profile.LosslessSet()
	}
	if v, ok := t.Found(losslessFound); ok {
		return unit.PrioritySet(v.Lo)
	}
	return t.Profile.Sendable()
}

// losslessFound is the name of the value that has the lossless priorities, one bit each.
const losslessFound = "lossless"

// Lossy is the other priorities in which frames can be sent.
func (t *Task) Lossy() unit.PrioritySet { return t.Profile.Sendable() &^ t.Lossless() }

// MaxFrame is the longest frame without FCS and tag.
func (t *Task) MaxFrame() int { return t.Profile.MTU + ether.HeaderLen }

// Speed is that of a port.
func (t *Task) Speed(port int) unit.Rate { return t.Profile.Ports[port].Speed }

// Rate is that of a stream from a port, unless a case needs another: a tenth of the line, of the slowest one if
// they differ, and no more than the tester can do.
func (t *Task) Rate(port int) unit.Rate {
	r := t.Speed(port) / 10
	for p := range t.Profile.Ports {
		r = min(r, t.Speed(p)/10)
	}
	if t.Safe > 0 {
		r = min(r, t.Safe)
	}
	return r
}

// Quanta is how long this many quanta last at a port: 512 bit times each (IEEE 802.3, 31B.2). It is
// reckoned here, and not as the switch does: what that has wrong must not be wrong here, too.
func (t *Task) Quanta(port int, quanta uint16) unit.Time {
	return unit.Time(quanta) * 512 * unit.Second / unit.Time(t.Speed(port))
}

// QuantaFor is how many quanta last for d at a port, as far as a frame can say so: 1024 at least, so that
// some frames wait meanwhile.
func (t *Task) QuantaFor(port int, d unit.Time) uint16 {
	return uint16(min(max(d*1024/t.Quanta(port, 1024), 1024), 65535))
}

// lasting is for how long pauses of the DUT last that nobody takes back.
func (t *Task) lasting() (longest unit.Time) {
	if t.Profile.PFC.Resume != "expiry" {
		return 0
	}
	quanta := 65535
	if q := t.Profile.PFC.Quanta; q.Is {
		quanta = q.N
	}
	for p := range t.Profile.Ports {
		longest = max(longest, t.Quanta(p, uint16(quanta)))
	}
	return longest
}

// FrameTime is how long a frame of n bytes takes at a port.
func (t *Task) FrameTime(port, n int) unit.Time { return t.Speed(port).FrameTime(n) }

// Allowance is for how long frames may come after a pause has left the port: the response time, the
// longest frame, the wire both ways, and what the profile allows a DUT in software. What the tester does not
// know is in the spans of what it measured, not in what the DUT may do.
func (t *Task) Allowance(port int) unit.Time {
	return t.Profile.response(t.Speed(port)) + t.FrameTime(port, t.MaxFrame()) + 2*t.Profile.Buffer.Delay + t.Profile.PFC.Slack
}

// Frame builds a control frame for a port.
func (t *Task) Frame(c Control, port int) Frame { return c.Frame(StationMAC(port)) }

// StationMAC is the address of the tester's station at a port.
func StationMAC(port int) unit.MAC { return 0x02_5f_74_00_00_01 + unit.MAC(port) }

// IsStation reports whether an address is one of the tester's stations.
func IsStation(m unit.MAC) bool { return m >= StationMAC(0) && m < StationMAC(0x10000) }

// StrangerMAC is the address of a station at a port that the DUT has not heard of, the n-th of its kind.
func StrangerMAC(port, n int) unit.MAC { return 0x02_5f_74_01_00_00 + unit.MAC(n)<<8 + unit.MAC(port) }
