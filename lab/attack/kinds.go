package attack

import (
	"softswitch/internal/lists"
	"softswitch/link/forge"
)

// kind is a kind of attack: what it sends next, nil if it has nothing to send yet.
type kind struct {
	name, about string
	make        func(*attacker) []byte
}

var kinds = []kind{
	{"forge", "a pause, a label or a message of any kind that nobody sent", func(a *attacker) []byte { return a.fabric.Frame(a.rng, a.src) }},
	{"replay", "one that the node sent before", func(a *attacker) []byte { return a.own.Last(a.older(), 0) }},
	{"reflect", "one of the far end, sent back to it", func(a *attacker) []byte { return a.far.Last(a.older(), 0) }},
	{"mutate", "one that the node sent, changed", func(a *attacker) []byte {
		if f := a.own.Last(a.older(), 0); f != nil {
			return forge.Mutate(a.rng, f)
		}
		return nil
	}},
	{"duplicate", "the last one that the node sent", func(a *attacker) []byte { return a.own.Last(1, 0) }},
	{"reorder", "one that the node sent, behind later ones", func(a *attacker) []byte { return a.own.Last(2+a.rng.IntN(4), 0) }},
}

// older draws which of the last frames is taken: late ones mostly.
func (a *attacker) older() int { return 1 + a.rng.IntN(1+a.rng.IntN(40)) }

// KindNames are the names of all kinds, as a new slice.
func KindNames() []string {
	return lists.Map(kinds, func(k kind) string { return k.name })
}

// KindsAbout is what each kind sends, a line each.
func KindsAbout() []string {
	return lists.Map(kinds, func(k kind) string { return k.name + ": " + k.about })
}
