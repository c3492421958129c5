package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/node/config"
	"softswitch/unit"
)

// sized is the configuration of a switch of this number with so many ports.
func sized(id uint16, ports int, detector string) config.Switch {
	cfg := config.Switch{Name: "s1", ID: id, Detector: detector}
	for p := range ports {
		cfg.Ports = append(cfg.Ports, config.Port{Name: fmt.Sprintf("p%d", p)})
	}
	cfg.Fill()
	return cfg
}

// newOf makes a switch, and returns what New of its detector panics with.
func newOf(t *testing.T, d catalog.Detector, cfg config.Switch) (panics any) {
	t.Helper()
	defer func() { panics = recover() }()
	policy, err := respond.Parse("cure")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataplane.NewSwitch(cfg.Build(respond.New(d.New, policy), 8, 0)); err != nil {
		t.Errorf("%s: switch %d with %d ports: %v", d.Name, cfg.ID, len(cfg.Ports), err)
	}
	return nil
}

// TestBounds: a detector runs on the smallest and on the greatest switch that its bounds let pass, and what is just
// beyond them, on which New panics, a configuration is refused for.
func TestBounds(t *testing.T) {
	for _, d := range catalog.Detectors() {
		for _, c := range []struct {
			id    uint16
			ports int
		}{
			{1, 1}, {1, 64}, {1, 65}, {1, unit.MaxPorts}, {1<<14 - 1, 2}, {1 << 14, 2}, {1<<16 - 1, 1}, {1<<16 - 1, unit.MaxPorts},
		} {
			cfg := sized(c.id, c.ports, d.Name)
			panics := newOf(t, d, cfg)
			fits := catalog.Fits(d.Name, "s1", unit.NodeID(c.id), c.ports)
			if (panics == nil) != (fits == nil) {
				t.Errorf("%s on switch %d with %d ports: New panics with %v, Fits says %v", d.Name, c.id, c.ports, panics, fits)
			}
			_, _, err := config.LoadSwitch("s1.yaml", cfg.Marshal())
			if (err == nil) != (fits == nil) || err != nil && !strings.Contains(err.Error(), "detector: "+fits.Error()) {
				t.Errorf("%s on switch %d with %d ports: the file is refused with %v, want %v", d.Name, c.id, c.ports, err, fits)
			}
		}
	}
	for want, c := range map[string]struct {
		id    unit.NodeID
		ports int
	}{
		`"itsypaper" takes switches of at most 64 ports, and s1 has 65; use none, itsy, `:              {1, 65},
		`"itsypaper" takes switches with numbers of at most 16383, and s1 has 16384; use none, itsy, `: {1 << 14, 64},
	} {
		if err := catalog.Fits("itsypaper", "s1", c.id, c.ports); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("switch %d with %d ports: %v, want %s", c.id, c.ports, err, want)
		}
	}
}
