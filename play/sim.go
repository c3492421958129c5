package play

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"softswitch/detect/catalog"
	"softswitch/event"
	"softswitch/internal/progress"
	"softswitch/internal/safefile"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
	"softswitch/view/ui"
)

// SimOptions are the settings of a simulated run.
type SimOptions struct {
	Seed   uint64
	Trace  string // file for every event; "" for none
	Pcap   string // file for every frame; "" for none
	HTML   string // file that plays the run in a browser; "" for none
	Page   bool   // shows it in a browser, until ctx ends
	Listen string // address of the page
}

// Sim plays a scenario and calls tell with its verdict, then shows it until ctx ends
// if the page was asked for. It also returns tell's error.
func Sim(ctx context.Context, plan *scenario.Plan, opt SimOptions, out io.Writer, tell func(*verdict.Verdict) error) (err error) {
	work := progress.New(ctx, out, "simulated ns", int64(plan.Scenario.Duration))
	defer work.Close()
	s := sim.Options{
		Seed: opt.Seed, Detectors: catalog.Factories(),
		Watch: func(now unit.Time) error { return work.Set(int64(now)) },
	}
	closeTrace, err := traceTo(opt.Trace, &s)
	if err != nil {
		return err
	}
	closePcap, err := captureTo(opt.Pcap, &s)
	if err != nil {
		return errors.Join(err, closeTrace())
	}
	stream := new(ui.Stream)
	closeHTML, err := ui.SaveTo(opt.HTML, stream.WriteHTML)
	if err != nil {
		return errors.Join(err, closeTrace(), closePcap())
	}
	var page *ui.Page
	if opt.Page {
		if page, err = ui.Open(ctx, opt.Listen, stream, nil, out); err != nil {
			return errors.Join(err, closeTrace(), closePcap(), closeHTML(false))
		}
		defer page.Close()
	}
	play := sim.Play
	if opt.Page || opt.HTML != "" {
		play = func(plan *scenario.Plan, opt sim.Options) (*verdict.Verdict, error) {
			return ui.Simulate(plan, opt, stream)
		}
	}
	v, err := play(plan, s)
	if cerr := errors.Join(closeTrace(), closePcap(), closeHTML(err == nil)); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	err = tell(v)
	page.AwaitEnd(ctx, out)
	return err
}

// traceTo makes a simulation with opt write every event to the file, unless path is
// empty. end closes the file and returns the first error in writing it.
func traceTo(path string, opt *sim.Options) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	out, closeOut, err := create("trace", path)
	if err != nil {
		return nil, err
	}
	var line []byte
	opt.Events = func(n event.Node, e event.Event) {
		line = n.Append(line[:0], e)
		out.Write(line) // an error stays, and Flush tells it
	}
	return func() error { return closeOut(nil) }, nil
}

// create makes a file for what a simulation tells. end closes it, and returns the first error of writing
// it: what was wrong before, err, or what is wrong now. Errors begin with what is in the file.
func create(what, path string) (out *bufio.Writer, end func(err error) error, err error) {
	f, err := safefile.Create(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", what, err)
	}
	out = bufio.NewWriterSize(f, 1<<16)
	return out, func(err error) error {
		if err := errors.Join(err, out.Flush(), f.Close()); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		return nil
	}, nil
}
