package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"softswitch/topo"
	"softswitch/topo/tagger"
)

// rolesOf is what each node of a fabric is, in a word: of a switch the letters that the names of all
// switches of its level begin with, such as "agg", if no two levels have the same and each has some, or else its
// tier, from 1 for those with hosts; in a fabric without levels these letters or else "switch".
func rolesOf(f *topo.Fabric) []string {
	levels := levelsOf(f)
	words := make([]string, slices.Max(levels)+1) // by level; "" where names differ
	met := make([]bool, len(words))
	for s, level := range levels {
		if letters := lettersOf(f.Nodes[s].Name); !met[level] {
			words[level], met[level] = letters, true
		} else if words[level] != letters {
			words[level] = ""
		}
	}
	all := slices.Sorted(slices.Values(words))
	clear := all[0] != "" && len(slices.Compact(all)) == len(words)
	roles := make([]string, len(f.Nodes))
	for i := range roles {
		switch {
		case i >= len(levels):
			roles[i] = "host"
		case clear:
			roles[i] = words[levels[i]]
		case len(words) > 1:
			roles[i] = fmt.Sprintf("tier%d", levels[i]+1)
		default:
			roles[i] = "switch"
		}
	}
	return roles
}

// levelsOf is the level of each switch, 0 of all in a fabric without levels.
func levelsOf(f *topo.Fabric) []int {
	levels, err := tagger.Levels(f)
	if err != nil {
		return make([]int, f.Switches())
	}
	return levels
}

// hasLevels reports whether levels differ.
func hasLevels(levels []int) bool { return slices.Max(levels) > 0 }

// lettersOf is what a name begins with, up to the first character that is no letter.
func lettersOf(name string) string {
	if at := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }); at >= 0 {
		return name[:at]
	}
	return name
}

// failed is what fails in a case, by roles: "" for nothing and for the file's failures.
func (c *Checker) failed(k Case, roles []string) string {
	switch k.Kind {
	case LinkFailure:
		return c.linkRole(k.Links[0], roles)
	case SwitchFailure:
		return "switch " + roles[k.Switch]
	case PairFailure:
		pair := []string{c.linkRole(k.Links[0], roles), c.linkRole(k.Links[1], roles)}
		slices.Sort(pair)
		return strings.Join(pair, " and ")
	}
	return ""
}

// linkRole is what the ends of a link are.
func (c *Checker) linkRole(link int, roles []string) string {
	l := c.plan.Fabric.Links[link]
	ends := []string{roles[l.A.Node], roles[l.B.Node]}
	slices.Sort(ends)
	return strings.Join(ends, "--")
}
