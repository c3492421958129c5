package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/unit"
)

// LatenessCommand is the command of softswitch that runs as a node for a moment and prints
// how late it was, at worst, in nanoseconds: see [TellLateness].
const LatenessCommand = "lateness"

const (
	// lookFor is how long it looks at the machine.
	lookFor = 200 * unit.Millisecond
	// latenessTimes is by how much a run may be later than the look before it, which is
	// shorter. latenessMin is what is expected of a machine that was not late at all: a
	// virtual one stands still for 10 to 30 ms now and then.
	latenessTimes = 8
	latenessMin   = 25 * unit.Millisecond
	// slackMax is about as much as a switch has slots for.
	slackMax = 128 << 20
)

// ScaleHeadroom measures how late the processes of this machine are, and returns p with as
// much slack (config.Buffer) as that asks for, and what was measured. A scenario that says
// how much slack there is keeps it: then p comes back and nothing is measured.
func ScaleHeadroom(ctx context.Context, p *scenario.Plan, progress io.Writer) (*scenario.Plan, unit.Time, error) {
	if p.Scenario.Buffer.Slack != nil {
		return p, 0, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	late, err := netnslab.Lateness(ctx, []string{self, LatenessCommand})
	if err != nil {
		return nil, 0, fmt.Errorf("lab: how late processes are: %w", err)
	}
	n := slack(p, late)
	fmt.Fprintf(progress, "processes wake up to %v late: headroom of %d bytes and %d of slack\n", time.Duration(late).Round(time.Microsecond), *p.Scenario.Buffer.XOFF, n)
	return p.WithSlack(n), late, nil
}

// GiveSlack is ScaleHeadroom for a machine that is not late: the same plan gets the same
// slack, whenever it is asked for.
func GiveSlack(p *scenario.Plan) *scenario.Plan {
	if p.Scenario.Buffer.Slack != nil {
		return p
	}
	return p.WithSlack(slack(p, 0))
}

// TellLateness is what LatenessCommand does.
func TellLateness(w io.Writer) error {
	late, err := netnslab.OwnLateness(lookFor)
	if err == nil {
		_, err = fmt.Fprintln(w, int64(late))
	}
	return err
}

// slack is how many bytes beside the headroom a link can deliver while both its ends are
// late: as late as they may become on a machine that was so late. There is none where a
// link's own round trip is more than headroom lasts for: what is lost then is the scenario's.
func slack(p *scenario.Plan, late unit.Time) (most int) {
	late = min(max(latenessTimes*late, latenessMin), starvedMax)
	xoff := *p.Scenario.Buffer.XOFF
	for _, l := range p.Links {
		if l.Rate > 0 && l.Rate.FrameTime(xoff) < roundTrip(l) {
			return 0
		}
		most = max(most, bytesIn(l.Rate, roundTrip(l)+2*late+live.Granularity)-xoff)
	}
	return min(most, slackMax)
}

// roundTrip is how long the wires of a link take in both directions, at most.
func roundTrip(l scenario.Link) unit.Time {
	f := l.Live()
	return 2 * (f.Delay + f.Jitter)
}

// bytesIn is how many bytes a link of rate r, which is not unlimited, carries in a time.
func bytesIn(r unit.Rate, t unit.Time) int {
	return int(int64(r) / 8 * int64(t/unit.Microsecond) / 1e6)
}

// fastest is the rate of the fastest link that has one, 0 if none has.
func fastest(p *scenario.Plan) (r unit.Rate) {
	for _, l := range p.Links {
		r = max(r, l.Rate)
	}
	return r
}

// Headroom is that of every priority group of a plan's switches in bytes.
func Headroom(p *scenario.Plan) int {
	b := &p.Switches[0].Buffer
	if b.Slack == nil {
		return *b.XOFF
	}
	return *b.XOFF + *b.Slack
}

// headroom is what the verdict says of it.
func (r *Run) headroom(switches []observe.Switch) *verdict.Headroom {
	b := &r.Plan.Switches[0].Buffer
	h := &verdict.Headroom{
		Bytes: *b.XOFF, Slack: Headroom(r.Plan) - *b.XOFF, Scaled: b.Slack != r.Plan.Scenario.Buffer.Slack,
		Lasts: fastest(r.Plan).FrameTime(Headroom(r.Plan)), Lateness: r.Lateness,
	}
	for i := range switches {
		h.Late = max(h.Late, switches[i].Lateness)
		for _, p := range switches[i].Ports {
			for _, g := range p.Group {
				h.Used = max(h.Used, g.HeadroomWatermark-h.Bytes)
			}
		}
	}
	for _, n := range r.Nodes {
		if n.Host != nil {
			h.Late = max(h.Late, n.Host.Lateness)
		}
	}
	return h
}
