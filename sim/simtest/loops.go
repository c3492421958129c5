package simtest

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/oracle"
)

// Hops names the hops of a cycle in the order of waiting, from the least name on:
// "A--B 3, B--C 3".
func Hops(links []string, priorities []int) string {
	var all []string
	for i, l := range links {
		all = append(all, fmt.Sprintf("%s %d", l, priorities[i]))
	}
	at := slices.Index(all, slices.Min(all))
	return strings.Join(append(slices.Clone(all[at:]), all[:at]...), ", ")
}

// Loops are the cycles of what was stuck when the deadlocks of a run began, as Hops.
func Loops(r *oracle.Result) (all []string) {
	for _, d := range r.Deadlocks {
		stuck := r.History.At(d.From)
		for _, q := range stuck.Queues {
			if !stuck.InCore(q) {
				continue
			}
			cycle := stuck.Cycle(q)
			priorities := lists.Map(cycle, func(q oracle.Queue) int { return int(q.Priority) })
			if name := Hops(r.Fabric.LinkNames(cycle), priorities); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
