package lab

import (
	"errors"

	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/scenario"
)

// Check returns all reasons why a plan that can be simulated cannot become a lab: names
// that are not valid for files or interfaces, configurations that a node would reject.
// It makes nothing. Refuse says what namespaces cannot play.
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
