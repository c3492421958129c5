package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"softswitch/internal/control"
	"softswitch/lab"
	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/unit"
	"softswitch/view/show"
)

// NICLab is a lab whose hosts are NICs for programs, and what its nodes said when they were asked last.
type NICLab struct {
	Plan     *scenario.Plan
	State    *netnslab.State
	Hosts    []netnslab.NodeState // in the order of Plan
	Switches []control.Endpoint
	NICs     []observe.NIC
	Stats    []observe.Switch // by switch
}

// UpNICs builds the lab of a plan, with headroom for this machine. The caller removes its State.
func UpNICs(ctx context.Context, plan *scenario.Plan, name string, out io.Writer) (_ *NICLab, err error) {
	l := &NICLab{}
	if l.Plan, _, err = lab.ScaleHeadroom(ctx, plan, out); err != nil {
		return nil, err
	}
	desc, err := lab.DescribeHere(l.Plan, lab.Options{Name: name, Instance: time.Now().Format(time.RFC3339Nano)})
	if err != nil {
		return nil, err
	}
	desc.Passing = true
	if l.State, err = netnslab.Up(ctx, desc, out); err != nil {
		return nil, err
	}
	switches, err := lab.PickSwitches(l.State, nil)
	if err == nil {
		l.Hosts, err = lab.PickNICs(l.State, nil)
	}
	if err != nil {
		return nil, errors.Join(err, l.State.Remove(out))
	}
	l.Switches = lab.Endpoints(switches)
	return l, nil
}

// Ask asks all nodes what they have counted.
func (l *NICLab) Ask(ctx context.Context) (err error) {
	if _, l.NICs, err = control.AskAll(ctx, lab.Endpoints(l.Hosts), client.Stats[observe.NIC]); err != nil {
		return err
	}
	_, l.Stats, err = control.AskAll(ctx, l.Switches, client.Stats[observe.Switch])
	return err
}

// Lost is how many frames the fabric lost, and NICs of what it brought them.
func (l *NICLab) Lost() (frames uint64) {
	for i := range l.Stats {
		lossless, lossy, ring := show.FabricLoss(&l.Stats[i])
		frames += lossless + lossy + ring
	}
	for i := range l.NICs {
		n := l.NICs[i].OnArrival
		frames += n.Lossless + n.Lossy + n.Ring
	}
	return frames
}

// TooBusy says that what was lost proves nothing, since the nodes waited longer for a processor than the
// headroom lasts; "" if they did not.
func (l *NICLab) TooBusy() string {
	late, lasts := l.lateness(), l.headroomLasts()
	if late <= lasts {
		return ""
	}
	return fmt.Sprintf("the headroom lasts %s ms, and the ends of a link had to wait %s ms for a processor: the machine is too busy", show.Milliseconds(lasts), show.Milliseconds(late))
}

// lateness is for how long, at worst, the far end of a link did not stop, as in a run of a
// scenario: both ends may have missed deadlines, and frames leave in bursts.
func (l *NICLab) lateness() (worst unit.Time) {
	late := map[string]unit.Time{}
	for i := range l.Stats {
		late[l.Stats[i].Name] = l.Stats[i].Lateness
	}
	for i := range l.NICs {
		late[l.NICs[i].Name] = l.NICs[i].Lateness
	}
	for _, k := range l.Plan.Links {
		worst = max(worst, late[k.A.Name]+late[k.B.Name])
	}
	return worst + live.Granularity
}

// headroomLasts is how long a link takes to fill the headroom of a priority group, of a switch or of a
// NIC, whichever is less.
func (l *NICLab) headroomLasts() unit.Time {
	least := lab.Headroom(l.Plan)
	for _, h := range l.Plan.Hosts {
		least = min(least, h.RxBuffer/4+h.RxSlack)
	}
	return l.Plan.Links[0].Rate.FrameTime(least)
}
