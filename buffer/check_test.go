package buffer

import (
	"strings"
	"testing"
)

func TestCheckNamesEveryFault(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(c *Config)
		want   []string // each in the error
	}{
		{"no ports", func(c *Config) { c.Ports = 0 }, []string{"ports: 0; valid: 1 to 256"}},
		{"too many ports", func(c *Config) { c.Ports = 257 }, []string{"ports: 257; valid: 1 to 256"}},
		{"negative pool", func(c *Config) { c.Shared = -1 }, []string{"pool: -1 bytes; valid: 0 to 1073741824"}},
		{"huge pool", func(c *Config) { c.Shared = 1<<30 + 1 }, []string{"pool: 1073741825 bytes"}},
		{"negative size", func(c *Config) { c.Profile.Size = -2 }, []string{"size: -2 bytes"}},
		{"negative static_th", func(c *Config) { c.Profile.StaticTh = -3 }, []string{"static_th: -3 bytes"}},
		{"negative xon", func(c *Config) { c.Profile.XON = -4 }, []string{"xon: -4 bytes"}},
		{"negative xon_offset", func(c *Config) { c.Profile.XONOffset = -5 }, []string{"xon_offset: -5 bytes"}},
		{"negative xoff", func(c *Config) { c.Profile.XOFF = -6 }, []string{"xoff: -6 bytes"}},
		{"negative slack", func(c *Config) { c.Profile.Slack = -8 }, []string{"slack: -8 bytes"}},
		{"negative lossy_queue", func(c *Config) { c.LossyQueue = -7 }, []string{"lossy_queue: -7 bytes"}},
		{"dynamic_th too small", func(c *Config) { c.Profile.Dynamic, c.Profile.DynamicTh = true, -9 }, []string{"dynamic_th: -9; valid: -8 to 8"}},
		{"dynamic_th too large", func(c *Config) { c.Profile.Dynamic, c.Profile.DynamicTh = true, 9 }, []string{"dynamic_th: 9; valid: -8 to 8"}},
		{"threshold 0", func(c *Config) { c.Profile.Size, c.Profile.StaticTh = 0, 0 }, []string{"size + static_th: 0 bytes"}},
		{"xon at the threshold", func(c *Config) { c.Profile.XON = 200 }, []string{"xon: 200 bytes; valid: below the XOFF threshold of 200"}},
		{"threshold of a port 0", func(c *Config) { c.Profile.Size, c.Thresholds = 0, []Threshold{{1, 0}, {0, 0}, {1, 0}} }, []string{"port 1: XOFF threshold 0"}},
		{"negative threshold of a port", func(c *Config) { c.Thresholds = []Threshold{{1, 0}, {1, 0}, {-1, 0}} }, []string{"port 2: static_th -1"}},
		{"thresholds of two ports", func(c *Config) { c.Thresholds = make([]Threshold, 2) }, []string{"thresholds of 2 ports; valid: of all 3"}},
		{"dynamic thresholds of ports", func(c *Config) { c.Profile.Dynamic, c.Thresholds = true, make([]Threshold, 3) }, []string{"has dynamic_th"}},
		{"three at once", func(c *Config) { c.Ports, c.Shared, c.Profile.XOFF = 0, -1, -1 }, []string{"ports: 0", "pool: -1", "xoff: -1"}},
	} {
		c := small(tc.change)
		err := c.Check()
		if err == nil {
			t.Errorf("%s: no error", tc.name)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not say %q", tc.name, err, want)
			}
		}
		if n := strings.Count(err.Error(), "\n") + 1; n != len(tc.want) {
			t.Errorf("%s: %d faults reported, want %d:\n%v", tc.name, n, len(tc.want), err)
		}
		if m, err := NewMMU(c); m != nil || err == nil {
			t.Errorf("%s: NewMMU made one", tc.name)
		}
	}
}

func TestDefaultProfileNumbers(t *testing.T) {
	p := DefaultProfile
	if p.Threshold() != 40960 || p.XONThreshold(p.Threshold()) != 36864 || p.XOFF != 30720 || !p.Unique() {
		t.Errorf("XOFF at %d, XON at %d, headroom %d, unique %v", p.Threshold(), p.XONThreshold(p.Threshold()), p.XOFF, p.Unique())
	}
}
