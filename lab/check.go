package lab

import (
	"errors"

	netnslab "softswitch/netns-lab"
	"softswitch/scenario"
	"softswitch/scenario/config"
)

// Check returns all that keeps a plan from being a lab, though a simulation plays it: names
// that no file or interface can have, configurations that a node would refuse. It makes nothing. What of a scenario namespaces cannot play is
// another question: see Refuse.
func Check(p *scenario.Plan) error {
	var errs []error
	if _, err := netnslab.Plan(Describe(p, Options{Program: "/softswitch"}), "/"); err != nil {
		errs = append(errs, err)
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
