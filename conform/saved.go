package conform

import (
	"encoding/json"
	"errors"
	"fmt"

	"softswitch/unit"
)

// Saved is a case that was played, with all that its judge needs: it can be judged again without traffic.
type Saved struct {
	Format    string    `json:"format"` // "conform-record/1"
	Case      string    `json:"case"`
	Live      bool      `json:"live"`
	Tiny      bool      `json:"tiny"`
	Seed      uint64    `json:"seed"`
	Safe      unit.Rate `json:"safe_bps,omitempty"`
	Uncertain unit.Time `json:"uncertain_ns,omitempty"`
	Grain     unit.Time `json:"grain_ns,omitempty"`
	Profile   string    `json:"profile"` // its name
	// Values are what the cases before had found, Frames the different control frames that the DUT had
	// sent, and Sums what the frames of all streams had come to.
	Values []Value   `json:"values,omitempty"`
	Frames []Seen    `json:"frames,omitempty"`
	Sums   Sums      `json:"sums"`
	Trials []*Record `json:"trials"`
}

// savedFormat is the format of a Saved.
const savedFormat = "conform-record/1"

// Save is what is kept of a case.
func (t *Task) Save(o Outcome) ([]byte, error) {
	return json.Marshal(Saved{savedFormat, o.ID, t.Live, t.Tiny, t.Seed, t.Safe, t.Uncertain, t.Grain, t.Profile.Name, t.values, t.frames, t.sums, o.Trials})
}

// JudgeSaved judges what Save kept, of a DUT with this profile.
func JudgeSaved(p *Profile, name string, data []byte) (o Outcome, err error) {
	var s Saved
	if err := json.Unmarshal(data, &s); err != nil {
		return o, fmt.Errorf("%s: no record of a case: %w", name, err)
	}
	c := Find(s.Case)
	switch {
	case s.Format != savedFormat:
		return o, fmt.Errorf("%s: format %q; want %s", name, s.Format, savedFormat)
	case c == nil:
		return o, fmt.Errorf("%s: case %q: there is none", name, s.Case)
	case s.Profile != p.Name:
		return o, fmt.Errorf("%s: the record is of %q, the profile of %q", name, s.Profile, p.Name)
	case len(s.Trials) == 0:
		return o, fmt.Errorf("%s: no trial", name)
	}
	t := &Task{
		Profile: p, Live: s.Live, Tiny: s.Tiny, Seed: s.Seed, Safe: s.Safe, Uncertain: s.Uncertain, Grain: s.Grain,
		values: s.Values, frames: s.Frames, sums: s.Sums, known: map[seenAs]bool{},
	}
	for _, f := range s.Frames {
		t.known[seenAs{f.Port, f.Len, string(f.Frame)}] = true
	}
	for i, r := range s.Trials {
		if err := r.fits(); err != nil {
			return o, fmt.Errorf("%s: trials[%d]: %w", name, i, err)
		}
		r.Script.task = t
	}
	o = Outcome{ID: c.ID, Title: c.Title, Verdict: Judged(t, c, s.Trials), Trials: s.Trials}
	return o, nil
}

// fits is what a record that was read lacks to be judged.
func (r *Record) fits() error {
	switch s := r.Script; {
	case s == nil:
		return errors.New("script: missing")
	case len(s.Streams) != len(r.Streams):
		return fmt.Errorf("streams: %d; the script has %d", len(r.Streams), len(s.Streams))
	case len(s.Trains) != len(r.Trains):
		return fmt.Errorf("trains: %d; the script has %d", len(r.Trains), len(s.Trains))
	case len(s.Receivers) != len(r.Receivers):
		return fmt.Errorf("receivers: %d; the script has %d", len(r.Receivers), len(s.Receivers))
	}
	return nil
}
