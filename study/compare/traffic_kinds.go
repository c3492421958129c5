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

// UDP is traffic as the files have it, RC the same as connections; none is no response.
const (
	UDP    = "udp"
	RC     = "rc"
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
