package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"softswitch/internal/progress"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/unit"
	"softswitch/view/ui"
)

// LabOptions are the settings of a run on a lab.
type LabOptions struct {
	Name    string // of the lab
	Pcap    string // directory for a capture of each switch; "" for none
	Capture string // file for one capture of all nodes, from before the flows start; "" for none
	Keep    bool   // leaves the lab up
	Seed    uint32 // by which the run draws; of several runs, the first; 0 is 1
	// Sharing is how nodes share processes, as far as somebody says.
	lab.Sharing
	Replace bool   // removes another lab of the same name first, instead of refusing
	Page    bool   // shows it in a browser, until ctx ends
	Listen  string // address of the page
	HTML    string // file that plays the run in a browser; "" for none
	// Nodes are those to play on, which somebody else built, instead of a lab that is built
	// for the run; nil for none. Pcap is then the nodes' own affair.
	Nodes *lab.Nodes

	seen *ui.Recording // where what a page would show is left; nil for nowhere
}

// Lab builds a lab, plays a scenario on it and removes it. A scenario that a live lab
// cannot play is refused. The error is a [netnslab.ExistsError] if another lab of the name
// is up.
func Lab(ctx context.Context, plan *scenario.Plan, opt LabOptions, out io.Writer) (v *verdict.Verdict, err error) {
	if err := lab.Refuse(plan.Scenario); err != nil {
		return nil, err
	}
	if opt.Sharing, err = opt.Sharing.Of(plan); err != nil {
		return nil, err
	}
	if opt.Nodes == nil {
		if err := netnslab.Allowed(); err != nil { // before anything is measured or said
			return nil, err
		}
	}
	if w := lab.LogWarning(plan); w != "" {
		fmt.Fprintln(out, "warning:", w)
	}
	ctx, out = progress.WhileWatched(ctx, out)
	page, save, err := opt.page(ctx, out)
	if err != nil {
		return nil, err
	}
	defer page.Close()
	defer func() {
		if v == nil {
			err = errors.Join(err, save(false))
		}
	}()
	late := unit.Time(0)
	if opt.Nodes == nil {
		plan = plan.Drawn(uint64(cmp.Or(opt.Seed, 1)))
		if plan, late, err = lab.ScaleHeadroom(ctx, plan, out); err != nil {
			return nil, err
		}
	}
	st, err := opt.up(ctx, plan, out)
	if err != nil {
		return nil, err
	}
	if !opt.Keep {
		defer func() { err = errors.Join(err, st.Remove(out)) }()
	}
	if opt.Page {
		if err := page.AwaitViewer(ctx, out); err != nil {
			return nil, err
		}
	}
	end, err := opt.capture(ctx, st.Name, out)
	if err != nil {
		return nil, err
	}
	run, err := lab.Play(ctx, plan, st, out, page.Until)
	if err := errors.Join(err, end()); err != nil {
		return nil, err
	}
	run.Lateness, run.Polled = late, opt.Poll
	if v, err = run.Verdict(); err != nil {
		return nil, err
	}
	truth := "the run is over; deadlock: " + v.Truth()
	page.Judged(truth)
	if err := save(true); err != nil {
		return nil, err
	}
	if opt.seen != nil {
		if *opt.seen, err = page.Recording(); err != nil {
			return nil, err
		}
	}
	if opt.Page {
		fmt.Fprintln(out, truth)
		page.AwaitEnd(ctx, out)
	}
	return v, nil
}

// capture begins to capture on all nodes, if a file for it was named; end ends that.
func (opt *LabOptions) capture(ctx context.Context, name string, out io.Writer) (end func() error, err error) {
	if opt.Capture == "" {
		return func() error { return nil }, nil
	}
	ctx, stop := context.WithCancel(ctx)
	c := lab.Capture{Name: name, File: opt.Capture, Log: out}
	write, err := c.Begin(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	done := make(chan error, 1)
	go func() {
		_, err := write()
		done <- err
	}()
	return func() error {
		stop()
		return <-done
	}, nil
}

// page is the page of the lab, nil if none was asked for, and save ends its file.
func (opt *LabOptions) page(ctx context.Context, out io.Writer) (page *ui.Page, save func(played bool) error, err error) {
	switch {
	case opt.Page:
		page, err = OpenPage(ctx, opt.Name, opt.Listen, out)
	case opt.HTML != "" || opt.seen != nil:
		page = ui.FollowLab(ctx, opt.Name)
	}
	if err != nil || page == nil {
		return nil, func(bool) error { return nil }, err
	}
	if save, err = page.SaveTo(opt.HTML); err != nil {
		return nil, nil, errors.Join(err, page.Close())
	}
	return page, save, nil
}

// OpenPage serves the page of the lab of a name, which need not be up yet.
func OpenPage(ctx context.Context, name, listen string, out io.Writer) (*ui.Page, error) {
	return ui.OpenLab(ctx, name, listen, func(st *netnslab.State) ui.Orders { return lab.OrdersTo(st) }, out)
}

// up builds the lab, or makes one of the nodes that are there.
func (opt *LabOptions) up(ctx context.Context, plan *scenario.Plan, out io.Writer) (*netnslab.State, error) {
	if opt.Nodes != nil {
		fmt.Fprintf(out, "reaching %s\n", unit.Count(len(plan.Switches)+len(plan.Hosts), "node"))
		return opt.Nodes.Attach(ctx, plan, !opt.Keep, opt.Replace, out)
	}
	desc, err := lab.DescribeHere(plan, lab.Options{
		Name: opt.Name, Instance: time.Now().Format(time.RFC3339Nano), PcapDir: opt.Pcap,
		Sharing: opt.Sharing, Seed: opt.Seed,
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "building a lab of %s, %s, %s\n", unit.Count(len(plan.Switches), "switch"), unit.Count(len(plan.Hosts), "host"), unit.Count(len(plan.Links), "link"))
	desc.Replace, desc.Passing = opt.Replace, !opt.Keep
	return netnslab.Up(ctx, desc, out)
}

// QuietLab plays plans on a lab of this name without printing progress.
func QuietLab(name string) func(context.Context, *scenario.Plan) (*verdict.Verdict, error) {
	return func(ctx context.Context, plan *scenario.Plan) (*verdict.Verdict, error) {
		return Lab(ctx, plan, LabOptions{Name: name}, io.Discard)
	}
}

// RepeatLab plays a scenario this many times, each in a new lab and with the next seed, and sums up.
func RepeatLab(ctx context.Context, plan *scenario.Plan, opt LabOptions, times int, out io.Writer) (*verdict.Summary, error) {
	var runs []*verdict.Verdict
	if w := lab.LogWarning(plan); w != "" && lab.Refuse(plan.Scenario) == nil {
		fmt.Fprintln(out, "warning:", w)
	}
	opt.Seed = cmp.Or(opt.Seed, 1)
	for i := range times {
		fmt.Fprintf(out, "run %d of %d\n", i+1, times)
		v, err := Lab(ctx, plan, opt, io.Discard)
		opt.Seed++
		if err != nil {
			return nil, err
		}
		runs = append(runs, v)
	}
	sum := verdict.Summarize(runs)
	return &sum, nil
}
