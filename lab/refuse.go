package lab

import (
	"fmt"

	"softswitch/internal/strictyaml"
	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/topo"
	"softswitch/unit"
)

// usualRate is the usual rate of links in a live lab. Two processors can keep up with a
// fat-tree of 36 processes at this rate.
const usualRate unit.Rate = 100_000_000

// late is how late a live pause may take effect: its sender keeps time to
// live.Granularity, and so does its receiver. A link that fills the headroom in less
// time loses lossless frames: measured, two switches at 200 Mbit/s, where the default
// headroom lasts 1.2 ms, lose some.
const late = 2 * live.Granularity

// MaxNodes limits a lab: each node has a namespace, interfaces and rings, of eight megabytes or more.
const MaxNodes = 1000

// RefuseFabric returns why a fabric cannot be built of namespaces, nil if it can.
func RefuseFabric(f *topo.Fabric) error {
	if n := len(f.Nodes); n > MaxNodes {
		return fmt.Errorf("%d switches and hosts: a live lab has at most %d, each with a namespace", n, MaxNodes)
	}
	for _, n := range f.Nodes {
		if err := netnslab.CheckNode(n.Name); err != nil {
			return err
		}
	}
	return nil
}

// Refuse returns why a scenario cannot be played on namespaces, nil if it can.
func Refuse(s *scenario.Scenario) error {
	if why := s.SimOnly(); why != "" {
		return fmt.Errorf("scenario %s: what is expected with detector %s holds in a simulation only: %s", s.Name, s.Detector, why)
	}
	if err := RefuseFabric(s.Fabric); err != nil {
		return fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	if err := tooFast(s); err != nil {
		return err
	}
	if err := tooMany(s); err != nil {
		return err
	}
	for i, l := range s.Links {
		if l.Rate <= 0 {
			return fmt.Errorf(`scenario %s: link %s: it has no rate, so that a pause has no length and no headroom is enough; write one such as "100Mbit/s"`, s.Name, s.Fabric.Links[i].Name)
		}
		if d := max(l.Delay, l.Jitter); d > config.WireDelayMax {
			return fmt.Errorf("scenario %s: link %s: a delay of %s; a link of a live lab has at most %s",
				s.Name, s.Fabric.Links[i].Name, d.String(), config.WireDelayMax.String())
		}
	}
	return nil
}

// maxHostFlows is how many flows may begin and end at a host, so that its file is read: it is
// of strictyaml.MaxBytes at most, and a flow takes up to 500 of them.
const maxHostFlows = strictyaml.MaxBytes / 500

// tooMany is an error if there are more at a host.
func tooMany(s *scenario.Scenario) error {
	at := make([]int, len(s.Fabric.Nodes))
	for _, f := range s.Flows {
		at[f.From]++
		if f.RC != nil {
			at[f.To]++
		}
	}
	for i, n := range at {
		if n > maxHostFlows {
			return fmt.Errorf("scenario %s: %d flows begin or end at %s: a host of a live lab has at most %d", s.Name, n, s.Fabric.Nodes[i].Name, maxHostFlows)
		}
	}
	return nil
}

// Slowness is by what factor a scenario must be slowed down for a live lab to keep up
// with its links: 1 if it is slow enough.
func Slowness(s *scenario.Scenario) int {
	n := 1
	for i, l := range s.Links {
		if l.Rate > usualRate && spares(s, i) < late {
			n = max(n, int((l.Rate+usualRate-1)/usualRate))
		}
	}
	return n
}

func tooFast(s *scenario.Scenario) error {
	n := Slowness(s)
	if n == 1 {
		return nil
	}
	fastest := 0
	for i, l := range s.Links {
		if l.Rate > s.Links[fastest].Rate {
			fastest = i
		}
	}
	rate := s.Links[fastest].Rate
	least, _ := linkHeadroom(s, fastest)
	return fmt.Errorf("scenario %s: links of %s fill the headroom of %d bytes in %s, and pauses of a live lab may be %s late: play it slower, --slow %d makes %s of it",
		s.Name, rate, least, rate.FrameTime(least), late,
		n, (rate / unit.Rate(n)).String())
}

// spares is for how long the least headroom at a link lasts beside what is on the wires of a live link.
func spares(s *scenario.Scenario, i int) unit.Time {
	l := s.Links[i]
	least, _ := linkHeadroom(s, i)
	return l.Rate.FrameTime(least) - roundTrip(scenario.Link{LinkSpeed: l})
}

// hopDelay is how long a frame takes from one process to the next over a veth.
const hopDelay = 50 * unit.Microsecond

// Timing is s with the timing of a live lab: links have the delay of a veth in addition to those of
// their faults that a live wire plays, and each frame can be as late as a node can. A live lab may show
// any result that a simulation of it shows; a result that is the same for all seeds does not depend on timing.
func Timing(s *scenario.Scenario) *scenario.Scenario {
	t := *s
	t.Links = make([]scenario.LinkSpeed, len(s.Links))
	for i, l := range s.Links {
		l.Faults = l.Faults.Live()
		l.Delay += hopDelay
		l.Jitter += live.Granularity
		t.Links[i] = l
	}
	return &t
}
