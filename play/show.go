package play

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"

	"softswitch/internal/progress"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/view/ui"
)

// ShowFile is the scenario of a show.
//
//go:embed show.yaml
var ShowFile []byte

// Responses are those of the runs of a show: none, one that breaks the loop and does no
// more, one that handles the trigger too.
var Responses = [3]string{"none", "drop", "cure"}

// attempts is how often a run is played until it is valid and has a deadlock.
const attempts = 4

// Record plays plans that differ in the response alone, those of Responses, and makes a
// show of what was seen.
func Record(ctx context.Context, plans [3]*scenario.Plan, opt LabOptions, out io.Writer) (*ui.Show, error) {
	var runs [3]ui.Recording
	err := progress.Each(ctx, out, "runs recorded, some five seconds each", len(plans), 1, func(i int) (err error) {
		fmt.Fprintf(out, "recording run %d of %d, response %s\n", i+1, len(plans), plans[i].Scenario.Response)
		runs[i], err = record(ctx, plans[i], opt, out)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ui.NewShow(runs[0], runs[1], runs[2])
}

// record plays a plan until the run is valid and has a deadlock. The last attempt need not be
// valid: it is shown all the same, and the progress says so.
func record(ctx context.Context, plan *scenario.Plan, opt LabOptions, out io.Writer) (seen ui.Recording, err error) {
	opt.seen = &seen
	for n := range attempts {
		var v *verdict.Verdict
		if v, err = Lab(ctx, plan, opt, io.Discard); err != nil {
			return seen, err
		}
		doubt := v.Invalid
		if !v.Deadlock {
			doubt = "no deadlock formed"
		}
		if doubt == "" {
			return seen, nil
		}
		fmt.Fprintf(out, "attempt %d of %d: %s\n", n+1, attempts, doubt)
		if v.Deadlock && n == attempts-1 {
			return seen, nil
		}
	}
	return seen, fmt.Errorf("show: response %s: no deadlock formed in %d attempts", plan.Scenario.Response, attempts)
}

// Show records a show, as Record does, and serves it until ctx ends, or writes it to the
// file opt.HTML, if there is one.
func Show(ctx context.Context, plans [3]*scenario.Plan, opt LabOptions, out io.Writer) error {
	if opt.HTML != "" {
		return saveShow(ctx, plans, opt, out)
	}
	show := new(ui.Show)
	srv, err := ui.ListenShow(opt.Listen, show)
	if err != nil {
		return err
	}
	recorded, err := Record(ctx, plans, opt, out)
	if err != nil {
		return errors.Join(err, srv.Close())
	}
	*show = *recorded
	page := ui.Serve(ctx, srv, out)
	fmt.Fprintln(out, "the space bar goes on; Ctrl-C ends the show")
	<-ctx.Done()
	return page.Close()
}

// saveShow records a show and writes it to opt.HTML.
func saveShow(ctx context.Context, plans [3]*scenario.Plan, opt LabOptions, out io.Writer) error {
	var show *ui.Show
	save, err := ui.SaveTo(opt.HTML, func(w io.Writer) error { return show.WriteHTML(w) })
	if err != nil {
		return err
	}
	opt.HTML = ""
	if show, err = Record(ctx, plans, opt, out); err != nil {
		return errors.Join(err, save(false))
	}
	return save(true)
}
