package lab

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"softswitch/node/observe"
	"softswitch/scenario"
	"softswitch/unit"
)

// TestMain makes the test binary the program that ScaleHeadroom asks.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == LatenessCommand {
		if err := TellLateness(os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestSlack: what a look at the machine makes of the headroom of the small plan, 30720 bytes
// at 100 Mbit/s.
func TestSlack(t *testing.T) {
	p := plan(t, "")
	for _, c := range []struct {
		late, lasts unit.Time // with the slack, to 0.1 ms
	}{
		{0, 51 * unit.Millisecond}, // 25 ms at both ends, and the millisecond of a burst
		{3 * unit.Millisecond, 51 * unit.Millisecond},
		{4 * unit.Millisecond, 65 * unit.Millisecond},
		{30 * unit.Millisecond, 201 * unit.Millisecond}, // as late as a valid run is at most
	} {
		q := p.WithSlack(slack(p, c.late))
		if got := q.Links[0].Rate.FrameTime(Headroom(q)); got < c.lasts || got > c.lasts+unit.Millisecond/10 {
			t.Errorf("%d ns late: headroom of %d bytes lasts %d ns, want %d", c.late, Headroom(q), got, c.lasts)
		}
	}
	for rate, want := range map[unit.Rate]int{0: 0, 400_000_000_000: slackMax} {
		fast := *p
		fast.Links = []scenario.Link{{LinkSpeed: scenario.LinkSpeed{Rate: rate}}}
		if got := slack(&fast, 100*unit.Millisecond); got != want {
			t.Errorf("at %d bit/s: %d bytes of slack, want %d", rate, got, want)
		}
	}
	if n := Headroom(p); n != 30720 {
		t.Errorf("without slack the headroom is %d bytes", n)
	}
}

// TestSlackOfAWire: what a link itself delays comes on top, if headroom lasts for it at all.
func TestSlackOfAWire(t *testing.T) {
	p := plan(t, "buffer: {xoff: 131072}\n")
	without := slack(p, 0)
	p.Links[1].Delay = 4 * unit.Millisecond
	if got, want := slack(p, 0), without+bytesIn(100e6, 8*unit.Millisecond); got != want {
		t.Errorf("slack of %d bytes with a link of 4 ms, want %d", got, want)
	}
	p.Links[1].Delay = 6 * unit.Millisecond
	if got := slack(p, 0); got != 0 {
		t.Errorf("slack of %d bytes where headroom of 10 ms does not last for a link's 12, want none", got)
	}
}

// TestSlackOfAPlan: every switch and every host has it, and the plan that it comes from has
// none.
func TestSlackOfAPlan(t *testing.T) {
	p := plan(t, "nics: [h2]\n")
	q := p.WithSlack(5000)
	for i := range q.Switches {
		if got := q.Switches[i].Buffer.Slack; got == nil || *got != 5000 || p.Switches[i].Buffer.Slack != nil {
			t.Errorf("%s: slack %v, before %v", q.Switches[i].Name, got, p.Switches[i].Buffer.Slack)
		}
	}
	for i := range q.Hosts {
		if got := q.Hosts[i].RxSlack; got != 5000 || p.Hosts[i].RxSlack != 0 {
			t.Errorf("%s: slack %d, before %d", q.Hosts[i].Name, got, p.Hosts[i].RxSlack)
		}
	}
}

// TestScaleHeadroom: a look at this machine gives slack, and a scenario that says how much
// there is keeps it.
func TestScaleHeadroom(t *testing.T) {
	var said bytes.Buffer
	q, late, err := ScaleHeadroom(t.Context(), plan(t, ""), &said)
	if err != nil {
		t.Fatal(err)
	}
	if late <= 0 || Headroom(q) <= 30720 || !strings.Contains(said.String(), "late: headroom of 30720 bytes and ") {
		t.Errorf("%d ns late, headroom of %d bytes; said %q", late, Headroom(q), &said)
	}
	if n := Headroom(GiveSlack(plan(t, ""))); n > Headroom(q) || n <= 30720 {
		t.Errorf("without a look %d bytes, with one %d", n, Headroom(q))
	}
	for text, want := range map[string]int{"buffer: {slack: 0}\n": 30720, "buffer: {xoff: 10000, slack: 77}\n": 10077} {
		p := plan(t, text)
		q, late, err := ScaleHeadroom(t.Context(), p, &said)
		if err != nil {
			t.Fatal(err)
		}
		if q != p || GiveSlack(p) != p || late != 0 || Headroom(q) != want || q.Hosts[0].RxSlack != want-*p.Scenario.Buffer.XOFF {
			t.Errorf("%s: headroom of %d bytes, %d ns late; want %d, and no look", text, Headroom(q), late, want)
		}
	}
}

// TestHeadroomIsTold: the verdict says how much there was, whose doing that is, how much of it
// was used and how late nodes were.
func TestHeadroomIsTold(t *testing.T) {
	r := played(t)
	r.Nodes[0].Switch.Ports[0].Group[3].HeadroomWatermark = 31_000
	r.Nodes[3].Host.Lateness = 3 * unit.Millisecond
	if h := judged(t, r).Headroom; h.Bytes != 30720 || h.Slack != 0 || h.Scaled || h.Used != 280 || h.Late != 3*unit.Millisecond {
		t.Errorf("without slack %+v", h)
	}
	r.Plan, r.Lateness = r.Plan.WithSlack(10_000), unit.Millisecond
	if h := judged(t, r).Headroom; h.Bytes != 30720 || h.Slack != 10_000 || !h.Scaled || h.Lateness != unit.Millisecond || h.Lasts != 3_259_520 {
		t.Errorf("with slack %+v", h)
	}
}

// TestDoubtLossWithSlack: a run that lost frames although headroom and slack lasted is valid.
func TestDoubtLossWithSlack(t *testing.T) {
	for late, doubted := range map[unit.Time]bool{49 * unit.Millisecond: false, 51 * unit.Millisecond: true} {
		r := played(t)
		r.Plan = r.Plan.WithSlack(slack(r.Plan, 0)) // for 51 ms, a burst among them
		lose(r.Nodes[0].Switch, 4)
		r.Nodes[3].Host.Lateness = late
		r.Nodes[1].Switch = &observe.Switch{}
		if r.doubtLoss(); (len(r.Invalid) > 0) != doubted {
			t.Errorf("%d ns late: invalid %q", late, r.Invalid)
		}
	}
}

// TestSlackOfLongLink: a link that has headroom of its own for what is on its wires is given as
// much slack as the others, and both its headroom and the usual one are told.
func TestSlackOfLongLink(t *testing.T) {
	usual := slack(plan(t, ""), 0)
	s := longLink(t, "100Mbit/s", "50ms")
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	const ofLink = 1_255_424 // 2 x 50 ms at 100 Mbit/s, three frames and a pause, in KiB
	if least, most := bounds(p); least != 30720 || most != ofLink || headrooms(p) != "30720 to 1255424" || Headroom(p) != 30720 {
		t.Errorf("headroom of %d to %d bytes, %q", least, most, headrooms(p))
	}
	if got := slack(p, 0); got < usual || got > usual+1<<16 {
		t.Errorf("slack of %d bytes, want about %d", got, usual)
	}
	if got, want := lasts(p.WithSlack(1000), 1), unit.Rate(100e6).FrameTime(ofLink+1000); got != want {
		t.Errorf("headroom and slack of the long link last %d ns, want %d", got, want)
	}
	if n := Slowness(s); n != 1 {
		t.Errorf("%d times slower, want 1", n)
	}
}

// TestSlownessOfLongLink: what the wire itself takes of a link's headroom does not make a fast
// link slow enough for a live lab.
func TestSlownessOfLongLink(t *testing.T) {
	if n := Slowness(longLink(t, "400Mbit/s", "10ms")); n != 4 {
		t.Errorf("%d times slower, want 4", n)
	}
}

// longLink is a scenario of two switches and two hosts, of whose links that between the switches
// has a delay.
func longLink(t *testing.T, rate, delay string) *scenario.Scenario {
	t.Helper()
	text := fmt.Sprintf(`name: long
topology: {switches: [s1, s2], hosts: [h1, h2], links: [h1--s1, s1--s2, s2--h2], rate: %s, overrides: [{link: s1--s2, delay: %s}]}
duration: 2s
`, rate, delay)
	s, err := scenario.Parse("long.yaml", []byte(text), scenario.Known{Detectors: []string{"itsy"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
