package compare

import (
	"slices"

	"softswitch/host"
	"softswitch/host/congestion"
	"softswitch/internal/schema"
	"softswitch/internal/stat"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/unit"
)

// Kind is traffic, or a response with the traffic of rc.
type Kind struct {
	Name, About string
	put         func(*scenario.Scenario)
	follows     bool // it does what it does when itsy declares, and nothing before
}

// UDP is traffic as the files have it, RC the same as connections, NoPFCGoBackN and NoPFCSelective
// connections on a fabric that pauses nobody; none is no response.
const (
	UDP            = "udp"
	RC             = "rc"
	NoPFCGoBackN   = "no-pfc-gbn"
	NoPFCSelective = "no-pfc-selective"

	timely = "rc+timely"
	none   = "none"
)

// Traffic is the kinds of traffic, in the order in which they are shown.
func Traffic() []Kind {
	return []Kind{
		{UDP, "as the file has it: frames at a rate, whatever becomes of them", func(*scenario.Scenario) {}, false},
		{RC, "reliable connections without congestion control", trafficConnections, false},
		{"rc+dcqcn", "with DCQCN, the parameters of its paper", controlled("dcqcn", "paper", false), false},
		{"rc+hpcc-sender", "with DCQCN, the parameters of the senders of HPCC's simulator", controlled("dcqcn", "hpcc-sender", false), false},
		{"rc+dcqcn-nvidia", "with DCQCN, the parameters of NVIDIA's NICs", controlled("dcqcn", "nvidia", false), false},
		{timely, "with TIMELY", controlled("timely", "paper", false), false},
		{"rc+phantom", "with DCQCN, marked by phantom queues", controlled("dcqcn", "paper", true), false},
	}
}

// NoPFC is traffic as rc, on a fabric that pauses nobody.
func NoPFC() []Kind {
	return []Kind{
		{NoPFCGoBackN, "without PFC: connections that begin again with the first packet that is lost (go-back-N)", withoutPFC(host.GoBackN), false},
		{NoPFCSelective, "without PFC: connections that send again nothing but what is lost (selective repeat)", withoutPFC(host.Selective), false},
	}
}

// trafficNamed is the kind of traffic of a name that there is.
func trafficNamed(name string) *Kind {
	all := append(Traffic(), NoPFC()...)
	return &all[slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })]
}

// Responses is what is done about deadlocks, with the traffic of rc.
func Responses() []Kind {
	return []Kind{
		{none, "nothing", system("itsy", "none"), true},
		{"drop", "itsy's break by dropping", system("itsy", "drop"), true},
		{"bubble", "itsy's loan", system("itsy", "bubble"), true},
		{"cure", "itsy's cure", system("itsy", "cure"), true},
		{"watchdog", "SONiC's watchdog, which drops", system("watchdog", "none"), false},
		{"loopbreaker", "Loop Breaker", system("loopbreaker", "none"), false},
	}
}

// The connections of a scenario: what an application keeps in flight.
const (
	message = 65536
	window  = 4
	pathMTU = 1024
	// timeout is of a fabric of the usual speed.
	timeout = unit.Millisecond
	retries = 7
)

// usualRate is that of the fabric for which times are meant: a slower scenario is taken for
// such a fabric, slowed down by their ratio.
const usualRate = 40_000_000_000

// slower is how many times slower than usual the fastest link is.
func slower(s *scenario.Scenario) int {
	fastest := unit.Rate(1)
	for _, l := range s.Links {
		fastest = max(fastest, l.Rate)
	}
	return max(1, int(usualRate/fastest))
}

// trafficConnections makes every lossless flow of s a reliable connection.
func trafficConnections(s *scenario.Scenario) {
	n := slower(s)
	for i := range s.Flows {
		f := &s.Flows[i]
		if slices.Contains(s.Lossless(), int(f.Priority)) && f.RC == nil {
			f.RC = &host.RC{Message: message, PathMTU: pathMTU, Window: window, Timeout: new(timeout * unit.Time(n)), Retries: new(host.Retries(retries))}
			f.Frame = host.FrameOf(pathMTU)
		}
	}
}

// Timeouts of connections on a fabric without PFC, for the usual rate: those of IRN (Mittal et al.,
// SIGCOMM 2018, section 4.1). The high one is what a round trip takes at most, with the buffer of a
// switch full; the low one is for when so few packets are in flight that sending them for nothing does
// no harm. Go-back-N has the high one alone, there as here. Those of a file are meant for a fabric that
// loses nothing: 67 ms are longer than most scenarios.
const (
	timeoutHigh = 320 * unit.Microsecond
	timeoutLow  = 100 * unit.Microsecond
)

// withoutPFC is connections that recover from loss by themselves, on a fabric that pauses nobody.
func withoutPFC(recovery string) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) {
		trafficConnections(s)
		n := unit.Time(slower(s))
		for i := range s.Flows {
			f := &s.Flows[i]
			if f.RC == nil || !slices.Contains(s.Lossless(), int(f.Priority)) || s.HasNIC(f.From) || s.HasNIC(f.To) {
				continue
			}
			rc := *f.RC
			rc.Recovery, rc.Timeout, rc.TimeoutLow = recovery, new(timeoutHigh*n), nil
			if recovery == host.Selective {
				rc.TimeoutLow = new(timeoutLow * n)
			}
			f.RC = &rc
		}
		s.WithoutPFC()
	}
}

// controlled is connections with congestion control.
func controlled(control, profile string, phantom bool) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) {
		trafficConnections(s)
		c := &scenario.Congestion{Control: control, Profile: congestion.ProfileName(profile), CNPPriority: new(cnpPriority(s)), TimesSlower: slower(s)}
		if phantom {
			c.Phantom = &config.Phantom{}
			schema.Fill(c.Phantom)
		} else if control == "dcqcn" {
			c.ECN = &config.RED{}
			schema.Fill(c.ECN)
		}
		s.Congestion = c
	}
}

// cnpPriority is the highest lossy priority below that of network control.
func cnpPriority(s *scenario.Scenario) int {
	for c := 6; c > 0; c-- {
		if !slices.Contains(s.Lossless(), c) {
			return c
		}
	}
	return 0
}

// system is connections with a detector and a response.
func system(detector, response string) func(*scenario.Scenario) {
	return func(s *scenario.Scenario) {
		trafficConnections(s)
		s.Detector, s.Response = detector, response
	}
}

// shifts is by how many of its longest frames the start of a flow is moved at most.
const shifts = 20

// move moves the starts of flows by random times, which depend on the seed and on the number
// of the flow alone.
func move(s *scenario.Scenario, seed uint64) {
	for i := range s.Flows {
		f := &s.Flows[i]
		rng := stat.Rand(stat.Mix(seed<<32 | uint64(i)))
		link := s.Links[s.Fabric.Nodes[f.From].Ports[0].Link]
		most := int(link.Rate.FrameTime(full)) * shifts
		by := unit.Time(rng.Below(most + 1))
		if f.Stop == 0 || f.Start+by < f.Stop {
			f.Start += by
		}
	}
}

// full is the frame by which starts are moved: the longest of a usual fabric.
const full = 1514
