package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/detect/catalog"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/scenario"
)

// System is something that is done about deadlocks: a row of the table.
type System struct {
	Name string
	// Detector and Response are as in a scenario file, and Prevention is a name for
	// scenario.Prevent; "none" or empty if the system has none.
	Detector, Response, Prevention string
	// Traffic is the kind of traffic to play, by name; "": that of the file.
	Traffic string
	About   string // what it is, in a line
}

// Systems are all systems, in the order in which they are shown: every detector of the
// catalogue, with every response if it says where the loop is, every prevention, and no PFC.
func Systems() (all []System) {
	for _, d := range catalog.Detectors() {
		all = append(all, System{Name: d.Name, Detector: d.Name, About: d.About})
		if !d.NamesLoops {
			continue
		}
		for _, r := range catalog.Responses() {
			if r.Name != catalog.None {
				all = append(all, System{Name: d.Name + "+" + r.Name, Detector: d.Name, Response: r.Name, About: r.About})
			}
		}
	}
	all = append(all, preventions...)
	for _, name := range []string{RC, NoPFCGoBackN, NoPFCSelective} {
		all = append(all, System{Name: name, Traffic: name, About: trafficNamed(name).About})
	}
	return all
}

var preventions = []System{
	{Name: "tagger", Prevention: "tagger", About: "the priority goes up at each bounce, k = 2 lossless priorities"},
	{Name: "no-flood", Prevention: "no-flood", About: "Guo et al.: no lossless frame is flooded"},
	{Name: "ttl-bands", Prevention: "ttl-bands", About: "Hu et al.: the priority follows the TTL"},
	{Name: "limit", Prevention: "limit", About: "Hu et al.: the flow that closes the loop is limited"},
	{Name: "thresholds", Prevention: "thresholds", About: "Hu et al.: XOFF and XON by position in the topology"},
	{Name: "gfc", Prevention: "gfc", About: "Qian et al.: switches tell one another rates and never pause"},
	{Name: "bubble-injection", Prevention: "bubble-injection", About: "Carrión et al.: what is new to a ring waits until it has room"},
}

// usualResponses are those that are compared, with the default detector, if no system is
// named. What it brings to handle a trigger is seen with two ways to break a deadlock;
// alone it breaks none.
var usualResponses = []string{"", "cure", "drop", "force", "bubble", "drop+trigger", "bubble+trigger"}

// Usual are the systems to compare if none is named. rc stands beside no PFC: the same connections,
// with it.
func Usual() []System {
	return slices.DeleteFunc(Systems(), func(s System) bool {
		i := slices.IndexFunc(catalog.Detectors(), func(d catalog.Detector) bool { return d.Name == s.Detector && d.Variant })
		return i >= 0 || !slices.Contains(usualResponses, s.Response) || s.Response != "" && s.Detector != catalog.Default
	})
}

// put makes s a scenario with this system and no other.
func (sys *System) put(s *scenario.Scenario) error {
	s.Detector, s.Response = cmp.Or(sys.Detector, "none"), cmp.Or(sys.Response, "none")
	if sys.Traffic != "" {
		trafficNamed(sys.Traffic).put(s)
	}
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
	valid := lists.Map(all, name)
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

// PickSystems are the systems of these names, the usual ones if there are no names.
func PickSystems(names []string) ([]System, error) {
	if len(names) == 0 {
		return Usual(), nil
	}
	return Named("systems", names, Systems(), func(s System) string { return s.Name })
}
