package conform

import (
	"encoding/binary"
	"fmt"

	"softswitch/internal/ether"
	"softswitch/internal/stat"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// casesM are the cases of group M: malformed and foreign control frames. Each plays one script for each
// kind of frame, and at last one that shows that right pauses still work.
var casesM = []*Case{
	{
		ID: "M01", Title: "a PFC frame to another address is not believed", Clause: "IEEE 802.3 31D: the group address alone", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossy plan: malformed; snappi test_malformed_pfc_frame_handling",
		Bound:  "all streams at their rate, 0 lost; no frame to a group comes out of a port; then right pauses stop their priorities and no other",
		Hand:   "send PFC frames of 65535 quanta to the address of the DUT's port, to a foreign one, to ff:ff:ff:ff:ff:ff and to 01:80:c2:00:00:00 into b, and count a stream from a to b with tcpdump -i b",
		Next:   foreignTrials(addressesM01),
		Judge: func(t *Task, done []*Record, j *Judge) {
			if t.Profile.Ports[1].MAC == 0 {
				j.Note("the address of the DUT's port is not known: give mac of port %s, and it is tried, too", t.Profile.Ports[1].Name)
			}
			judgeIgnored(t, done, j)
		},
	},
	{
		ID: "M02", Title: "an opcode that is not PFC's pauses nothing", Clause: "IEEE 802.3 31A", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossy plan: malformed",
		Bound:  "all streams at their rate, 0 lost; no frame comes out of a port; then right pauses stop their priorities and no other",
		Hand:   "send PFC frames with the opcodes 0x0000, 0x00ff, 0x0100, 0x0102 and 0xffff into b, and count a stream from a to b with tcpdump -i b",
		Next: foreignTrials(func(t *Task) (all []foreign) {
			for _, op := range []uint16{0x0000, 0x00ff, 0x0100, 0x0102, 0xffff} {
				c := Pause(0xff, 65535)
				c.Opcode = op
				all = append(all, foreign{fmt.Sprintf("opcode %#04x", op), c})
			}
			return all
		}),
		Judge: judgeIgnored,
	},
	{
		ID: "M03", Title: "reserved bits of the vector pause nothing", Clause: "IEEE 802.3 31D: the upper octet is reserved", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossy plan: malformed; snappi unset_bit_enable_vector",
		Bound:  "the priority of a lower bit pauses, or the frame is ignored; all other streams at their rate; 0 lost; then right pauses stop their priorities and no other",
		Hand:   "send PFC frames with the vectors 0xff08, 0x0800 and 0xff00 and all timers 65535 into b, and count the streams of all priorities from a to b with tcpdump -i b",
		Next:   Times(func(t *Task) int { return 2 + t.Lossless().Len() + 1 }, m03),
		Judge:  judgeM03,
	},
	{
		ID: "M04", Title: "a frame that is too short pauses what it says or nothing", Clause: "IEEE 802.3 31.4: fixed length", Ports: 2, Needs: []string{"R01"},
		Theirs: "sonic-mgmt pull 7420",
		Bound:  "honoured for its time, or ignored, as unpadded of the profile has it; nothing where the timer is cut off; no other priority; then right pauses stop their priorities and no other",
		Hand:   "cut a PFC frame to 59, 46, 40, 34 and 24 bytes, send it into b on a link that carries it, as a veth does, and look for the silence of its priority with tcpdump -i b",
		Missing: func(t *Task) string {
			if !t.Tiny {
				return "the link pads what is shorter than 60 bytes, as every MAC does"
			}
			return ""
		},
		Next:  Times(Exact(2), func(t *Task, k int) *Script { return oddTrial(t, k, shortM04) }),
		Judge: func(t *Task, done []*Record, j *Judge) { j.odd(t, done, shortM04, t.Profile.PFC.Unpadded) },
	},
	{
		ID: "M05", Title: "a frame that is too long pauses what it says or nothing", Clause: "IEEE 802.3 31.4: fixed length", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossy plan: malformed",
		Bound:  "honoured for its time, or ignored: reported which; no other priority; then right pauses stop their priorities and no other",
		Hand:   "send PFC frames of 61, 64, 128 and 1514 bytes into b, and look for the silence of their priority with tcpdump -i b",
		Next:   Times(Exact(2), func(t *Task, k int) *Script { return oddTrial(t, k, longM05) }),
		Judge:  func(t *Task, done []*Record, j *Judge) { j.odd(t, done, longM05, "any") },
	},
	{
		ID: "M06", Title: "a PFC frame with a tag is not believed", Clause: "IEEE 802.3 31.4: MAC Control frames have no tag", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossy plan: malformed",
		Bound:  "all streams at their rate, 0 lost; no frame comes out of a port; then right pauses stop their priorities and no other",
		Hand:   "put 0x8100 and a VID, 0x8100 and a priority, or two tags before 0x8808, send it into b, and count a stream from a to b with tcpdump -i b",
		Next: foreignTrials(func(t *Task) (all []foreign) {
			p := uint32(t.Lossless().First()) << 13
			for _, k := range []struct {
				what string
				tags []uint32
			}{
				{"tag of VLAN 1", []uint32{0x8100_0001 | p}},
				{"priority tag", []uint32{0x8100_0000 | p}},
				{"two tags", []uint32{0x88a8_0001 | p, 0x8100_0001 | p}},
			} {
				c := Pause(0xff, 65535)
				c.Tags, c.Len = k.tags, pfcframe.Len+4*len(k.tags)
				all = append(all, foreign{k.what, c})
			}
			return all
		}),
		Judge: judgeIgnored,
	},
	{
		ID: "M07", Title: "802.3x PAUSE does what the profile says", Clause: "IEEE 802.1Q 36.1.1: PAUSE is off where PFC is on; 802.3 31B", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossy plan: 802.3x ignored; snappi global_pause, test_global_pause_dut_ignore",
		Bound:  "ignore: all streams at their rate, 0 lost; honour: 0 frames of any priority until it is taken back; no frame comes out of a port; then right pauses stop their priorities and no other",
		Hand:   "send PAUSE of 65535 quanta, to 01:80:c2:00:00:01 and to the DUT's port, into b, and count a stream from a to b with tcpdump -i b",
		Next:   Times(func(t *Task) int { return len(pausesM07(t)) + 1 }, m07),
		Judge:  judgeM07,
	},
	{
		ID: "M08", Title: "what is sent to the MAC Control address is forwarded nowhere", Clause: "IEEE 802.1Q table 8-1; 802.3 31.3", Ports: 2,
		Bound: "0 frames come out of any port, while stations are unknown and while they are known",
		Hand:  "send PFC, PAUSE and any EtherType to 01:80:c2:00:00:01 into a, and look for them with tcpdump -i b ether dst 01:80:c2:00:00:01",
		Next:  Times(Exact(2), m08),
		Judge: judgeM08,
	},
	{
		ID: "M09", Title: "random and mutated control frames leave the DUT whole", Clause: "IEEE 802.3 31A, 31D", Ports: 2, Needs: []string{"R01", "R04"},
		Theirs: "SONiC lossy plan: malformed",
		Bound:  "no priority stops that no frame names as the standard reads it; afterwards right pauses stop and resume their priorities, and the DUT sends its own as before (R01, R04, T01)",
		Hand:   "send 20000 PFC frames with random bytes changed into b, and count the streams of priorities that none of them pauses with tcpdump -i b",
		Next:   Times(func(t *Task) int { return 1 + len(guardedM09(t)) + 3 }, m09),
		Judge:  judgeM09,
	},
	{
		ID: "M10", Title: "data is no pause, whatever its payload and its length", Clause: "IEEE 802.3 31.4: a MAC Control frame has the type 0x8808", Ports: 2, Needs: []string{"R01"},
		Theirs: "SONiC lossless plan L06",
		Bound:  "all frames come, once and unchanged; no pause is seen, and no stream is below its rate",
		Hand:   "send UDP whose payload is a PFC frame, and UDP of all lengths up to the MTU, both ways between a and b, and count with tcpdump",
		Next:   Times(Exact(2), m10),
		Judge:  judgeM10,
	},
}

// foreign is a control frame that is to be ignored.
type foreign struct {
	what string
	Control
}

// foreignTrials are a trial of each frame, and one of right pauses.
func foreignTrials(all func(t *Task) []foreign) func(*Task, []*Record) *Script {
	return Times(func(t *Task) int { return len(all(t)) + 1 }, func(t *Task, k int) *Script {
		if kinds := all(t); k < len(kinds) {
			return ignoredScript(t, kinds[k].what, t.Frame(kinds[k].Control, 1))
		}
		return rightPauses(t)
	})
}

func addressesM01(t *Task) (all []foreign) {
	add := func(what string, dst unit.MAC) {
		c := Pause(0xff, 65535)
		c.Dst = dst
		all = append(all, foreign{"to " + what, c})
	}
	if own := t.Profile.Ports[1].MAC; own != 0 {
		add("the address of the port", own)
	}
	add("a foreign address", StrangerMAC(0, 1))
	add("all stations", 0xffff_ffff_ffff)
	for _, dst := range []unit.MAC{0x0180c2000000, 0x0180c2000002, 0x0180c200000e} {
		add(dst.String(), dst)
	}
	return all
}

// ignoredScript sends frames into port 1 that would stop all priorities there, beside streams of all.
func ignoredScript(t *Task, title string, frames ...Frame) *Script {
	s := t.Script(title)
	d := t.Time(500 * unit.Millisecond)
	s.sendAll(0, 1, 0, d)
	s.Send(backStream(t, 1, 0, d/5))
	s.Phase("before", d/10)
	s.Frames(Train{Name: "frames", Port: 1, Frames: frames, Every: min(t.Quanta(1, 65535)/3, d/50), Stop: s.Now() + d})
	s.Phase("frames", d)
	return s
}

// rightPauses pauses all lossless priorities as R01 does one.
func rightPauses(t *Task) *Script {
	s := t.Script("right pauses afterwards")
	d := t.Storm(300 * unit.Millisecond)
	s.sendAll(0, 1, t.Lossless(), d)
	s.Send(backStream(t, 1, 0, d/2))
	s.Phase("before", d/10)
	s.Storm("storm", 1, t.Lossless(), 65535)
	s.Phase("storm", d)
	s.Release("storm")
	s.Phase("after", d/5)
	return s
}

// judgeIgnored wants frames to have been ignored in all trials but the last, which is of right pauses.
func judgeIgnored(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		if r.Train("storm") != nil {
			j.stopped(t, r)
			continue
		}
		j.unmoved(t, r, "frames", t.Profile.Sendable())
		j.nowhere(t, r)
	}
}

// unmoved wants the streams of a set of priorities at their rate in a phase, and nothing of them lost.
func (j *Judge) unmoved(t *Task, r *Record, phase string, set unit.PrioritySet) {
	for ; set != 0; set &= set - 1 {
		j.AtRate(r, streamOf(set.First()), r.Phase(phase).Window())
		j.Whole(r, streamOf(set.First()))
	}
}

// nowhere wants no control frame of the tester to have come out of a port. One to a single station may,
// though it says nothing to anybody: a bridge forwards what it does not know.
func (j *Judge) nowhere(t *Task, r *Record) {
	var groups, singles uint64
	for i := range r.Seen {
		if s := &r.Seen[i]; s.Own {
			if ether.Dst(s.Frame).IsGroup() {
				groups++
			} else {
				singles++
			}
		}
	}
	j.None(r.Script.Title+": control frames to a group that came out of a port", Only(groups))
	if singles > 0 {
		j.Note("%s: %s came out of other ports", r.Script.Title, unit.Count(singles, "frame"))
	}
}

// vectorM03 is the vector of a trial of M03; the last one is of right pauses.
func vectorM03(t *Task, k int) (vector uint16, ok bool) {
	set := t.Lossless()
	switch c := set.First(); {
	case k == 0:
		return 0xff00 | 1<<c, true
	case k == 1:
		return 0xff00, true
	case k < 2+set.Len():
		return 0x0100 << nth(set, k-2), true
	}
	return 0, false
}

func m03(t *Task, k int) *Script {
	v, ok := vectorM03(t, k)
	if !ok {
		return rightPauses(t)
	}
	s := t.Script(fmt.Sprintf("vector %#04x", v))
	d := t.Storm(500 * unit.Millisecond)
	named := unit.PrioritySet(v)
	s.sendAll(0, 1, named, d)
	s.Send(backStream(t, 1, 0, d/5))
	s.Phase("before", d/10)
	c := Pause(0xff, 65535)
	c.Vector = v
	s.Frames(Train{Name: "frames", Port: 1, Frames: []Frame{t.Frame(c, 1)}, Every: min(t.Quanta(1, 65535)/3, d/50), Stop: s.Now() + d, Last: t.Frame(Pause(0xff, 0), 1)})
	s.Phase("frames", d)
	s.Phase("after", d/5)
	return s
}

func judgeM03(t *Task, done []*Record, j *Judge) {
	for k, r := range done {
		v, ok := vectorM03(t, k)
		if !ok {
			j.stopped(t, r)
			continue
		}
		named := unit.PrioritySet(v)
		j.unmoved(t, r, "frames", t.Profile.Sendable()&^named)
		j.nowhere(t, r)
		left := r.Train("frames").Left
		if named == 0 || len(left) == 0 {
			continue
		}
		c := named.First()
		s := r.Stream(streamOf(c))
		paused := Window{left[0].Plus(t.Allowance(1)), r.Phase("frames").Window().To}
		sent, came := s.LeftIn(paused), s.In(paused)
		if came.Hi == 0 {
			j.None(fmt.Sprintf("%s: frames of priority %d, which it names, while it was paused", r.Script.Title, c), came)
			j.Note("%s pauses priority %d: the reserved bits are not looked at", r.Script.Title, c)
		} else {
			j.Count(fmt.Sprintf("%s: frames of priority %d, which it names, while it was not paused", r.Script.Title, c), came, sent.Lo-min(sent.Lo, 2), sent.Hi+2)
			j.Note("%s is ignored", r.Script.Title)
		}
		j.Whole(r, s.Name)
	}
}

// Lengths of frames that are too short, without FCS, and of frames that are too long. The two shortest end
// before most timers, or all.
var (
	shortM04 = []int{59, 46, 40, 34, 24, 18}
	longM05  = []int{61, 64, 128, 1514}
)

// vectorEnd is where the timers begin.
const vectorEnd = 18

// quantaOdd is that of the frames: not the same if its bytes are swapped.
const quantaOdd = 0x8001

// timesOdd is how often each length is sent: of what lay in a slot before, some happens to look harmless.
const timesOdd = 2

// oddPause is for how long frames of odd lengths pause, and with how many quanta.
func oddPause(t *Task) (quanta uint16, pause unit.Time) {
	quanta = quantaOdd
	for t.Quanta(1, quanta) > t.Patience() {
		quanta = quanta>>1 | 1
	}
	return quanta, t.Quanta(1, quanta)
}

// oddGap is the time between two frames of the priority: many in a pause, and few enough for a buffer.
func (t *Task) oddGap(pause unit.Time) unit.Time {
	n := 80
	if x := t.Profile.Buffer.XOFF; x.Is {
		n = min(n, max(4, x.N/2/t.charge(shortest)))
	}
	return pause / unit.Time(n)
}

// oddTrial sends frames of odd lengths one after the other: trial 0; trial 1 is of right pauses.
func oddTrial(t *Task, k int, lengths []int) *Script {
	if k > 0 {
		return rightPauses(t)
	}
	// That with the highest number: its timer is the first to be cut off.
	c := highest(t.Lossless())
	quanta, pause := oddPause(t)
	s := t.Script("frames of odd lengths")
	s.sendAll(0, 1, 1<<c, pause)
	for _, f := range s.Streams {
		if f.Priority == c {
			f.Lengths, f.Rate = []int{shortest}, max(1, unit.Rate(int64(shortest+unit.WireOverhead)*8*int64(unit.Second)/int64(t.oddGap(pause))))
		}
	}
	s.Send(backStream(t, 1, 0, pause/5))
	s.Phase("before", pause/10)
	at := s.Now()
	train := Train{Name: "frames", Port: 1}
	for range timesOdd {
		for _, n := range lengths {
			f := Pause(1<<c, quanta)
			f.Len = n
			train.Frames, train.At = append(train.Frames, t.Frame(f, 1)), append(train.At, at)
			at += pause * 5 / 4
		}
	}
	s.Frames(train)
	s.Phase("frames", at-s.Now())
	return s
}

// highest is the highest priority of a set.
func highest(s unit.PrioritySet) unit.Priority { return nth(s, s.Len()-1) }

// odd wants each frame of an odd length to have been honoured for its time or ignored, as promised: any,
// honour or ignore.
func (j *Judge) odd(t *Task, done []*Record, lengths []int, promised string) {
	c := highest(t.Lossless())
	_, pause := oddPause(t)
	for _, r := range done {
		if r.Train("storm") != nil {
			j.stopped(t, r)
			continue
		}
		j.unmoved(t, r, "frames", t.Profile.Sendable()&^(1<<c))
		s := r.Stream(streamOf(c))
		j.Whole(r, s.Name)
		var did [2]map[int]bool
		for i := range did {
			did[i] = map[int]bool{}
		}
		for i, left := range r.Train("frames").Left {
			n := lengths[i%len(lengths)]
			what := fmt.Sprintf("%s of PFC: from it to the next frame of priority %d", unit.Count(n, "byte"), c)
			first, ok := s.First(left.Hi + t.Allowance(1))
			if !ok {
				j.True(what, false, "no frame came any more", "at most "+pause.String())
				continue
			}
			silence := first.At.Minus(left)
			frame := t.FrameTime(1, t.MaxFrame())
			whole := n >= vectorEnd+2*(int(c)+1)
			honours := whole && silence.Lo > pause/2
			switch {
			case honours && promised == "ignore", whole && !honours && promised == "honour" && silence.Hi <= pause/2:
				j.True(what, false, silence.String(), "to be "+promised+"d, as the profile promises")
			case honours:
				did[1][n] = true
				j.Time(what+", honoured", silence, pause-pause/50-frame, pause+pause/50+frame+t.Profile.PFC.Slack+2*t.Profile.Buffer.Delay)
			default:
				did[0][n] = true
				j.Time(what+", ignored", silence, 0, t.Allowance(1)+2*t.oddGap(pause))
			}
		}
		for _, n := range lengths {
			switch {
			case did[0][n] && did[1][n]:
				j.Note("%s: honoured and ignored, by turns", unit.Count(n, "byte"))
			case did[0][n]:
				j.Note("%s: ignored", unit.Count(n, "byte"))
			case did[1][n]:
				j.Note("%s: honoured", unit.Count(n, "byte"))
			}
		}
	}
}

// pausesM07 are the PAUSE frames of M07, by whom they are sent to.
func pausesM07(t *Task) (dsts []unit.MAC) {
	dsts = []unit.MAC{groupMAC}
	if own := t.Profile.Ports[1].MAC; own != 0 {
		dsts = append(dsts, own)
	}
	return dsts
}

func m07(t *Task, k int) *Script {
	dsts := pausesM07(t)
	if k == len(dsts) {
		return rightPauses(t)
	}
	title := "PAUSE to " + dsts[k].String()
	pause, resume := Pause8023(65535), Pause8023(0)
	pause.Dst, resume.Dst = dsts[k], dsts[k]
	if t.Profile.PFC.Pause8023 != "honour" {
		return ignoredScript(t, title, t.Frame(resume, 1), t.Frame(pause, 1), t.Frame(pause, 1))
	}
	s := t.Script(title)
	d := t.Storm(500 * unit.Millisecond)
	s.sendAll(0, 1, 0xff, d)
	s.Send(backStream(t, 1, 0, d/5))
	s.Phase("before", d/10)
	long := t.Quanta(1, 65535)
	s.Frames(Train{Name: "storm", Port: 1, Frames: []Frame{t.Frame(pause, 1)}, Every: long / 3, Stop: s.Now() + d, Last: t.Frame(resume, 1), Set: 0xff, Pause: long})
	s.Phase("storm", d)
	s.Phase("after", d/5)
	return s
}

func judgeM07(t *Task, done []*Record, j *Judge) {
	if t.Profile.PFC.Pause8023 != "honour" {
		judgeIgnored(t, done, j)
		return
	}
	for _, r := range done {
		j.stopped(t, r)
		j.nowhere(t, r)
	}
}

// framesM08 is how many of each kind are sent.
const framesM08 = 1000

func m08(t *Task, k int) *Script {
	title := "to the MAC Control address, stations unknown"
	if k > 0 {
		title = "to the MAC Control address, stations known"
	}
	s := t.Script(title)
	s.Strangers = k == 0
	every := 100 * unit.Microsecond
	resume, pause, other := Pause(0xff, 0), Pause8023(0), Control{Dst: groupMAC, Src: OwnMAC, Type: 0x88b5, Len: pfcframe.Len}
	for p := range t.Profile.Ports {
		s.Frames(Train{Name: fmt.Sprintf("into %s", t.Profile.Ports[p].Name), Port: p, Every: every, Count: 3 * framesM08, Frames: []Frame{t.Frame(resume, p), t.Frame(pause, p), t.Frame(other, p)}})
	}
	s.Phase("frames", 3*framesM08*every)
	s.Phase("quiet", t.Time(100*unit.Millisecond))
	return s
}

func judgeM08(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		sent := 0
		for i := range r.Trains {
			sent += len(r.Trains[i].Left)
		}
		var n uint64
		for i := range r.Seen {
			if r.Seen[i].Own {
				n++
			}
		}
		j.None(fmt.Sprintf("%s: frames that came out of a port, of %d", r.Script.Title, sent), Only(n))
	}
}

// guardedM09 are the priorities that no frame of a trial may stop, besides lossy ones: one lossless
// priority each, while frames may pause the others; all at once where a watchdog would act on these.
func guardedM09(t *Task) (all []unit.PrioritySet) {
	if t.Profile.Watchdog != nil {
		return []unit.PrioritySet{t.Lossless()}
	}
	for set := t.Lossless(); set != 0; set &= set - 1 {
		all = append(all, 1<<set.First())
	}
	return all
}

// partsM09 is into how many phases the frames are divided, so that a pause that is over before the end is
// seen, too.
const partsM09 = 10

func m09(t *Task, k int) *Script {
	guarded := guardedM09(t)
	switch k - 1 - len(guarded) {
	case 0:
		return rightPauses(t)
	case 1:
		return r04(t, 0)
	case 2, -1 - len(guarded):
		return stopAndGo(t, t.Lossless().First())
	}
	guard := guarded[k-1]
	s := t.Script(fmt.Sprintf("random control frames, none for priorities %v", guard))
	n := t.Frames(20000, 5000)
	// No faster than a control frame among 20 of the shortest: that is no flood.
	every := 20 * t.FrameTime(1, ether.MinLen)
	d := unit.Time(n) * every
	others := t.Lossless() &^ guard
	s.sendAll(0, 1, others, d)
	s.Send(backStream(t, 1, 0, d/5))
	s.Phase("before", d/20)
	train := Train{Name: "frames", Port: 1, Every: every, Count: n}
	z := t.Random("M09", k)
	for range n {
		train.Frames = append(train.Frames, t.randomControl(&z, guard))
	}
	s.Frames(train)
	for i := range partsM09 {
		s.Phase(fmt.Sprintf("part %d", i+1), d/partsM09)
	}
	if others != 0 {
		s.Once("resume", 1, Pause(others, 0))
	}
	s.Phase("after", d/20)
	return s
}

// randomControl is a control frame that is right but for what was changed at random, or is random bytes
// behind its source. It pauses no priority of a set, however a DUT reads it that keeps to the standard.
func (t *Task) randomControl(z *stat.Rand, guarded unit.PrioritySet) Frame {
	pick := func(of ...int) int { return of[z.Below(len(of))] }
	c := Pause(unit.PrioritySet(z.Next()>>24), uint16(z.Next()>>24))
	if z.Below(4) == 0 {
		c = Pause8023(uint16(z.Next() >> 24))
	}
	for range 1 + z.Below(3) {
		switch z.Below(8) {
		case 0:
			c.Dst = unit.MAC([]uint64{0x0180c2000000, 0x0180c200000e, 0xffffffffffff, uint64(StationMAC(0)), uint64(t.Profile.Ports[1].MAC), z.Next() >> 16}[z.Below(6)])
		case 1:
			for range 1 + z.Below(2) {
				c.Tags = append(c.Tags, uint32(pick(0x8100, 0x88a8))<<16|uint32(z.Below(1<<16)))
			}
		case 2:
			c.Type = uint16(pick(0x8809, 0x88b5, 0x0888, 60, z.Below(1<<16)))
		case 3:
			c.Opcode = uint16(pick(0x0000, 0x0001, 0x0100, 0x0102, 0x0201, 0xffff, z.Below(1<<16)))
		case 4:
			c.Vector = uint16(z.Below(1 << 16))
		case 5:
			for i := range c.Timers {
				c.Timers[i] = uint16(z.Below(1 << 16))
			}
		case 6:
			c.Len = pick(61, 64, 100, 128, 1514, 60+z.Below(100))
			if t.Tiny {
				c.Len = pick(c.Len, 14, 16, 18, 20, 34, 46, 59, 14+z.Below(46))
			}
		}
	}
	f := t.Frame(c, 1)
	for range z.Below(4) { // bytes behind the addresses
		f[12+z.Below(len(f)-12)] = byte(z.Next() >> 24)
	}
	if z.Below(8) == 0 {
		for i := 12 + 2*z.Below(2); i < len(f); i++ {
			f[i] = byte(z.Next() >> 24)
		}
	}
	return t.guard(f, guarded)
}

// guard changes a frame that pauses a priority of a set, or may: its bits are cleared, and a PAUSE that the
// profile says to be honoured becomes an opcode that nobody knows.
func (t *Task) guard(f Frame, set unit.PrioritySet) Frame {
	if len(f) < vectorEnd || binary.BigEndian.Uint16(f[12:]) != pfcframe.EtherType {
		return f
	}
	switch binary.BigEndian.Uint16(f[14:]) {
	case pfcframe.OpcodePFC:
		if ether.Dst(f) == groupMAC {
			f[17] &^= byte(set)
		}
	case pfcframe.OpcodePause:
		if t.Profile.PFC.Pause8023 == "honour" {
			f[15] = 2
		}
	}
	return f
}

func judgeM09(t *Task, done []*Record, j *Judge) {
	guarded := guardedM09(t)
	sent := pausesAt(done[0], 0, t.Lossless().First()) > 0
	for k, r := range done {
		switch k - 1 - len(guarded) {
		case -1 - len(guarded):
			continue // how it was before
		case 0:
			j.stopped(t, r)
			continue
		case 1:
			judgeR04(t, done[k:k+1], j)
			continue
		case 2:
			if sent {
				judgeT01(t, done[k:k+1], j)
			} else {
				j.Note("the DUT sent no pauses before, so that they are not asked for afterwards")
			}
			continue
		}
		guard := guarded[k-1]
		for i := range partsM09 {
			j.unmoved(t, r, fmt.Sprintf("part %d", i+1), t.Lossy()|guard)
		}
		for set := t.Lossless() &^ guard; set != 0; set &= set - 1 {
			j.Whole(r, streamOf(set.First()))
		}
		var n uint64
		for i := range r.Seen {
			if s := &r.Seen[i]; s.Own && ether.Dst(s.Frame) == groupMAC {
				n++
			}
		}
		j.None(fmt.Sprintf("%s: frames to the MAC Control address that came out of a port, of %d", r.Script.Title, len(r.Train("frames").Left)), Only(n))
	}
}

// lengthsM10 are those of the frames of M10, from the shortest to that of the MTU: all that a frame of 1500
// bytes may have, and some of those above.
func lengthsM10(t *Task) (lengths []int) {
	for n := shortest; n < t.MaxFrame(); n++ {
		if n > 1514 {
			n = min(n+63, t.MaxFrame())
		}
		lengths = append(lengths, n)
	}
	if lengths[len(lengths)-1] != t.MaxFrame() {
		lengths = append(lengths, t.MaxFrame())
	}
	return lengths
}

// waysM10 are the streams of M10, by name: their ports.
var waysM10 = map[string][2]int{"there": {0, 1}, "back": {1, 0}}

func m10(t *Task, k int) *Script {
	title, rate, d := "payloads that are PFC frames", t.Rate(0), t.Time(500*unit.Millisecond)
	var lengths []int
	if k > 0 {
		title, lengths, rate = "all lengths", lengthsM10(t), 3*t.Rate(0)
		d = 0
		for _, n := range lengths {
			d += rate.FrameTime(n)
		}
	}
	s := t.Script(title)
	for _, name := range []string{"there", "back"} {
		way := waysM10[name]
		for set := t.Lossless(); set != 0; set &= set - 1 {
			c := set.First()
			f := Stream{Name: fmt.Sprintf("%s %d", name, c), From: way[0], To: way[1], Priority: c, Rate: rate / unit.Rate(t.Lossless().Len())}
			if k == 0 {
				f.Lengths, f.Payload = []int{200}, t.Frame(Pause(0xff, 65535), way[0])
			} else {
				f.Lengths, f.Count = lengths, uint64(len(lengths))
			}
			s.Send(f)
		}
	}
	s.Wait(t.lead())
	s.Phase("frames", d*unit.Time(1+k*(t.Lossless().Len()-1)))
	s.Wait(t.lead())
	return s
}

func judgeM10(t *Task, done []*Record, j *Judge) {
	for _, r := range done {
		for i := range r.Streams {
			s := &r.Streams[i]
			j.Some(fmt.Sprintf("%s: frames of stream %s", r.Script.Title, s.Name), Only(s.Came))
			if r.Script.Streams[i].Count == 0 {
				j.AtRate(r, s.Name, r.Phase("frames").Window())
			}
			j.Whole(r, s.Name)
		}
		var n uint64
		for i := range r.Seen {
			if !r.Seen[i].Own {
				n++
			}
		}
		j.None(r.Script.Title+": control frames of the DUT", Only(n))
	}
}
