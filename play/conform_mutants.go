package play

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"softswitch/conform"
	"softswitch/conform/mutant"
	"softswitch/dataplane"
	"softswitch/internal/progress"
	"softswitch/unit"
)

// ConformMutant is what became of a planted defect in a case that is to find it.
type ConformMutant struct {
	Number  int             `json:"number"`
	Defect  string          `json:"defect"`
	Outcome conform.Outcome `json:"outcome"`
}

// ConformMutantsFound are the planted defects, each with a case that is to find it.
type ConformMutantsFound []ConformMutant

// ConformMutants plays each defect that can be put on frames against softswitch's own switch, in virtual
// time, each case by itself.
func ConformMutants(ctx context.Context, seed uint64, out io.Writer) (all ConformMutantsFound, err error) {
	defects := mutant.Defects()
	work := progress.New(ctx, out, "defects", int64(len(defects)))
	defer work.Close()
	for i, d := range defects {
		if err := work.Set(int64(i)); err != nil {
			return nil, err
		}
		for _, id := range d.Cases {
			r, err := ConformSim(ctx, ConformOptions{
				Profile: ConformSelf(), Cases: []*conform.Case{conform.Find(id)}, Seed: seed,
				Wrap: func(m dataplane.Machine) dataplane.Machine { return mutant.New(m, d) },
			}, io.Discard)
			if err != nil {
				return nil, err
			}
			all = append(all, ConformMutant{d.Number, d.Name, r.Cases[0]})
		}
	}
	return all, nil
}

// Caught reports whether each of them failed its case.
func (all ConformMutantsFound) Caught() bool {
	for i := range all {
		if all[i].Outcome.Result != conform.Fail {
			return false
		}
	}
	return true
}

// WriteText writes a line for each.
func (all ConformMutantsFound) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	caught := 0
	for i := range all {
		m := &all[i]
		found := "caught"
		if m.Outcome.Result != conform.Fail {
			found = "NOT CAUGHT"
		} else {
			caught++
		}
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\n", m.Number, m.Defect, m.Outcome.ID, found, m.Outcome.Reason)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d of %s caught\n", caught, unit.Count(len(all), "planted defect"))
	return err
}
