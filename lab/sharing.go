package lab

import (
	"fmt"
	"runtime"

	"softswitch/scenario"
)

// Sharing says how nodes share processes, as far as they have no NICs: a NIC serves programs
// in its namespace, and has a process of its own.
type Sharing struct {
	// PerProcess is how many nodes a process runs. 0 leaves it to [Sharing.Of], and is 1 for
	// [Describe].
	PerProcess int
	// Poll says that the processes that several nodes share poll. Each keeps a processor busy.
	Poll bool
}

// Of is how the nodes of a plan share processes on this machine: as s says, or all of them one.
// It refuses what cannot be.
func (s Sharing) Of(p *scenario.Plan) (Sharing, error) {
	return s.on(runtime.GOMAXPROCS(0), p)
}

func (s Sharing) on(processors int, p *scenario.Plan) (Sharing, error) {
	nodes := len(p.Fabric.Nodes)
	switch {
	case s.PerProcess < 0:
		return s, fmt.Errorf("--nodes-per-process: %d; valid: 1 or more", s.PerProcess)
	case s.PerProcess == 0:
		s.PerProcess = max(nodes, 1)
	}
	if !s.Poll {
		return s, nil
	}
	for i := range p.Fabric.Nodes {
		if isNIC(p, i) {
			nodes--
		}
	}
	polling := (nodes + s.PerProcess - 1) / s.PerProcess
	switch {
	case s.PerProcess == 1:
		return s, fmt.Errorf("--poll: for nodes that share a process; give --nodes-per-process 2 or more, or leave it out")
	case polling >= processors:
		return s, fmt.Errorf("--poll: a process that polls keeps a processor busy, and one has to be left; here are %d for %d of them", processors, polling)
	}
	return s, nil
}
