package respond

import (
	"fmt"
	"strings"

	"softswitch/internal/lists"
)

// Break is how a deadlock is broken.
type Break uint8

// Ways to break a deadlock.
const (
	BreakNone   Break = iota // not at all
	BreakDrop                // drop no more of the loop's frames than makes a priority group resume
	BreakForce               // send as much of them in spite of the pause, to a next hop that makes room
	BreakBubble              // give every priority group of the loop an extra threshold, for the loop's frames alone
)

// Policy is what is done about a declared deadlock.
type Policy struct {
	Break   Break
	Trigger bool // handle its initial trigger too
	// Turns: police no flow, and make lossy what would close a loop again.
	Turns bool
}

// Lends reports whether the policy gives any priority group an extra threshold.
func (p Policy) Lends() bool {
	return p.Break == BreakForce || p.Break == BreakBubble || p.Break == BreakDrop && p.Trigger
}

// Choice is a policy by its name, the value of the key "response" in a scenario.
type Choice struct {
	Name   string
	About  string // what it does, in a line
	Policy Policy
}

// Choices are all policies, in the order in which they are offered, as a new slice.
func Choices() []Choice {
	return []Choice{
		{"none", "nothing is done", Policy{}},
		{"cure", "minimal drop; the host that caused it is isolated, and what would close a loop again is lossy for a time", Policy{Break: BreakDrop, Trigger: true, Turns: true}},
		{"drop", "drops frames of the loop until its priority group is at XON", Policy{Break: BreakDrop}},
		{"force", "sends frames of the loop in spite of the pause, if the next hop has reserve", Policy{Break: BreakForce}},
		{"bubble", "lends reserve to the loop, which only the loop's frames may use", Policy{Break: BreakBubble}},
		{"trigger", "the initial trigger is handled", Policy{Trigger: true}},
		{"drop+trigger", "minimal drop, and the initial trigger is handled", Policy{Break: BreakDrop, Trigger: true}},
		{"force+trigger", "forced progress, and the initial trigger is handled", Policy{Break: BreakForce, Trigger: true}},
		{"bubble+trigger", "lossless bubble, and the initial trigger is handled", Policy{Break: BreakBubble, Trigger: true}},
	}
}

// Names are the names of all policies, as a new slice.
func Names() []string {
	return lists.Map(Choices(), func(c Choice) string { return c.Name })
}

// Choose are the policies of these names, as Parse has them.
func Choose(names []string) (choices []Choice, err error) {
	for _, name := range names {
		p, err := Parse(name)
		if err != nil {
			return nil, err
		}
		choices = append(choices, Choice{Name: name, Policy: p})
	}
	return choices, nil
}

// Parse is the policy of a name. The error lists the valid names.
func Parse(name string) (Policy, error) {
	for _, c := range Choices() {
		if c.Name == name {
			return c.Policy, nil
		}
	}
	return Policy{}, fmt.Errorf("response: %q is none; valid: %s", name, strings.Join(Names(), ", "))
}

// String is the policy's name.
func (p Policy) String() string {
	for _, c := range Choices() {
		if c.Policy == p {
			return c.Name
		}
	}
	return fmt.Sprintf("break %d, trigger %v, turns %v", p.Break, p.Trigger, p.Turns)
}
