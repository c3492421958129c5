package conform

import (
	"strings"
	"testing"

	"softswitch/unit"
)

// A check passes inside its bound, fails outside of it, and is undecided across it; the worst of several
// counts.
func TestThreeValues(t *testing.T) {
	for _, tt := range []struct {
		say  func(j *Judge)
		want Result
	}{
		{func(j *Judge) {}, Undecided},
		{func(j *Judge) { j.Count("", Count{1, 2}, 1, 2) }, Pass},
		{func(j *Judge) { j.Count("", Count{1, 3}, 1, 2) }, Undecided},
		{func(j *Judge) { j.Count("", Count{3, 4}, 1, 2) }, Fail},
		{func(j *Judge) { j.Time("", Span{1, 5}, 0, 5) }, Pass},
		{func(j *Judge) { j.Time("", Span{1, 6}, 0, 5) }, Undecided},
		{func(j *Judge) { j.Time("", Span{6, 7}, 0, 5) }, Fail},
		{func(j *Judge) { j.Time("", Span{6, 7}, 0, 5); j.None("", Only(0)); j.None("", Count{0, 1}) }, Fail},
		{func(j *Judge) { j.None("", Only(0)); j.None("", Count{0, 1}) }, Undecided},
		{func(j *Judge) { j.Share("", 97, 103, 100, 3, 0, "") }, Pass},
		{func(j *Judge) { j.Share("", 97, 104, 100, 3, 0, "") }, Undecided},
		{func(j *Judge) { j.Share("", 104, 104, 100, 3, 0, "") }, Fail},
	} {
		var j Judge
		tt.say(&j)
		if v := j.end(); v.Result != tt.want {
			t.Errorf("%+v, want %s", v, tt.want)
		}
	}
}

func TestWindow(t *testing.T) {
	w := Window{Span{10, 12}, Span{20, 22}}
	s := StreamRecord{Arrivals: []Arrival{{At: Span{5, 6}}, {At: Span{9, 11}}, {At: Span{12, 13}}, {At: Span{19, 20}}, {At: Span{20, 21}}, {At: Span{30, 30}}}}
	if n := s.In(w); n != (Count{2, 4}) {
		t.Errorf("%v", n)
	}
	if q := s.Silence(Exactly(0, 40)); q != 10 {
		t.Errorf("silence of %d, want 10", q)
	}
}

// A storm that began late, or lapsed, and a silence of the control stream, void a trial; 5 of these end the
// case undecided.
func TestVoid(t *testing.T) {
	p, err := Load("good.yaml", []byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	task := &Task{Profile: p}
	pause := task.Quanta(1, 65535)
	for want, left := range map[string]func(start unit.Time) []Span{
		"lapsed": func(start unit.Time) []Span {
			return []Span{{start, start + 1}, {start + pause, start + pause + 2*unit.Microsecond}}
		},
		"late": func(start unit.Time) []Span {
			at := start + task.settling(1)/2 + 1
			return []Span{{at, at}, {at + 1, at + 1}}
		},
	} {
		s := NewSession(task, []*Case{Find("R01")})
		for n := 0; s.Next() != nil; n++ {
			script := s.Next()
			r := &Record{Streams: make([]StreamRecord, len(script.Streams)), Trains: make([]TrainRecord, len(script.Trains))}
			r.Trains[0].Left = left(script.Trains[0].Start)
			if s.Add(r); n > repeats {
				t.Fatal("a trial is played for ever")
			}
		}
		if o := s.Outcomes()[0]; o.Result != Undecided || !strings.Contains(o.Reason, want) {
			t.Errorf("%+v, want it to say %q", o.Verdict, want)
		}
	}
}

// A case that is undecided is played again live, and one that fails is not.
func TestPlayedAgain(t *testing.T) {
	p, err := Load("good.yaml", []byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		live  bool
		count []Count // of each attempt, where none is wanted
		want  Result
	}{
		{true, []Count{{0, 1}, {0, 0}}, Pass},
		{true, []Count{{0, 1}, {1, 1}}, Fail},
		{true, []Count{{1, 1}}, Fail},
		{true, []Count{{0, 1}, {0, 1}, {0, 1}}, Undecided},
		{false, []Count{{0, 1}}, Undecided},
	} {
		played := 0
		c := &Case{
			ID: "X", Next: Times(Exact(2), func(t *Task, _ int) *Script { return t.Script("nothing") }),
			Judge: func(_ *Task, _ []*Record, j *Judge) { j.None("things", tt.count[played/2-1]) },
		}
		s := NewSession(&Task{Profile: p, Live: tt.live, Uncertain: 1}, []*Case{c})
		for s.Next() != nil {
			played++
			s.Add(&Record{})
		}
		if o := s.Outcomes(); played != 2*len(tt.count) || len(o) != 1 || o[0].Result != tt.want {
			t.Errorf("%+v: %d trials, %+v", tt, played, o)
		}
	}
}

// What fails while a processor stands still proves nothing, and is played again.
func TestFailWhileStandingStill(t *testing.T) {
	p, err := Load("good.yaml", []byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		stalls []unit.Time // of each attempt, of which all would fail
		want   Result
	}{
		{[]unit.Time{tolerable}, Fail},
		{[]unit.Time{tolerable + 1, 0}, Fail},
		{[]unit.Time{tolerable + 1, tolerable + 1, tolerable + 1}, Undecided},
	} {
		c := &Case{
			ID: "X", Next: Times(Exact(1), func(t *Task, _ int) *Script { return t.Script("nothing") }),
			Judge: func(_ *Task, _ []*Record, j *Judge) { j.None("things", Only(1)) },
		}
		s, played := NewSession(&Task{Profile: p, Live: true, Uncertain: 1}, []*Case{c}), 0
		for s.Next() != nil {
			s.Add(&Record{End: unit.Second, Stalls: []Stall{{From: 100, To: 100 + tt.stalls[played]}}})
			played++
		}
		if o := s.Outcomes()[0]; o.Result != tt.want || played != len(tt.stalls) {
			t.Errorf("%+v: %d attempts, %s: %s", tt, played, o.Result, o.Reason)
		}
	}
}

// A case whose DUT waits for the tester's processors has failed if it fails three times before it passes, and is
// undecided if it fails less often.
func TestFailOnTheSameMachine(t *testing.T) {
	none, one, unsure := Count{0, 0}, Count{1, 1}, Count{0, 1}
	for _, tt := range []struct {
		same bool
		lost []Count // in each attempt
		want Result
	}{
		{false, []Count{one}, Fail},
		{false, []Count{unsure, one}, Fail},
		{true, []Count{none}, Pass},
		{true, []Count{unsure, none}, Pass},
		{true, []Count{one, none}, Undecided},
		{true, []Count{one, one, none}, Undecided},
		{true, []Count{one, one, one}, Fail},
		{true, []Count{unsure, one, one, one}, Fail},
		{true, []Count{one, unsure, one, unsure, one}, Fail},
		{true, []Count{one, unsure, one, unsure, unsure}, Undecided},
		{true, []Count{unsure, unsure, unsure}, Undecided},
	} {
		p, err := Load("good.yaml", []byte(goodProfile))
		if err != nil {
			t.Fatal(err)
		}
		p.SameMachine = tt.same
		played := 0
		c := &Case{
			ID: "X", Next: Times(Exact(1), func(t *Task, _ int) *Script { return t.Script("nothing") }),
			Judge: func(_ *Task, _ []*Record, j *Judge) { j.None("frames lost", tt.lost[played-1]) },
		}
		s := NewSession(&Task{Profile: p, Live: true, Uncertain: 1}, []*Case{c})
		for s.Next() != nil {
			s.Add(&Record{})
			played++
		}
		if o := s.Outcomes()[0]; o.Result != tt.want || played != len(tt.lost) {
			t.Errorf("%+v: %d attempts, %s: %s", tt, played, o.Result, o.Reason)
		}
	}
}
