package lab

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/topo"
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
	// slackMax bounds the memory that frames of one group may take.
	slackMax = 128 << 20
)

// ScaleHeadroom measures how late the processes of this machine are. It returns p with the
// slack (config.Buffer) that this lateness needs, and the lateness. A scenario that states its
// slack keeps it: then p is returned as it is, and nothing is measured.
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
	fmt.Fprintf(progress, "processes wake up to %v late: headroom of %s bytes and %d of slack\n", time.Duration(late).Round(time.Microsecond), headrooms(p), n)
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

// slack is how many bytes beside its headroom a link can deliver while both its ends are
// late: see bytesWhileLate. There is none where a
// link's own round trip is more than headroom lasts for: what is lost then is the scenario's.
func slack(p *scenario.Plan, late unit.Time) (most int) {
	for i, l := range p.Links {
		xoff, _ := linkHeadroom(p.Scenario, i)
		if l.Rate > 0 && l.Rate.FrameTime(xoff) < roundTrip(l) {
			return 0
		}
		most = max(most, bytesWhileLate(l.Rate, roundTrip(l), late)-xoff)
	}
	return min(most, slackMax)
}

// bytesWhileLate is how many bytes a link of this rate and round trip delivers after a pause while both its
// ends are as late as they may become on a machine that was so late.
func bytesWhileLate(r unit.Rate, trip, late unit.Time) int {
	return bytesIn(r, trip+2*min(max(latenessTimes*late, latenessMin), starvedMax)+live.Granularity)
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

// linkHeadroom is the headroom of a priority group at link i of a scenario in bytes, slack apart: the
// least and the most of the link's switches.
func linkHeadroom(s *scenario.Scenario, i int) (least, most int) {
	least = math.MaxInt
	for _, e := range [2]topo.End{s.Fabric.Links[i].A, s.Fabric.Links[i].B} {
		if s.Fabric.Nodes[e.Node].Kind == topo.Switch {
			n := s.XOFF(e)
			least, most = min(least, n), max(most, n)
		}
	}
	return least, most
}

// bounds are the least and the most headroom of any link, slack apart.
func bounds(p *scenario.Plan) (least, most int) {
	least = math.MaxInt
	for i := range p.Links {
		low, high := linkHeadroom(p.Scenario, i)
		least, most = min(least, low), max(most, high)
	}
	return least, most
}

// headrooms is bounds in words.
func headrooms(p *scenario.Plan) string {
	least, most := bounds(p)
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// slackOf is the slack of every priority group of a plan's switches in bytes.
func slackOf(p *scenario.Plan) int {
	if n := p.Switches[0].Buffer.Slack; n != nil {
		return *n
	}
	return 0
}

// Headroom is the least of any priority group of a plan's switches in bytes, slack included.
func Headroom(p *scenario.Plan) int {
	least, _ := bounds(p)
	return least + slackOf(p)
}

// lasts is how long link i of a plan takes to fill the headroom and the slack of a group.
func lasts(p *scenario.Plan, i int) unit.Time {
	least, _ := linkHeadroom(p.Scenario, i)
	return p.Links[i].Rate.FrameTime(least + slackOf(p))
}

// headroom is what the verdict says of it.
func (r *Run) headroom(switches []observe.Switch) *verdict.Headroom {
	least, _ := bounds(r.Plan)
	h := &verdict.Headroom{
		Bytes: least, Slack: slackOf(r.Plan), Scaled: r.Plan.Switches[0].Buffer.Slack != r.Plan.Scenario.Buffer.Slack,
		Lasts: unit.Never, Lateness: r.Lateness,
	}
	for i := range r.Plan.Links {
		h.Lasts = min(h.Lasts, lasts(r.Plan, i))
	}
	for i := range switches {
		h.Late = max(h.Late, switches[i].Lateness)
		at := slices.IndexFunc(r.Plan.Switches, func(s config.Switch) bool { return s.Name == switches[i].Name })
		for j, p := range switches[i].Ports {
			for _, g := range p.Group {
				h.Used = max(h.Used, g.HeadroomWatermark-r.Plan.Switches[at].XOFFOf(j))
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
