package conform

import (
	"fmt"

	"softswitch/unit"
)

// Script is what the tester does in one trial: data, which is kept with what came of it. All times are from
// its beginning. Ports are indices of the profile's.
//
// A case makes one with Task.Script and its verbs, which move a time on from verb to verb, as a script
// for the stage is read:
//
//	s := t.Script("pause and resume")
//	s.Send(Stream{Name: "test", From: 0, To: 1, Priority: 3})
//	s.Phase("before", 100*unit.Millisecond)
//	s.Storm("storm", 1, 1<<3, 65535)
//	s.Phase("paused", unit.Second)
//	s.Release("storm")
//	s.Phase("after", 100*unit.Millisecond)
type Script struct {
	Title string `json:"title"`
	// Streams, Trains and Receivers are at work from their Start to their Stop.
	Streams   []*Stream   `json:"streams,omitempty"`
	Trains    []*Train    `json:"trains,omitempty"`
	Receivers []*Receiver `json:"receivers,omitempty"`
	Acts      []Act       `json:"acts,omitempty"`
	Phases    []Phase     `json:"phases,omitempty"`
	// End is when everything has been sent. Then the trial waits until nothing is missing and nothing
	// paused any more, but not for longer than Drain.
	End   unit.Time `json:"end_ns"`
	Drain unit.Time `json:"drain_ns"`
	// Strangers says that no station is made known to the DUT first.
	Strangers bool `json:"strangers,omitempty"`

	task *Task
	at   unit.Time
}

// Phase is a part of a script that its judge looks at.
type Phase struct {
	Name string    `json:"name"`
	From unit.Time `json:"from_ns"`
	To   unit.Time `json:"to_ns"`
}

// Window is the phase as a window, the same whatever the uncertainty.
func (p Phase) Window() Window { return Exactly(p.From, p.To) }

// Obedience is what a stream does about pauses of the DUT.
type Obedience string

// What a stream can do.
const (
	Obeys   Obedience = ""       // as 802.3 has it
	Ignores Obedience = "ignore" // nothing
	Late    Obedience = "late"   // goes on for Stream.Late more
)

// Stream is numbered frames from port to port.
type Stream struct {
	Name     string        `json:"name"`
	From     int           `json:"from_port"`
	To       int           `json:"to_port"`
	Priority unit.Priority `json:"priority"`
	// DSCP of the frames; -1 is that of the priority (the zero value of Send is taken so, too, if the
	// profile has no such code point for it).
	DSCP int `json:"dscp"`
	// ECN is the two bits behind it (RFC 3168, section 5).
	ECN uint8 `json:"ecn,omitempty"`
	// Lengths of the frames in turn, in bytes without FCS and tag, 60 or more; nil: 1000, or the MTU's if
	// that is shorter.
	Lengths []int `json:"lengths,omitempty"`
	// Rate of the stream; 0 is that of Task.Rate; LineRate as fast as the port can.
	Rate  unit.Rate `json:"rate_bps"`
	Start unit.Time `json:"start_ns"`
	Stop  unit.Time `json:"stop_ns"` // 0: at the script's End
	// Count bounds the frames; 0: no bound.
	Count uint64 `json:"count,omitempty"`
	// Only, unless nil, are the times at which it sends.
	Only []Phase   `json:"only,omitempty"`
	Obey Obedience `json:"obey,omitempty"`
	Late unit.Time `json:"late_ns,omitempty"`
	Src  unit.MAC  `json:"src,omitempty"` // 0: that of the port's station
	Dst  unit.MAC  `json:"dst,omitempty"` // 0: that of the station at To, or the gateway's
	// Payload stands behind the stream's record, for frames that are to look like others.
	Payload Frame `json:"payload,omitempty"`
	// Control says that it is there to tell a silence of the DUT from one of the tester: a silence of
	// this stream, longer than Quiet, voids the trial.
	Control bool      `json:"is_control,omitempty"`
	Quiet   unit.Time `json:"quiet_ns,omitempty"`
	// Anywhere says that a frame counts as come at whatever port: its station moves.
	Anywhere bool `json:"anywhere,omitempty"`
	// Tally says that frames are counted, without the time of each.
	Tally bool `json:"tally,omitempty"`
}

// LineRate is the rate of a stream that sends as fast as its port can.
const LineRate unit.Rate = -1

// Train is control frames, or any others, sent as they are.
type Train struct {
	Name string `json:"name"`
	Port int    `json:"port"`
	// Frames are sent in turn.
	Frames []Frame   `json:"frames_hex"`
	Start  unit.Time `json:"start_ns"`
	Every  unit.Time `json:"every_ns,omitempty"`
	Stop   unit.Time `json:"stop_ns,omitempty"`
	// Count is how many are sent; 0: until Stop.
	Count uint64 `json:"count,omitempty"`
	// At, unless nil, are the times of frames, instead of Start, Every and Stop.
	At []unit.Time `json:"at_ns,omitempty"`
	// Last is sent at Stop.
	Last Frame `json:"last,omitempty"`
	// Set is, of a storm, the priorities that its frames pause, and Pause for how long one does: the
	// trial is void if the storm lapsed.
	Set   unit.PrioritySet `json:"set,omitempty"`
	Pause unit.Time        `json:"pause_ns,omitempty"`
}

// Receiver is a station that takes what comes at a rate, and pauses the DUT by what waits with it: a slow
// receiver, or one that is stopped.
type Receiver struct {
	Name  string           `json:"name"`
	Port  int              `json:"port"`
	Set   unit.PrioritySet `json:"set"` // the priorities that it takes slowly, each by itself
	Start unit.Time        `json:"start_ns"`
	Stop  unit.Time        `json:"stop_ns"` // 0: at the script's End; then it takes everything
	// Rates from times on; before the first it takes nothing.
	Rates []RateFrom `json:"rates"`
	// XOFF and XON are how many waiting bytes of a priority pause the DUT and let it go on.
	XOFF   int       `json:"xoff"`
	XON    int       `json:"xon"`
	Quanta uint16    `json:"quanta"`
	Every  unit.Time `json:"every_ns"` // between repetitions
}

// RateFrom is a rate from a time on; LineRate is everything that comes.
type RateFrom struct {
	From unit.Time `json:"from_ns"`
	Rate unit.Rate `json:"rate_bps"`
}

// Deed is what an Act does.
type Deed string

// What the world does at a script's order.
const (
	LinkDown     Deed = "link down"     // of Act.Port
	LinkUp       Deed = "link up"       // of Act.Port
	ReadCounters Deed = "read counters" // of all ports
)

// Act is something that the world around tester and DUT does.
type Act struct {
	At   unit.Time `json:"at_ns"`
	Do   Deed      `json:"do"`
	Port int       `json:"port"`
}

// Script begins a script.
func (t *Task) Script(title string) *Script {
	drain := t.Time(2 * unit.Second)
	if t.Profile.PFC.Resume == "expiry" {
		for p := range t.Profile.Ports {
			drain = max(drain, t.Time(2*unit.Second)+t.Quanta(p, 65535))
		}
	}
	// Stations are made known in the first millisecond of each port.
	return &Script{Title: title, Drain: drain, task: t, at: unit.Time(len(t.Profile.Ports)+1) * unit.Millisecond}
}

// Now is the time that the script has come to.
func (s *Script) Now() unit.Time { return s.at }

// Wait lets a time pass.
func (s *Script) Wait(d unit.Time) { s.at += d; s.End = max(s.End, s.at) }

// Phase lets a time pass, and gives it a name for the judge.
func (s *Script) Phase(name string, d unit.Time) Phase {
	p := Phase{name, s.at, s.at + d}
	s.Phases = append(s.Phases, p)
	s.Wait(d)
	return p
}

// Send begins a stream now, and returns it to be changed.
func (s *Script) Send(f Stream) *Stream {
	f.Start = max(f.Start, s.at)
	if c, named := s.task.Profile.DSCP[0]; f.DSCP == 0 && (!named || c != int(f.Priority)) {
		f.DSCP = -1
	}
	if f.DSCP < 0 {
		if dscp, ok := s.task.Profile.CodePoint(f.Priority); ok {
			f.DSCP = int(dscp)
		} else {
			f.DSCP = 0
		}
	}
	if f.Lengths == nil {
		f.Lengths = []int{min(1000, s.task.MaxFrame())}
	}
	switch f.Rate {
	case 0:
		f.Rate = s.task.Rate(f.From)
	case LineRate:
		f.Rate = s.task.Profile.Ports[f.From].Speed
	}
	s.Streams = append(s.Streams, &f)
	return &f
}

// Halt ends a stream now.
func (s *Script) Halt(name string) {
	for _, f := range s.Streams {
		if f.Name == name {
			f.Stop = s.at
		}
	}
}

// Frames sends a train from now on: as the train says.
func (s *Script) Frames(t Train) *Train {
	t.Start = max(t.Start, s.at)
	s.Trains = append(s.Trains, &t)
	return &t
}

// Once sends one control frame now.
func (s *Script) Once(name string, port int, c Control) *Train {
	return s.Frames(Train{Name: name, Port: port, Frames: []Frame{s.task.Frame(c, port)}, Count: 1})
}

// Storm pauses priorities at a port of the DUT from now on, with a repetition at each third of the pause,
// until Release.
func (s *Script) Storm(name string, port int, set unit.PrioritySet, quanta uint16) *Train {
	pause := s.task.Quanta(port, quanta)
	return s.Frames(Train{
		Name: name, Port: port, Frames: []Frame{s.task.Frame(Pause(set, quanta), port)},
		Every: max(pause/3, 1), Set: set, Pause: pause,
	})
}

// Release ends a storm now, with a frame of quanta 0.
func (s *Script) Release(name string) {
	for _, t := range s.Trains {
		if t.Name == name {
			t.Stop, t.Last = s.at, s.task.Frame(Pause(t.Set, 0), t.Port)
		}
	}
}

// Lapse ends a storm now: the last pause runs out.
func (s *Script) Lapse(name string) {
	for _, t := range s.Trains {
		if t.Name == name {
			t.Stop = s.at
		}
	}
}

// Receive puts a slow receiver at a port from now on.
func (s *Script) Receive(r Receiver) *Receiver {
	r.Start = max(r.Start, s.at)
	if r.Quanta == 0 {
		r.Quanta = 65535
	}
	if r.Every == 0 {
		r.Every = max(s.task.Quanta(r.Port, r.Quanta)/3, 1)
	}
	s.Receivers = append(s.Receivers, &r)
	return &r
}

// Do has the world do something now.
func (s *Script) Do(d Deed, port int) { s.Acts = append(s.Acts, Act{s.at, d, port}) }

// finish fills in what only the end of a script tells, and panics on what cannot be played: a fault of
// the case.
func (s *Script) finish() *Script {
	bad := func(format string, args ...any) { panic("conform: " + s.Title + ": " + fmt.Sprintf(format, args...)) }
	ports := len(s.task.Profile.Ports)
	for _, f := range s.Streams {
		if f.Stop == 0 {
			f.Stop = s.End
		}
		if f.From == f.To || f.From < 0 || f.From >= ports || f.To < 0 || f.To >= ports {
			bad("stream %s from port %d to port %d", f.Name, f.From, f.To)
		}
		for _, n := range f.Lengths {
			if n < shortest || n > s.task.MaxFrame() {
				bad("stream %s: a frame of %d bytes", f.Name, n)
			}
		}
	}
	for _, t := range s.Trains {
		if t.Stop == 0 && t.Count == 0 && t.At == nil {
			t.Stop = s.End
		}
		if len(t.Frames) == 0 || t.Every == 0 && t.At == nil && t.Count != 1 {
			bad("train %s has no frames, or no distance between them", t.Name)
		}
	}
	for _, r := range s.Receivers {
		if r.Stop == 0 {
			r.Stop = s.End
		}
	}
	return s
}
