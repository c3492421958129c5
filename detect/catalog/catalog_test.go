package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/node/config"
)

// TestDetectors: every name is there once, has a line about it, and a factory that makes a
// detector of this name in a switch.
func TestDetectors(t *testing.T) {
	all := catalog.Detectors()
	if all[0].Name != catalog.None || len(all) < 9 {
		t.Errorf("%d detectors, first %q; want %q", len(all), all[0].Name, catalog.None)
	}
	if _, err := catalog.Named("test", catalog.Default); err != nil {
		t.Errorf("the default: %v", err)
	}
	for i, d := range all {
		if d.About == "" || strings.Contains(d.About, "\n") || slices.IndexFunc(all, func(o catalog.Detector) bool { return o.Name == d.Name }) != i {
			t.Errorf("%+v: want a name of its own and a line about it", d)
		}
		cfg := config.Switch{Name: "s1", ID: 1, Ports: []config.Port{{Name: "a"}, {Name: "b"}}}
		cfg.Fill()
		sw, err := dataplane.NewSwitch(cfg.Build(d.New, 8, 0))
		if err != nil {
			t.Fatal(err)
		}
		if got := sw.Detector().Name(); got != d.Name {
			t.Errorf("%s makes a detector that is called %s", d.Name, got)
		}
	}
	if _, err := catalog.Named("file", "magic"); err == nil || err.Error() != `file: "magic" is no detector; valid: `+strings.Join(catalog.Names(), ", ") {
		t.Errorf("a name of none: %v", err)
	}
}

// TestResponses: every response has a line about it and is one that package respond takes.
func TestResponses(t *testing.T) {
	for _, r := range catalog.Responses() {
		if p, err := respond.Parse(r.Name); err != nil || p.String() != r.Name || r.About == "" {
			t.Errorf("%+v: %v, %v", r, p, err)
		}
	}
}
