package conform

import (
	"fmt"
	"slices"

	"softswitch/internal/ether"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// casesR are the cases of group R: what the DUT does with a pause.
var casesR = []*Case{
	{
		ID: "R01", Title: "a pause stops its priority and no other", Clause: "IEEE 802.1Q 36; 802.3 31D", Ports: 2,
		Theirs: "SONiC lossless plan L01; snappi pause_lossless; test_pfc_pause",
		Bound:  "0 frames of the paused priority from the allowance after the pause to its end; all others at their rate, 0 lost; after it all its frames come, in order",
		Hand:   "send one stream a priority from a to b, send pauses of one priority into the DUT at b, and count with tcpdump -i b ip[1] by DSCP",
		Next:   Times(func(t *Task) int { return t.Lossless().Len() }, r01),
		Judge:  judgeStopped,
	},
	{
		ID: "R02", Title: "a pause stops all priorities that it names", Clause: "IEEE 802.1Q 36; 802.3 31D", Ports: 2, Needs: []string{"R01"},
		Theirs:  "SONiC lossless plan L02; snappi pause_lossless",
		Bound:   "as R01, for each priority of one frame that names all lossless ones",
		Hand:    "as R01, with pauses that have the bits and timers of all lossless priorities",
		Missing: twoLossless,
		Next:    Times(Exact(1), r02),
		Judge:   judgeStopped,
	},
	{
		ID: "R03", Title: "a pause stops its port and no other", Clause: "IEEE 802.1Q 36", Ports: 3, Needs: []string{"R01"},
		Theirs: "SONiC lossless plan L05",
		Bound:  "paused at b: the same priority from a to c at its rate, 0 lost; paused at all ports at once: as R01 at each",
		Hand:   "send one priority from a to b, slowly, and to c, pause it at b, and count with tcpdump -i c",
		Next:   Times(func(t *Task) int { return t.Lossless().Len() + 1 }, r03),
		Judge:  judgeStopped,
	},
	{
		ID: "R04", Title: "quanta 0 resumes, at once", Clause: "IEEE 802.3 31D", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossless plan L03",
		Bound:  "the first frame within the allowance of the resume; nothing before",
		Hand:   "pause a priority for 65535 quanta, send quanta 0 after a quarter of it, and look at the first frame after it",
		Next:   Times(Exact(5), r04),
		Judge:  judgeR04,
	},
	{
		ID: "R05", Title: "a quantum is 512 bit times of the port; a pause ends by itself", Clause: "IEEE 802.3 31D; 31B.2", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossless plan L04; pull 25668",
		Bound:  "silence for quanta x 512 / speed, +-2 % and a frame time",
		Hand:   "send single pauses of 1 to 65535 quanta, and compare the time to the next frame",
		Next:   Times(func(t *Task) int { return len(quantaR05(t)) }, r05),
		Judge:  judgeR05,
	},
	{
		ID: "R06", Title: "the newest pause counts, not the sum, the longest or the first", Clause: "IEEE 802.3 31D", Ports: 2, Needs: []string{"R05"},
		Bound: "a second pause, half-way through the first, ends the silence its own length after it, +-2 % and a frame time: as long as the first, a quarter of it, and four times it",
		Hand:  "send a pause of 20000 quanta, after half of it one of 5000, and compare the time from that to the next frame; and the other way round",
		Next:  Times(Exact(len(pairsR06)), r06),
		Judge: judgeR06,
	},
	{
		ID: "R07", Title: "a timer whose bit is clear has no effect", Clause: "IEEE 802.3 31D", Ports: 2, Needs: []string{"R01"},
		Theirs: "snappi unset_bit_enable_vector",
		Bound:  "no bit and all timers: nothing stops; one bit and all timers: that priority stops; a bit with timer 0: the timer 0 of another, paused priority resumes nothing",
		Hand:   "send frames with vector 0 and all timers 65535 into b, and look for a silence with tcpdump -i b",
		Next:   Times(func(t *Task) int { return min(2, t.Lossless().Len()) + 1 }, r07),
		Judge:  judgeStopped,
	},
	{
		ID: "R08", Title: "one frame pauses a priority and resumes another", Clause: "IEEE 802.3 31D", Ports: 2, Needs: []string{"R04", "R05"},
		Bound:   "both paused, then quanta 0 for the one beside more quanta for the other: the one flows within the allowance, the other is silent for these quanta, +-2 % and a frame time",
		Hand:    "pause priorities 3 and 4, send one frame with both bits, timer 3 = 20000 and timer 4 = 0, and look at the first frame of each",
		Missing: twoLossless,
		Next:    Times(Exact(2), r08),
		Judge:   judgeR08,
	},
	{
		ID: "R09", Title: "a pause of a lossy priority has no effect", Clause: "IEEE 802.1Q 36", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossy plan, earlier text; snappi pause_lossy; sonic-buildimage issue 23441",
		Bound:  "all priorities at their rate, 0 lost, while each lossy priority alone and all of them together are paused",
		Hand:   "as R01, with pauses of a lossy priority: nothing stops",
		Missing: func(t *Task) string {
			if t.Lossy() == 0 {
				return "all priorities that can be sent are lossless"
			}
			return ""
		},
		Next: Times(func(t *Task) int { return t.Lossy().Len() + 1 }, r09),
		Judge: func(t *Task, done []*Record, j *Judge) {
			for _, r := range done {
				for _, f := range r.Script.Streams {
					if !f.Control {
						j.AtRate(r, f.Name, r.Phase("storm").Window())
						j.Whole(r, f.Name)
					}
				}
				if paused, ok := r.Paused(t, "storm"); ok && r.Script.Trains[0].Set.Len() == 1 {
					c := r.Script.Trains[0].Set.First()
					if came := r.Stream(streamOf(c)).In(paused); came.Lo > 0 || came.Hi == 0 {
						j.does(honours, c, came.Hi == 0)
					}
				}
			}
		},
	},
	{
		ID: "R10", Title: "pauses with gaps let through what they should", Clause: "IEEE 802.3 31D", Ports: 2, Needs: []string{"R05"},
		Theirs: "snappi throttling_pause_storms; sonic-mgmt issue 25668",
		Bound:  "a pause each 8, 4, 2, 1, 1/2 times its length: 7/8, 3/4, 1/2, 0, 0 of the line, as far as there are frames to send; and for each pause the allowance and a frame; 5 %",
		Hand:   "send one priority at line rate, pause it every two pause times, and compare the rate at b with half of the line",
		Next:   Times(Exact(len(periodsR10)), r10),
		Judge:  judgeR10,
	},
	{
		ID: "R11", Title: "a pause takes effect within the response time", Clause: "IEEE 802.3 31B.3.7; 802.1Q 36", Ports: 2, Needs: []string{"R05"},
		Theirs: "snappi response_time",
		Bound:  "the last frame within the allowance after the pause, in each of 50, at line rate, with frames of 64 bytes and of the MTU",
		Hand:   "send one priority at line rate, pause it, and see how long after that frames still come, with tcpdump -i b --time-stamp-precision nano",
		Next:   Times(Exact(2), r11),
		Judge:  judgeR11,
	},
	{
		ID: "R12", Title: "a pause stops frames of any length", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossless plan L06, L07",
		Bound:  "as R01, with frames of 64, 512, 1518 bytes, of the MTU, and all of them in turn",
		Hand:   "as R01, with frames of other lengths",
		Next:   Times(func(t *Task) int { return len(lengthsR12(t)) }, r12),
		Judge:  judgeStopped,
	},
	{
		ID: "R13", Title: "the source address of a pause does not matter", Clause: "IEEE 802.3 31D", Ports: 2, Needs: []string{"R01"},
		Theirs: "snappi zero_mac; SONiC issue 418",
		Bound:  "as R01, with pauses whose source is zero, the DUT's port, no known station, and a station at another port, which still gets its frames",
		Hand:   "as R01, with source 00:00:00:00:00:00",
		Next:   Times(func(t *Task) int { return len(sourcesR13(t)) }, r13),
		Judge:  judgeStopped,
	},
	{
		ID: "R14", Title: "a pause does not stop the pauses of the DUT", Clause: "IEEE 802.3 31B", Ports: 2, Needs: []string{"R01"},
		Bound: "b sends to a, which is stopped: the DUT pauses b after as many frames if b pauses all priorities as if it pauses none, to a frame and the slack; 0 lost; and resumes it",
		Hand:  "pause all priorities at b, stop a, send from b to a, and look for pauses with tcpdump -i b ether proto 0x8808",
		Next:  Times(Exact(2), r14),
		Judge: judgeR14,
	},
	{
		ID: "R15", Title: "no queue stays stopped over a link flap", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossless plan L11; pfcwd port_toggle",
		Bound:  "1 s after the end of the last pause: all at their rate, 0 lost, and R01; for a storm that goes on after the flap, one that ends before, and a flap shorter than a pause",
		Hand:   "pause a priority at b, ip link set b down, then up, and count with tcpdump -i b when the pause is over",
		Next:   Times(Exact(len(flapsR15)), r15),
		Judge:  judgeR15,
	},
	{
		ID: "R16", Title: "a pause delays neither other priorities nor other ports", Clause: "RFC 8239 5", Ports: 3, Needs: []string{"R01", "R03"},
		Theirs: "SONiC lossy plan, earlier text: head-of-line latency; RFC 8239, head of line",
		Bound:  "median and 99 % of the delay of other priorities to b, and of the same one to c, above those before the pause by no more than 2 frames of the MTU and the slack",
		Hand:   "as R03, and compare the time between tcpdump -i a and -i c before and in the pause",
		Next:   Times(func(t *Task) int { return t.Lossless().Len() }, r16),
		Judge:  judgeR16,
	},
}

// twoLossless is why a case of two lossless priorities cannot be played.
func twoLossless(t *Task) string {
	if n := t.Lossless().Len(); n < 2 {
		return fmt.Sprintf("it needs two lossless priorities, and there are %d", n)
	}
	return ""
}

// backStream is a stream against the direction that is tested: what pauses at its far end do not stop,
// so that its silence is the tester's or that of the whole DUT.
func backStream(t *Task, from, to int, quiet unit.Time) Stream {
	return Stream{Name: "back", From: from, To: to, Priority: least(t), Control: true, Quiet: quiet}
}

// streamOf is the name of the stream of a priority.
func streamOf(c unit.Priority) string { return fmt.Sprintf("priority %d", c) }

// stormFrames is how many frames of a paused priority are offered in a storm: so few that they fit any
// buffer, and that it is of no account whether the DUT pauses their sender.
const stormFrames = 16

// stormLength is the length of these frames in bytes.
const stormLength = 128

// slowly is the rate of n frames of a length in a time.
func slowly(n, length int, d unit.Time) unit.Rate {
	return max(1, unit.Rate(int64(n*(length+unit.WireOverhead)*8)*int64(unit.Second)/int64(d)))
}

// sendFew sends a stream of which some frames wait whenever it is paused for this long.
func (s *Script) sendFew(name string, from, to int, c unit.Priority, pause unit.Time) *Stream {
	rate := min(s.task.Rate(from), s.task.Rate(to), slowly(stormFrames, stormLength, pause))
	return s.Send(Stream{Name: name, From: from, To: to, Priority: c, Lengths: []int{stormLength}, Rate: rate})
}

// sendAll sends a stream of each priority; those of few, which are to be paused, slowly: for a storm of
// this length.
func (s *Script) sendAll(from, to int, few unit.PrioritySet, storm unit.Time) {
	for set := s.task.Profile.Sendable(); set != 0; set &= set - 1 {
		if c := set.First(); few.Has(c) {
			s.sendFew(streamOf(c), from, to, c, storm)
		} else {
			s.Send(Stream{Name: streamOf(c), From: from, To: to, Priority: c, Rate: min(s.task.Rate(from), s.task.Rate(to))})
		}
	}
}

// nth is the n-th lowest priority of a set.
func nth(s unit.PrioritySet, n int) unit.Priority {
	for ; n > 0; n-- {
		s &= s - 1
	}
	return s.First()
}

// storm goes on in a script of streams: time before it, the storm, and time after it. It is of some
// priorities at port 1, and its quanta are the most.
func (s *Script) storm(set unit.PrioritySet, d unit.Time) *Train {
	s.Phase("before", s.task.Time(300*unit.Millisecond))
	f := s.Storm("storm", 1, set, 65535)
	s.Phase("storm", d)
	s.Release("storm")
	s.Phase("after", s.task.Time(600*unit.Millisecond))
	return f
}

// stormAtB is a script of a storm of some priorities at port 1, while all priorities are sent there.
func stormAtB(t *Task, title string, set unit.PrioritySet, d unit.Time) (*Script, *Train) {
	s := t.Script(title)
	s.sendAll(0, 1, set, d)
	s.Send(backStream(t, 1, 0, d/5))
	return s, s.storm(set, d)
}

func r01(t *Task, k int) *Script {
	return pauseOf(t, nth(t.Lossless(), k), t.Storm(2*unit.Second))
}

// pauseOf is streams of all priorities, one of which is paused by a storm of this length.
func pauseOf(t *Task, c unit.Priority, storm unit.Time) *Script {
	s, _ := stormAtB(t, fmt.Sprintf("pause of priority %d", c), 1<<c, storm)
	return s
}

// stormOf is the train of the phase called storm that pauses a stream there where it comes out; nil if none
// does.
func (r *Record) stormOf(f *Stream) *Train {
	storm := r.Phase("storm")
	for _, t := range r.Script.Trains {
		if t.Port == f.To && t.Set.Has(f.Priority) && t.Start < storm.To && t.Stop > storm.From {
			return t
		}
	}
	return nil
}

// judgeStopped wants of records with a phase called storm that the storms in it stopped their priorities
// at their ports, and no other.
func judgeStopped(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		j.stopped(t, r)
	}
}

// stopped wants it of one record.
func (j *Judge) stopped(t *Task, r *Record) {
	storm := r.Phase("storm")
	for _, f := range r.Script.Streams {
		if f.Control || f.Start > storm.From || f.Stop < storm.To {
			continue
		}
		if by := r.stormOf(f); by == nil {
			j.AtRate(r, f.Name, storm.Window())
		} else if paused, ok := r.Paused(t, by.Name); !ok {
			j.Unsure("%s: no pause of %s left the tester", r.Script.Title, by.Name)
		} else if s := r.Stream(f.Name); s.LeftIn(storm.Window()).Lo == 0 {
			j.Unsure("%s: the tester sent no frame of stream %s that a pause could have stopped", r.Script.Title, f.Name)
		} else {
			came := s.In(paused)
			j.None(fmt.Sprintf("%s: frames of stream %s while it was paused, of %d that were sent meanwhile", r.Script.Title, f.Name, s.LeftIn(storm.Window()).Hi), came)
			if came.Lo > 0 || came.Hi == 0 {
				j.does(honours, f.Priority, came.Hi == 0)
			}
		}
		j.Whole(r, f.Name)
	}
}

func r02(t *Task, _ int) *Script {
	set := t.Lossless()
	s, _ := stormAtB(t, fmt.Sprintf("pause of priorities %v", set), set, t.Storm(2*unit.Second))
	return s
}

func r03(t *Task, k int) *Script {
	d := t.Storm(2 * unit.Second)
	if k == t.Lossless().Len() {
		return pausedEverywhere(t, d)
	}
	c := nth(t.Lossless(), k)
	s := t.Script(fmt.Sprintf("pause of priority %d at one port", c))
	s.sendFew("to the paused port", 0, 1, c, d)
	s.Send(Stream{Name: "to another port", From: 0, To: 2, Priority: c, Rate: min(t.Rate(0), t.Rate(2))})
	s.Send(backStream(t, 1, 0, d/5))
	s.storm(1<<c, d)
	return s
}

// pausedEverywhere is a storm of all lossless priorities at all ports.
func pausedEverywhere(t *Task, d unit.Time) *Script {
	s := t.Script("pause of all lossless priorities at all ports")
	ports := t.Profile.Ports
	for p := range ports {
		to := (p + 1) % len(ports)
		name := fmt.Sprintf("%s to %s, ", ports[p].Name, ports[to].Name)
		for set := t.Lossless(); set != 0; set &= set - 1 {
			s.sendFew(name+streamOf(set.First()), p, to, set.First(), d)
		}
		if set := t.Lossy(); set != 0 {
			s.Send(Stream{Name: name + streamOf(set.First()), From: p, To: to, Priority: set.First(), Rate: min(t.Rate(p), t.Rate(to))})
		}
	}
	s.Phase("before", t.Time(300*unit.Millisecond))
	for p := range ports {
		s.Storm("storm at "+ports[p].Name, p, t.Lossless(), 65535)
	}
	s.Phase("storm", d)
	for p := range ports {
		s.Release("storm at " + ports[p].Name)
	}
	s.Phase("after", t.Time(600*unit.Millisecond))
	return s
}

func r04(t *Task, k int) *Script {
	c := nth(t.Lossless(), k%t.Lossless().Len())
	s := t.Script(fmt.Sprintf("resume of priority %d", c))
	pause := t.Quanta(1, 65535)
	paused := min(pause/4, t.Patience())
	s.sendFew("test", 0, 1, c, paused)
	s.Send(backStream(t, 1, 0, max(paused/5, 20*unit.Millisecond)))
	s.Phase("before", t.Time(60*unit.Millisecond))
	s.Once("pause", 1, Pause(1<<c, 65535))
	s.Wait(paused)
	s.Once("resume", 1, Pause(1<<c, 0))
	s.Phase("after", t.Time(60*unit.Millisecond)+pause)
	return s
}

func judgeR04(t *Task, done []*Record, j *Judge) {
	for k, r := range done {
		s, pause, resume := r.Stream("test"), r.Train("pause").Left, r.Train("resume").Left
		if len(pause) == 0 || len(resume) == 0 {
			j.Unsure("trial %d: a pause or its resume did not leave the tester", k+1)
			continue
		}
		to := resume[0].Lo - r.Uncertain - 1
		j.None(fmt.Sprintf("trial %d: frames between the pause and its resume", k+1), s.In(Window{pause[0].Plus(t.Allowance(1)), Span{to, to}}))
		first, ok := s.First(pause[0].Hi + t.Allowance(1))
		if !ok {
			j.Some(fmt.Sprintf("trial %d: frames after the resume", k+1), Only(0))
			continue
		}
		j.Time(fmt.Sprintf("trial %d: from the resume to the first frame", k+1), first.At.Minus(resume[0]), -unit.Second, t.Allowance(1))
	}
}

func r07(t *Task, k int) *Script {
	c, d := t.Lossless().First(), t.Storm(2*unit.Second)
	all := Control{Dst: groupMAC, Src: OwnMAC, Type: pfcframe.EtherType, Opcode: pfcframe.OpcodePFC, Len: pfcframe.Len}
	for i := range all.Timers {
		all.Timers[i] = 65535
	}
	switch k {
	case 0:
		s, f := stormAtB(t, "no bit is set, and all timers are", 0, d)
		f.Frames = []Frame{t.Frame(all, 1)}
		return s
	case 1:
		s, f := stormAtB(t, fmt.Sprintf("the bit of priority %d is set, and all timers are", c), 1<<c, d)
		all.Vector = 1 << c
		f.Frames = []Frame{t.Frame(all, 1)}
		return s
	}
	other := nth(t.Lossless(), 1)
	s, f := stormAtB(t, fmt.Sprintf("priority %d is paused, and priority %d is resumed", other, c), 1<<other, d)
	s.Once("resume", 1, Pause(1<<c, 0)).Start = f.Start + d/2
	return s
}

func r09(t *Task, k int) *Script {
	set, d := t.Lossy(), 2*unit.Second
	if k < set.Len() {
		set, d = 1<<nth(set, k), 600*unit.Millisecond
	}
	s := t.Script(fmt.Sprintf("pause of lossy priorities %v", set))
	s.sendAll(0, 1, 0, 0)
	s.Send(backStream(t, 1, 0, t.Time(d)/5))
	s.storm(set, t.Time(d))
	return s
}

// lengthsR12 are the lengths of frames without FCS, those of a stream in turn.
func lengthsR12(t *Task) (all [][]int) {
	var mix []int
	for _, n := range []int{shortest, 508, 1514, t.MaxFrame()} {
		if n <= t.MaxFrame() && !slices.Contains(mix, n) {
			mix = append(mix, n)
			all = append(all, []int{n})
		}
	}
	return append(all, mix)
}

func r12(t *Task, k int) *Script {
	lengths := lengthsR12(t)[k]
	c, d := nth(t.Lossless(), k%t.Lossless().Len()), t.Storm(600*unit.Millisecond)
	s, _ := stormAtB(t, fmt.Sprintf("pause of priority %d, frames of %v bytes", c, lengths), 1<<c, d)
	sum := 0
	for _, n := range lengths {
		sum += n
	}
	mean := sum / len(lengths)
	for _, f := range s.Streams {
		if f.Control {
			continue
		}
		f.Lengths = lengths
		if f.Priority == c {
			f.Rate = min(t.Rate(0), t.Rate(1), slowly(max(4, min(stormFrames, stormFrames*stormLength/mean)), mean, d))
		} else if mean < 508 { // no more frames a second than of 508 bytes: a tester in software has to send them
			f.Rate = f.Rate * unit.Rate(mean+unit.WireOverhead) / (508 + unit.WireOverhead)
		}
	}
	return s
}

// source is a source address of a pause.
type source struct {
	name string
	mac  unit.MAC
}

// sourcesR13 are those that are tried at port 1.
func sourcesR13(t *Task) []source {
	all := []source{{"zero", 0}, {"of no station", StrangerMAC(1, 1)}}
	if mac := t.Profile.Ports[1].MAC; mac != 0 {
		all = append(all, source{"the DUT's own", mac})
	}
	if len(t.Profile.Ports) > 2 {
		all = append(all, source{"of the station at " + t.Profile.Ports[2].Name, StationMAC(2)})
	}
	return all
}

func r13(t *Task, k int) *Script {
	src := sourcesR13(t)[k]
	c, d := nth(t.Lossless(), k%t.Lossless().Len()), t.Storm(600*unit.Millisecond)
	s := t.Script("source " + src.name)
	s.sendAll(0, 1, 1<<c, d)
	if len(t.Profile.Ports) > 2 {
		s.Send(Stream{Name: "to another port", From: 0, To: 2, Priority: least(t), Rate: min(t.Rate(0), t.Rate(2))})
	}
	s.Send(backStream(t, 1, 0, d/5))
	f := s.storm(1<<c, d)
	for _, b := range append(f.Frames, f.Last) {
		ether.PutMAC(b[6:], src.mac)
	}
	return s
}

// lengthR14 is that of the frames that fill the DUT, in bytes.
const lengthR14 = 500

func r14(t *Task, k int) *Script {
	c, d := t.Lossless().First(), t.Storm(unit.Second)
	title := "b is congested"
	if k > 0 {
		title = "b is congested, and pauses all priorities"
	}
	s := t.Script(title)
	s.Storm("stop", 0, 1<<c, 65535)
	if k > 0 {
		s.Storm("storm", 1, 0xff, 65535)
	}
	s.sendFew("to b", 0, 1, c, d)
	if t.Lossy() != 0 {
		s.Send(backStream(t, 0, 1, max(d/5, 20*unit.Millisecond)))
	}
	s.Wait(d / 10)
	s.Send(Stream{Name: "test", From: 1, To: 0, Priority: c, Lengths: []int{lengthR14}, Rate: LineRate})
	s.Phase("stopped", d*6/10)
	s.Halt("test")
	s.Release("stop")
	s.Phase("go", d*2/10)
	if k > 0 {
		s.Release("storm")
	}
	s.Phase("after", t.Time(300*unit.Millisecond))
	return s
}

func judgeR14(t *Task, done []*Record, j *Judge) {
	c := t.Lossless().First()
	var sent [2]Count // until the first pause
	for k, r := range done {
		s, stopped := r.Stream("test"), r.Phase("stopped").Window()
		n := uint64(0)
		for _, p := range r.PausesOf(1, c) {
			if p.Quanta > 0 && stopped.surely(p.At) {
				if n == 0 {
					sent[k] = s.LeftIn(Window{Span{}, p.At})
				}
				n++
			}
		}
		if k == 0 && n == 0 {
			j.Unsure("b was not paused after %s, though it pauses nothing itself: see T01", unit.Count(s.Sent, "frame"))
			return
		}
		j.Some(r.Script.Title+": pauses that came out of b", Only(n))
		j.Whole(r, "test")
		// What waited in the DUT has gone by then.
		drained := 2*unit.Time(s.Sent)*t.FrameTime(0, lengthR14) < r.Phase("go").To-r.Phase("go").From
		if t.Profile.PFC.Resume == "frame" && drained && n > 0 {
			resumes := uint64(0)
			for _, p := range r.PausesOf(1, c) {
				if p.Quanta == 0 && p.At.Hi >= r.Phase("go").From {
					resumes++
				}
			}
			j.Some(r.Script.Title+": resumes that came out of b", Only(resumes))
		}
	}
	most := 2 + uint64((t.FrameTime(1, t.MaxFrame())+t.Profile.PFC.Slack)/t.FrameTime(1, lengthR14))
	more := func(a, b uint64) uint64 { return max(a, b) - b }
	j.Count(fmt.Sprintf("frames that b sent until it was paused, above the %s where it pauses nothing", sent[0]),
		Count{more(sent[1].Lo, sent[0].Hi), more(sent[1].Hi, sent[0].Lo)}, 0, most)
}

// flapsR15 are the flaps of a link in a storm.
var flapsR15 = []struct {
	title string
	on    bool // the storm goes on afterwards
	short bool // shorter than a pause
}{{"the storm goes on after a flap", true, false}, {"the storm ends before a flap", false, false}, {"a flap in a pause", false, true}}

// quantaR15 are those of a storm at port 1 that lasts as long as two pauses.
func quantaR15(t *Task) uint16 { return t.QuantaFor(1, t.Storm(900*unit.Millisecond)/3) }

func r15(t *Task, k int) *Script {
	flap := flapsR15[k]
	c := nth(t.Lossless(), k%t.Lossless().Len())
	quanta := quantaR15(t)
	pause := t.Quanta(1, quanta)
	down := t.Time(unit.Second)
	if flap.short {
		down = pause / 4
	}
	s := t.Script(fmt.Sprintf("%s, priority %d", flap.title, c))
	s.sendFew("over the flap", 0, 1, c, pause)
	s.Wait(pause / 4)
	s.Storm("before the flap", 1, 1<<c, quanta)
	s.Wait(pause)
	s.Lapse("before the flap")
	s.Do(LinkDown, 1)
	s.Phase("down", down)
	s.Do(LinkUp, 1)
	s.Wait(pause / 4)
	if flap.on {
		s.Storm("after the flap", 1, 1<<c, quanta)
		s.Wait(pause)
		s.Lapse("after the flap")
	}
	s.Wait(pause)
	s.Halt("over the flap")
	// A station that has not been heard since is not known any more: b speaks first.
	settle := t.Time(unit.Second) / 2
	s.Wait(settle)
	d := t.Storm(600 * unit.Millisecond)
	s.Send(backStream(t, 1, 0, max(d/5, 20*unit.Millisecond)))
	s.Wait(settle)
	s.Send(Stream{Name: "again", From: 0, To: 1, Priority: c, Rate: min(t.Rate(0), t.Rate(1))})
	s.Wait(t.Time(60 * unit.Millisecond))
	s.Phase("again", t.Time(300*unit.Millisecond))
	s.Halt("again")
	s.sendAll(0, 1, 1<<c, d)
	s.storm(1<<c, d)
	return s
}

func judgeR15(t *Task, done []*Record, j *Judge) {
	for k, r := range done {
		j.AtRate(r, "again", r.Phase("again").Window())
		j.Whole(r, "again")
		j.stopped(t, r)
		before, up := r.Train("before the flap").Left, r.Phase("down").To
		if !flapsR15[k].short || len(before) == 0 {
			continue
		}
		over := before[len(before)-1].Plus(t.Quanta(1, quantaR15(t)))
		if over.Lo < up+2*t.Allowance(1) {
			j.Note("the pause of before the flap had run out after it: whether it is kept is not seen")
		} else if first, ok := r.Stream("over the flap").First(up); ok && first.At.Hi < over.Lo {
			j.Note("a pause in force ends with the link: %v after that is up again a frame comes", first.At.Hi-up)
		} else {
			j.Note("a pause in force outlasts a flap of the link")
		}
	}
}

func r16(t *Task, k int) *Script {
	c, d := nth(t.Lossless(), k), t.Storm(2*unit.Second)
	s := t.Script(fmt.Sprintf("pause of priority %d at one port", c))
	s.sendAll(0, 1, 1<<c, d)
	s.Send(Stream{Name: "to another port", From: 0, To: 2, Priority: c, Rate: min(t.Rate(0), t.Rate(2))})
	s.Send(backStream(t, 1, 0, d/5))
	s.storm(1<<c, d)
	return s
}

func judgeR16(t *Task, done []*Record, j *Judge) {
	most := 2*t.FrameTime(0, t.MaxFrame()) + t.Profile.PFC.Slack + 2*t.Uncertain
	for _, r := range done {
		for _, f := range r.Script.Streams {
			if f.Control || r.stormOf(f) != nil {
				continue
			}
			before, storm, after := r.delays(f.Name, "before"), r.delays(f.Name, "storm"), r.delays(f.Name, "after")
			if len(before) == 0 || len(storm) == 0 || len(after) == 0 {
				j.Some(fmt.Sprintf("%s: frames of stream %s before and in the storm", r.Script.Title, f.Name), Only(0))
				continue
			}
			for _, percent := range []int{50, 99} {
				more := Quantile(storm, percent) - Quantile(before, percent)
				// What changed without the pause, or where it stops nothing, is the machine's.
				noise := Quantile(after, percent) - Quantile(before, percent)
				noise = max(noise, -noise, Quantile(r.delays("back", "storm"), percent)-Quantile(r.delays("back", "before"), percent))
				j.Time(fmt.Sprintf("%s: %d %% of the delays of stream %s, above those before", r.Script.Title, percent, f.Name), Span{more - noise, more}, -unit.Never, most)
			}
		}
	}
}

// delays are those of the frames of a stream in a phase.
func (r *Record) delays(stream, phase string) []unit.Time {
	return r.Stream(stream).Delays(r.Phase(phase).Window())
}
