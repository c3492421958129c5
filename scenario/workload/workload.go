package workload

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/internal/stat"
	"softswitch/unit"
)

// Pattern is who sends to whom.
type Pattern string

// Patterns, with the fields of Spec that they use in brackets.
const (
	Random      Pattern = "random"         // each host to others, at random [Sizes, Load, On, Off]
	Permutation Pattern = "permutation"    // each host to one other, which gets from no third [the same]
	Incast      Pattern = "incast"         // several hosts to one, at once [Sizes, FanIn, Period]
	AllToAll    Pattern = "alltoall"       // each host to every other [Sizes, Period]
	Ring        Pattern = "ring-allreduce" // each host to the next, round the list [Sizes, Chunks, Period]
	Tree        Pattern = "tree-allreduce" // up and down a binary tree over the list [Sizes, Chunks, Period]
)

// Spec is a workload. The caller has checked it.
type Spec struct {
	Pattern Pattern
	// Rates of the links of the hosts, which are numbered in this order: at least two,
	// each above 0 where the pattern has a Load.
	Rates []unit.Rate
	// Sizes of messages; of a reduction, the bytes that each host begins with.
	Sizes *Sizes
	// Load is the share of a host's link that its messages take on average, above 0, at
	// most 1; frames' gaps and headers, where a message's bytes are without them, come on
	// top.
	Load float64
	// On and Off, unless 0, make hosts send for On and then be silent for Off, all at the
	// same time. Load is that of On.
	On, Off unit.Time
	// FanIn is how many hosts send to the one.
	FanIn int
	// Period is the time between two rounds; 0 is one round.
	Period unit.Time
	// Chunks is how many messages each step is divided into; all are in flight at once.
	Chunks int
	// Messages begin from Start on, before Stop.
	Start, Stop unit.Time
	Seed        uint64
}

// Message is a message from one host to another, by their numbers.
type Message struct {
	From, To int
	Size     int // bytes, at least 1
	Start    unit.Time
}

// Messages draws the messages in order of time. The error says that there are more than
// most.
func (w *Spec) Messages(most int) ([]Message, error) {
	d := drawing{Spec: w, most: most}
	switch w.Pattern {
	case Random, Permutation:
		d.arrivals()
	default:
		d.rounds()
	}
	if len(d.out) > most {
		return nil, fmt.Errorf("more than %d messages", most)
	}
	slices.SortStableFunc(d.out, func(a, b Message) int { return cmp.Compare(a.Start, b.Start) })
	return d.out, nil
}

// drawing is the messages of a workload so far.
type drawing struct {
	*Spec
	most int
	out  []Message
}

// add adds a message and returns false once there are too many.
func (d *drawing) add(m Message) bool {
	d.out = append(d.out, m)
	return len(d.out) <= d.most
}

// rand is generator n of the workload.
func (d *drawing) rand(n int) *stat.Rand {
	r := stat.Rand(stat.Mix(stat.Mix(d.Seed) + uint64(n)))
	return &r
}
