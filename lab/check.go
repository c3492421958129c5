package lab

import (
	"errors"
	"fmt"

	netnslab "softswitch/netns-lab"
	"softswitch/scenario"
	"softswitch/scenario/config"
	"softswitch/unit"
)

// longest a lab is played: later instants do not fit into its clock.
const longest = 365 * 24 * 3600 * unit.Second

// Check returns all that keeps a plan from being a lab, though a simulation plays it: names
// that no file or interface can have, a duration that no clock holds, configurations that
// a node would refuse. It makes nothing. What of a scenario namespaces cannot play is
// another question: see Refuse.
func Check(p *scenario.Plan) error {
	var errs []error
	if _, err := netnslab.Plan(Describe(p, Options{Program: "/softswitch"}), "/"); err != nil {
		errs = append(errs, err)
	}
	if d := p.Scenario.Duration; d > longest {
		errs = append(errs, fmt.Errorf("scenario %s: duration %s: a lab plays at most %s", p.Scenario.Name, config.FormatTime(d), config.FormatTime(longest)))
	}
	for _, s := range p.Switches {
		_, _, err := config.LoadSwitch(s.Name, s.Marshal())
		errs = append(errs, err)
	}
	for _, h := range p.Hosts {
		_, err := config.LoadHost(h.Name, h.Marshal())
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
