package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/strictyaml"
	"softswitch/scenario"
)

// System is something that is done about deadlocks: a row of the table.
type System struct {
	Name string
	// Detector and Response are as in a scenario file, and Prevention is a name for
	// scenario.Prevent; "none" or empty if the system has none.
	Detector, Response, Prevention string
	About                          string // what it is, in a line
}

// Systems are all systems, in the order in which they are shown.
func Systems() []System {
	return []System{
		{Name: "none", Detector: "none", About: "PFC alone"},
		{Name: "itsypaper", Detector: "itsypaper", About: "ITSY as its paper has it: detects, and does nothing else"},
		{Name: "itsy", Detector: "itsy", About: "ITSY with an exact verification: detects, and does nothing else"},
		{Name: "itsy+drop", Detector: "itsy", Response: "drop", About: "drops frames of the loop until its bucket is at XON"},
		{Name: "itsy+force", Detector: "itsy", Response: "force", About: "sends frames of the loop in spite of the pause, if the next hop has reserve"},
		{Name: "itsy+bubble", Detector: "itsy", Response: "bubble", About: "lends reserve to the loop, which only the loop's frames may use"},
		{Name: "itsy+drop+trigger", Detector: "itsy", Response: "drop+trigger", About: "minimal drop, and the initial trigger is handled"},
		{Name: "itsy+bubble+trigger", Detector: "itsy", Response: "bubble+trigger", About: "lossless bubble, and the initial trigger is handled"},
		{Name: "watchdog", Detector: "watchdog", About: "SONiC's PFC watchdog, action drop"},
		{Name: "watchdog-forward", Detector: "watchdog-forward", About: "SONiC's PFC watchdog, action forward"},
		{Name: "loopbreaker", Detector: "loopbreaker", About: "Shpiner et al.: finds the loop, reroutes its flows"},
		{Name: "deadlockbreaker", Detector: "deadlockbreaker", About: "Shpiner et al.: finds the loop, lends buffer to it for a while"},
		{Name: "tagger", Prevention: "tagger", About: "the class goes up at each bounce, k = 2 lossless classes"},
		{Name: "no-flood", Prevention: "no-flood", About: "Guo et al.: no lossless frame is flooded"},
		{Name: "ttl-bands", Prevention: "ttl-bands", About: "Hu et al.: the class follows the TTL"},
		{Name: "limit", Prevention: "limit", About: "Hu et al.: the flow that closes the loop is limited"},
		{Name: "thresholds", Prevention: "thresholds", About: "Hu et al.: XOFF and XON by position in the topology"},
	}
}

// put makes s a scenario with this system and no other.
func (sys *System) put(s *scenario.Scenario) error {
	s.Detector, s.Response = cmp.Or(sys.Detector, "none"), cmp.Or(sys.Response, "none")
	if sys.Prevention == "" {
		return nil
	}
	if err := s.Prevent(sys.Prevention); err != nil {
		return NotApplicable(err.Error())
	}
	return nil
}

// Named picks by name out of all, in the order of names; all of them if names is
// empty. what says what they are in an error about a name that none of them has,
// which lists the valid ones.
func Named[T any](what string, names []string, all []T, name func(T) string) ([]T, error) {
	if len(names) == 0 {
		return all, nil
	}
	var valid []string
	for _, t := range all {
		valid = append(valid, name(t))
	}
	var picked []T
	for i, n := range names {
		at := slices.Index(valid, n)
		if at < 0 {
			return nil, fmt.Errorf("--%s: %q is unknown%s; valid: %s", what, n, strictyaml.DidYouMean(n, valid), strings.Join(valid, ", "))
		}
		if slices.Contains(names[:i], n) {
			return nil, fmt.Errorf("--%s: %q is there twice", what, n)
		}
		picked = append(picked, all[at])
	}
	return picked, nil
}
