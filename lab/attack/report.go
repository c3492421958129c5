package attack

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/unit"
)

// Report is what was sent, and what the switches did from before the attack until after it.
type Report struct {
	From    string         `json:"from"` // the node from which the frames seem to come
	To      string         `json:"to"`
	Seed    uint64         `json:"seed"`
	Seconds float64        `json:"seconds"`
	Sent    map[string]int `json:"sent"` // frames by kind
	// None is how often there was no frame yet to replay; Failed how many the kernel did not
	// take, and Failure why the first one.
	None    int    `json:"nothing_to_replay"`
	Failed  int    `json:"not_sent"`
	Failure string `json:"failure,omitempty"`

	// Of all switches: control frames that were not believed, by reason; messages and labels of
	// hosts that were ignored; frames beyond a port's budget; malformed ones.
	Refused    map[string]uint64 `json:"refused"`
	OfHosts    uint64            `json:"of_hosts_ignored"`
	OverBudget uint64            `json:"over_budget"`
	Malformed  uint64            `json:"malformed"`
	// Deadlocks that were declared, actions that were taken, by name, hosts that were
	// contained and lossless frames that were lost.
	Declared     uint64            `json:"declared"`
	Actions      map[string]uint64 `json:"actions"`
	Contained    uint64            `json:"contained"`
	LosslessLost uint64            `json:"lossless_lost"`
}

func newReport(o Options) *Report {
	return &Report{From: o.Link[0], To: o.Link[1], Seed: o.Seed, Sent: map[string]int{}, Refused: map[string]uint64{}, Actions: map[string]uint64{}}
}

// malformed are the reasons for which a control frame that is none is dropped.
var malformed = []dataplane.Reason{
	dataplane.DropShort, dataplane.DropLong, dataplane.DropPFCShort, dataplane.DropPFCLong, dataplane.DropPFCAddress, dataplane.DropPFCOpcode,
	dataplane.DropPFCReserved, dataplane.DropPause8023, dataplane.DropMessage, dataplane.DropReservedGroup,
}

// grown is how much a counter has grown. A counter that is smaller than before belongs to a switch
// that restarted.
func grown(now, was uint64) uint64 {
	if now < was {
		return now
	}
	return now - was
}

// compare fills in what has changed.
func (r *Report) compare(before, after switches) {
	for name, now := range after {
		was := before[name]
		r.Declared += grown(now.History.Deadlocks, was.History.Deadlocks)
		r.LosslessLost += grown(now.Switch.LosslessLost, was.Switch.LosslessLost)
		for action, n := range now.History.Actions {
			switch n = grown(n, was.History.Actions[action]); {
			case n == 0:
			case action == detect.ActionContain.String():
				r.Contained += n
			case action != detect.ActionRelease.String():
				r.Actions[action] += n
			}
		}
		for i, p := range now.Switch.Ports {
			since := func(of map[string]uint64, before map[string]uint64, why dataplane.Reason) uint64 {
				return grown(of[why.String()], before[why.String()])
			}
			w := was.Switch.Ports[i]
			for reason, n := range p.RefusedBy() {
				if n = grown(n, w.RefusedBy()[reason]); n > 0 {
					r.Refused[reason] += n
				}
			}
			r.OfHosts += since(p.Drops, w.Drops, dataplane.DropHostMessage) + since(p.Odd, w.Odd, dataplane.OddHostLabel)
			r.OverBudget += since(p.Drops, w.Drops, dataplane.DropControlBudget)
			for _, why := range malformed {
				r.Malformed += since(p.Drops, w.Drops, why)
			}
		}
	}
}

// Held reports whether nothing got through: no deadlock was declared, no action taken, no
// lossless frame lost.
func (r *Report) Held() bool { return r.Declared == 0 && len(r.Actions) == 0 && r.LosslessLost == 0 }

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	total := 0
	var sent []string
	for _, k := range KindNames() {
		if n := r.Sent[k]; n > 0 {
			total += n
			sent = append(sent, fmt.Sprintf("%s %d", k, n))
		}
	}
	fmt.Fprintf(w, "%s in %.1f s to %s, as if from %s, seed %d\n\n", unit.Count(total, "frame"), r.Seconds, r.To, r.From, r.Seed)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "sent\t%d\t%s\n", total, strings.Join(sent, ", "))
	if r.Failed > 0 {
		fmt.Fprintf(t, "not sent\t%d\t%s\n", r.Failed, r.Failure)
	}
	fmt.Fprintf(t, "refused\t%s\n", counted(r.Refused))
	fmt.Fprintf(t, "of hosts, ignored\t%d\tmessages and labels\n", r.OfHosts)
	fmt.Fprintf(t, "over the budget\t%d\n", r.OverBudget)
	fmt.Fprintf(t, "malformed\t%d\n", r.Malformed)
	fmt.Fprintf(t, "declared\t%d\tdeadlocks\n", r.Declared)
	fmt.Fprintf(t, "actions\t%s\n", counted(r.Actions))
	fmt.Fprintf(t, "contained\t%d\thosts that paused without end\n", r.Contained)
	fmt.Fprintf(t, "lossless lost\t%d\tframes\n", r.LosslessLost)
	if err := t.Flush(); err != nil {
		return err
	}
	end := "\nnothing got through"
	if !r.Held() {
		end = "\nit got through: a deadlock was declared, an action taken or a lossless frame lost"
	}
	_, err := fmt.Fprintln(w, end)
	return err
}

// counted is a cell with the sum of counts, and one with the counts in the order of their names; that is missing
// if there are none.
func counted(counts map[string]uint64) string {
	sum, text := uint64(0), ""
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		sum += counts[name]
		text += fmt.Sprintf(", %s %d", name, counts[name])
	}
	return fmt.Sprint(sum) + strings.Replace(text, ", ", "\t", 1)
}
