package congestion

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// DCQCN is the parameters of DCQCN's two ends (Zhu et al., "Congestion Control for
// Large-Scale RDMA Deployments", SIGCOMM 2015), with the paper's letters. The third, the
// switch that marks, has its own.
type DCQCN struct {
	// Gain is g, in 1/1024: the weight of the newest observation in alpha.
	Gain uint64
	// CNPInterval is N: a receiver sends a flow's sender one CNP in that time at most.
	CNPInterval unit.Time
	// AlphaTimer is how often alpha falls without a CNP.
	AlphaTimer unit.Time
	// CutTimer is how often the sender looks whether CNPs have come, and then lowers its
	// rate; 0: it does so at each CNP.
	CutTimer unit.Time
	// KeepTarget leaves the target rate alone when a sender lowers its rate again before
	// a RiseTimer has passed.
	KeepTarget bool
	// RiseTimer and RiseBytes are T and B: the rate rises each time that this much time
	// has passed, and each time that this much was sent, which 0 turns off.
	RiseTimer unit.Time
	RiseBytes int64
	// Recovery is F: this many rises halve the distance to the target rate before the
	// target rises too.
	Recovery int
	// AI is by how much the target rises, HAI by how much once both the timer and the bytes
	// have passed Recovery.
	AI, HAI unit.Rate
	// Min is the lowest rate.
	Min unit.Rate
}

// Profiles lists the names that Profile takes.
func Profiles() []string { return []string{"paper", "hpcc-sender", "nvidia"} }

// ProfileName is one of Profiles.
type ProfileName string

// UnmarshalText reads the name of a profile. hpcc-sender may also be called by its older name, hpcc.
func (p *ProfileName) UnmarshalText(text []byte) error {
	*p = ProfileName(text)
	if *p == "hpcc" {
		*p = "hpcc-sender"
	}
	if !slices.Contains(Profiles(), string(*p)) {
		return fmt.Errorf("%q%s; use %s", text, strictyaml.DidYouMean(string(text), Profiles()), strings.Join(Profiles(), ", "))
	}
	return nil
}

// Profile is the parameters called name, for a sender whose link has the rate line:
//
//   - paper: those of the SIGCOMM paper's deployment at 40 Gbit/s (section 5). Rates and
//     RiseBytes are in proportion to line. It names no minimum and no hyper increase: Min is
//     one AI, and HAI is AI.
//   - hpcc-sender: those of senders in the simulator of HPCC (Li et al., SIGCOMM 2019; `run.py` of
//     alibaba-edu/High-Precision-Congestion-Control), which scales AI and HAI itself, from
//     25 Gbit/s. Min, 1 Gbit/s there at every line, is a hundredth of line. Its receiver has no
//     interval between notifications: a bit of every acknowledgement is one. Its switches' marks,
//     and that each packet is acknowledged, in the highest priority, are no part of it.
//   - nvidia: the defaults of ConnectX firmware. They are the same at every line.
//
// Times are the same at every line. The error names what name or line may be.
func Profile(name string, line unit.Rate) (DCQCN, error) {
	if line <= 0 {
		return DCQCN{}, fmt.Errorf("congestion: a line of %d bit/s; valid: above 0, for DCQCN needs a rate to fall from", line)
	}
	const us = unit.Microsecond
	switch name {
	case "paper":
		ai := max(1, line/1000)
		return DCQCN{
			Gain: 4, CNPInterval: 50 * us, AlphaTimer: 55 * us, RiseTimer: 55 * us, RiseBytes: max(1, int64(line/4000)),
			Recovery: 5, AI: ai, HAI: ai, Min: ai,
		}, nil
	case "hpcc-sender":
		return DCQCN{
			Gain: 4, AlphaTimer: 1 * us, CutTimer: 4 * us, KeepTarget: true, RiseTimer: 300 * us,
			Recovery: 1, AI: max(1, line/5000), HAI: max(1, line/500), Min: max(1, line/100),
		}, nil
	case "nvidia":
		return DCQCN{
			Gain: 5, CNPInterval: 4 * us, AlphaTimer: 1 * us, CutTimer: 4 * us, KeepTarget: true, RiseTimer: 300 * us, RiseBytes: 32767,
			Recovery: 1, AI: 5_000_000, HAI: 50_000_000, Min: min(1_000_000, line),
		}, nil
	}
	return DCQCN{}, fmt.Errorf("congestion: profile %q; valid: %s", name, strings.Join(Profiles(), ", "))
}

// Slow is p for an experiment that is played n times slower, n above 0: times n times as
// long, rates an n-th and bytes as they are. It takes the profile of the line as it was
// before it was slowed down.
func (p DCQCN) Slow(n int) DCQCN {
	for _, t := range []*unit.Time{&p.CNPInterval, &p.AlphaTimer, &p.CutTimer, &p.RiseTimer} {
		*t *= unit.Time(n)
	}
	for _, r := range []*unit.Rate{&p.AI, &p.HAI, &p.Min} {
		*r = max(1, *r/unit.Rate(n))
	}
	return p
}
