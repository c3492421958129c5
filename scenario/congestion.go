package scenario

import (
	"slices"

	"softswitch/host/congestion"
	"softswitch/internal/schema"
	"softswitch/node/config"
)

// Congestion is congestion control: marks by the switches, and what senders of transport
// rc make of them.
type Congestion struct {
	// Control is what senders of transport rc do: lower their rate at marks (dcqcn), at
	// round-trip times that grow (timely), or nothing.
	Control string `yaml:"control" schema:"none|dcqcn|timely,default=dcqcn"`
	// Profile is the parameters of dcqcn: those of its paper, of the senders of HPCC's
	// simulator, or of NVIDIA's NICs.
	Profile congestion.ProfileName `yaml:"profile" schema:"paper|hpcc-sender|nvidia,default=paper"`
	// CNPPriority is the priority in which receivers notify senders; it must be lossy.
	CNPPriority *int `yaml:"cnp_priority" schema:"0..7,default=6" was:"cnp_class"`
	// TimesSlower is how many times slower the scenario's links are than those for which
	// the parameters are meant: their times are multiplied by it.
	TimesSlower int `yaml:"times_slower" schema:"1..1000000,default=1"`
	// ECN marks by the egress queue. Default: on, with its defaults, for dcqcn without
	// phantom; else off.
	ECN *config.RED `yaml:"ecn"`
	// Phantom marks by phantom queues, instead of or beside ecn; default: off.
	Phantom *config.Phantom `yaml:"phantom"`

	marking []int // the priorities whose queues mark; nil: the lossless ones
}

// congestion fills in and checks c, with the flows and the buffers of s.
func (p *parser) congestion(s *Scenario, c *Congestion) *Congestion {
	schema.Fill(c)
	if slices.Contains(s.Lossless(), *c.CNPPriority) {
		p.Faultf("congestion.cnp_priority", "priority %d is lossless, and a CNP must not be paused by what it is to end; use a priority that is not in pfc.lossless, %v", *c.CNPPriority, s.Lossless())
	}
	if c.Control == "dcqcn" && c.ECN == nil && c.Phantom == nil {
		c.ECN = &config.RED{}
		schema.Fill(c.ECN)
	}
	config.CheckRED(p.Doc, "congestion.ecn", c.ECN)
	if c.marks() && len(s.Lossless()) == 0 {
		p.Faultf("congestion", "there is no lossless priority, so that nothing is marked; name some in pfc.lossless")
	}
	if c.ECN != nil {
		s.Warnings = append(s.Warnings, config.WarnRED(p.Doc, "congestion.ecn", c.ECN, s.lowestXOFF())...)
	}
	return c
}

// marks reports whether switches mark.
func (c *Congestion) marks() bool { return c != nil && (c.ECN != nil || c.Phantom != nil) }

// lowestXOFF is the lowest XOFF threshold of any priority group; of a dynamic one, where it is alone.
func (s *Scenario) lowestXOFF() int {
	lowest := s.Buffer.XOFFThreshold()
	if v := s.Prevention; v != nil && v.Thresholds != nil {
		lowest = s.Buffer.Size + min(*v.Thresholds.Down.StaticTh, *v.Thresholds.Up.StaticTh)
	}
	return lowest
}
