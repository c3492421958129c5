package respond

import (
	"fmt"
	"slices"
	"strings"
)

// Break is how a deadlock is broken.
type Break uint8

// Ways to break a deadlock.
const (
	BreakNone   Break = iota // not at all
	BreakDrop                // drop as little of the loop's frames as lets a bucket resume
	BreakForce               // send as much of them in spite of the pause, to a next hop that makes room
	BreakBubble              // lend every bucket of the loop reserve, for the loop's frames alone
)

// Policy is what is done about a declared deadlock.
type Policy struct {
	Break   Break
	Trigger bool // handle its initial trigger too
}

// policies are all policies by name, in the order in which they are offered.
var policies = []struct {
	name   string
	policy Policy
}{
	{"none", Policy{}},
	{"drop", Policy{Break: BreakDrop}},
	{"force", Policy{Break: BreakForce}},
	{"bubble", Policy{Break: BreakBubble}},
	{"trigger", Policy{Trigger: true}},
	{"drop+trigger", Policy{Break: BreakDrop, Trigger: true}},
	{"force+trigger", Policy{Break: BreakForce, Trigger: true}},
	{"bubble+trigger", Policy{Break: BreakBubble, Trigger: true}},
}

// Names are the names of all policies, the valid values of the key "response" in a
// scenario, as a new slice.
func Names() []string {
	var names []string
	for _, p := range policies {
		names = append(names, p.name)
	}
	return names
}

// Parse is the policy of a name. The error lists the valid names.
func Parse(name string) (Policy, error) {
	for _, p := range policies {
		if p.name == name {
			return p.policy, nil
		}
	}
	return Policy{}, fmt.Errorf("response: %q is none; valid: %s", name, strings.Join(Names(), ", "))
}

// String is the policy's name.
func (p Policy) String() string {
	i := slices.IndexFunc(policies, func(known struct {
		name   string
		policy Policy
	},
	) bool {
		return known.policy == p
	})
	if i < 0 {
		return fmt.Sprintf("break %d, trigger %v", p.Break, p.Trigger)
	}
	return policies[i].name
}
