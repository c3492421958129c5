package lab

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"softswitch/internal/lists"
	"softswitch/live/hosting"
	"softswitch/scenario"
	"softswitch/topo"
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

// Of is how the nodes of a plan share processes on this machine: as s says, or all of them one, or as few as may open
// the files that they need. It refuses what cannot be.
func (s Sharing) Of(p *scenario.Plan) (Sharing, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return s, os.NewSyscallError("getrlimit", err)
	}
	return s.on(runtime.GOMAXPROCS(0), limit.Max, p)
}

func (s Sharing) on(processors int, files uint64, p *scenario.Plan) (Sharing, error) {
	var sharing []topo.Node
	for i, n := range p.Fabric.Nodes {
		if !isNIC(p, i) {
			sharing = append(sharing, n)
		}
	}
	most := shareable(files, sharing)
	switch {
	case s.PerProcess < 0:
		return s, fmt.Errorf("--nodes-per-process: %d; valid: 1 or more", s.PerProcess)
	case s.PerProcess > most && most < len(sharing):
		return s, fmt.Errorf("--nodes-per-process: %d; valid: up to %d, since a process may open at most %d files here", s.PerProcess, most, files)
	case s.PerProcess == 0:
		s.PerProcess = max(most, 1)
	}
	if !s.Poll {
		return s, nil
	}
	polling := (len(sharing) + s.PerProcess - 1) / s.PerProcess
	switch {
	case s.PerProcess == 1:
		return s, fmt.Errorf("--poll: for nodes that share a process; give --nodes-per-process 2 or more, or leave it out")
	case polling >= processors:
		return s, fmt.Errorf("--poll: a process that polls keeps a processor busy, and one has to be left; here are %d for %d of them", processors, polling)
	}
	return s, nil
}

// shareable is how many of these nodes may share a process that may open so many files, so that processes have about
// as many each.
func shareable(files uint64, nodes []topo.Node) int {
	fits := func(some []topo.Node) bool {
		return uint64(lists.Sum(some, func(n topo.Node) int { return hosting.FilesOf(len(n.Ports)) })) <= files
	}
	for processes := 1; ; processes++ {
		each := (len(nodes) + processes - 1) / processes
		if each <= 1 || !slices.ContainsFunc(slices.Collect(slices.Chunk(nodes, each)), func(some []topo.Node) bool { return !fits(some) }) {
			return each
		}
	}
}
