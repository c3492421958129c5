package rates

import (
	"fmt"
	"strconv"
	"strings"

	"softswitch/lab"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/unit"
)

// Fabric is a fat-tree and how it is used.
type Fabric struct {
	K   int `json:"k"`
	MTU int `json:"mtu"`
	// Sends is for how long its hosts send in a run.
	Sends unit.Time `json:"sends_ns"`
}

// ParseFabric reads "k=4". The error says what is valid.
func ParseFabric(text string) (f Fabric, err error) {
	value, found := strings.CutPrefix(text, "k=")
	if f.K, err = strconv.Atoi(value); !found || err != nil {
		return f, fmt.Errorf("%q; write k=4, or another number of ports of a switch", text)
	}
	most := 2
	for nodes(most+2) <= lab.MaxNodes {
		most += 2
	}
	if f.K < 2 || f.K%2 != 0 || f.K > most {
		return f, fmt.Errorf("k=%d; valid: even numbers from 2 to %d, as a lab has at most %d nodes", f.K, most, lab.MaxNodes)
	}
	return f, nil
}

// nodes is how many switches and hosts a fat-tree of k has.
func nodes(k int) int { return 5*k*k/4 + k*k*k/4 }

// Times of a run: hosts send from begins on; what is in the fabric when they stop arrives in
// drains.
const (
	begins = 250 * unit.Millisecond
	drains = 500 * unit.Millisecond
)

// The buffers of fattree-no-loop at its rate. At another rate they are as much longer or
// shorter, so that they last as long.
const (
	ofRate   = 100_000_000
	staticTh = 159744
	headroom = 131072
)

// Scenario is the incasts on f with links of rate r: from a host of every other pod to one of
// the first pod, and to one of the last. With k=4 its flows are those of fattree-no-loop.
func (f Fabric) Scenario(r unit.Rate) (*scenario.Scenario, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "name: rates\ntopology:\n  fattree: {k: %d}\n  rate: %s\n  mtu: %d\n", f.K, r, f.MTU)
	as := func(n int) int { return int(int64(n) * int64(r) / ofRate) }
	longest := config.MaxFrame(f.MTU)
	fmt.Fprintf(&b, "buffer: {pool: %d, static_th: %d, xoff: %d}\n",
		max(config.DefaultPool, as(config.DefaultPool)), max(config.DefaultStaticTh, as(staticTh)), max(config.DefaultXOFF, 2*longest, as(headroom)))
	b.WriteString("flows:\n")
	for _, incast := range f.incasts() {
		for _, s := range incast.from {
			fmt.Fprintf(&b, "  - {name: %s, from: %s, to: %s, frame: %d, start: %s, stop: %s, via: [%s]}\n",
				s.name, s.host, incast.to, f.MTU, begins.String(), (begins + f.Sends).String(), strings.Join(s.via, ", "))
		}
	}
	fmt.Fprintf(&b, "duration: %s\nexpect: {deadlock: false, detected: false, lossless_lost: 0}\n", (begins + f.Sends + drains))
	return load.Scenario("rates", []byte(b.String()))
}

// incast is senders and whom they send to.
type incast struct {
	to   string
	from []sender
}

type sender struct {
	name, host string
	via        []string // an aggregation switch, a core
}

// incasts are the two of a fabric. In a fat-tree of k=2, where a pod has one host, each has
// one sender.
func (f Fabric) incasts() [2]incast {
	last, second := f.K-1, min(1, f.K/2-1) // the last pod, the second edge of a pod
	a := incast{to: "h0-0-0"}
	b := incast{to: fmt.Sprintf("h%d-%d-%d", last, second, second)}
	for i := range last {
		core := "core0"
		if i == last-1 {
			core = fmt.Sprintf("core%d", second) // both cores are in a tree
		}
		add := func(to *incast, name string, pod, edge int) {
			to.from = append(to.from, sender{fmt.Sprint(name, i+1), fmt.Sprintf("h%d-%d-0", pod, edge), []string{fmt.Sprintf("agg%d-0", pod), core}})
		}
		add(&a, "A", i+1, 0)
		add(&b, "B", i, second)
	}
	return [2]incast{a, b}
}
