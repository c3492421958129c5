package frames

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"softswitch/dataplane"
	"softswitch/internal/progress"
	"softswitch/internal/stat"
	"softswitch/unit"
)

// Run is a number of frames to feed.
type Run struct {
	N        uint64
	Seed     uint64
	First    uint64 // the first epoch
	Workers  int
	Progress io.Writer
}

// EpochFrames is how many frames one switch is fed.
const EpochFrames = 1_000_000

// NMax is the most frames of a run.
const NMax = 1e13

// Check says which setting of a run is out of range, and names it by its flag of "softswitch sim frames".
func (r *Run) Check() error {
	switch {
	case r.N < 1 || r.N > NMax:
		return fmt.Errorf("--n: %d; valid: 1 to %d", r.N, uint64(NMax))
	case r.Workers < 1 || r.Workers > 1024:
		return fmt.Errorf("--workers: %d; valid: 1 to 1024", r.Workers)
	}
	return nil
}

// Finding is an epoch in which something did not hold.
type Finding struct {
	Epoch uint64 `json:"epoch"`
	Why   string `json:"why"`
}

// Report is the result of a run.
type Report struct {
	Seed     uint64            `json:"seed"`
	Frames   uint64            `json:"frames"`
	Epochs   int               `json:"epochs"`
	Seconds  float64           `json:"seconds"`
	Rate     float64           `json:"frames_per_second"`
	Data     uint64            `json:"data"`
	Messages uint64            `json:"messages"`
	Pauses   uint64            `json:"pauses"`
	Sent     uint64            `json:"sent"`
	Drops    map[string]uint64 `json:"drops"` // and what was odd, by reason
	Findings []Finding         `json:"findings"`
}

// Play feeds all frames. It ends early only with ctx, whose error it returns.
func (r *Run) Play(ctx context.Context) (*Report, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	epochs := int((r.N + EpochFrames - 1) / EpochFrames)
	report := &Report{Seed: r.Seed, Epochs: epochs, Drops: map[string]uint64{}, Findings: []Finding{}}
	var mu sync.Mutex
	var all Counts
	begun := time.Now()
	err := progress.Each(ctx, r.Progress, "millions of frames", epochs, r.Workers, func(i int) error {
		n := min(r.N-uint64(i)*EpochFrames, EpochFrames)
		number := r.First + uint64(i)
		counts, why := Epoch(r.Seed, number, int(n))
		mu.Lock()
		defer mu.Unlock()
		stat.Add(&all, &counts)
		if why != "" {
			report.Findings = append(report.Findings, Finding{number, why})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(report.Findings, func(a, b Finding) int { return cmp.Compare(a.Epoch, b.Epoch) })
	report.Seconds = time.Since(begun).Seconds()
	stat.Add(report, &all)
	report.Rate = float64(all.Frames) / report.Seconds
	for reason := range dataplane.Reasons {
		if n := all.Drops[reason]; n > 0 {
			report.Drops[reason.String()] = n
		}
	}
	return report, nil
}

// Epoch feeds n frames of an epoch of a seed. why is what did not hold, "" if all did.
func Epoch(seed, number uint64, n int) (counts Counts, why string) {
	e, err := newEpoch(seed, number)
	if err != nil {
		return counts, err.Error()
	}
	defer func() {
		counts = e.counts
		if p := recover(); p != nil {
			why = fmt.Sprintf("frame %d: panic: %v", e.counts.Frames, p)
		}
	}()
	if err := e.run(n); err != nil {
		why = err.Error()
	}
	return counts, why
}

// Clean reports whether all held.
func (r *Report) Clean() bool { return len(r.Findings) == 0 }

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s in %.0f s, %.2f million a second; seed %d, %s\n\n", unit.Count(r.Frames, "frame"), r.Seconds, r.Rate/1e6, r.Seed, unit.Count(r.Epochs, "switch"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "data\t%d\nmessages\t%d\npauses\t%d\nleft the switch\t%d\n", r.Data, r.Messages, r.Pauses, r.Sent)
	for reason := range dataplane.Reasons {
		if n := r.Drops[reason.String()]; n > 0 {
			what := "dropped"
			if reason.Odd() {
				what = "odd"
			}
			fmt.Fprintf(t, "%s, %s\t%d\n", what, reason, n)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "epoch %d: %s\n", f.Epoch, f.Why)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", unit.Count(len(r.Findings), "finding"))
	return err
}
