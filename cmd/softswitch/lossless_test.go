package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/internal/testkit"
	"softswitch/lab"
	"softswitch/scenario"
	"softswitch/study/fuzz"
)

var losslessLabs = flag.Int("labs", 2, "how many random fabrics TestLosslessLabs plays live")

// TestLosslessLabs: random scenarios that validate does not warn of lose no lossless frame in labs
// either, hosts included. They are those of sim fuzz --mode lossless, as much slower as a lab needs.
func TestLosslessLabs(t *testing.T) {
	needLab(t, nil)
	seed := testkit.Seed(t)
	known := scenario.Known{Detectors: catalog.Names()}
	for i, n := 0, 0; n < *losslessLabs; i++ {
		text := fuzz.New(seed, i, fuzz.Lossless).Text("itsy", "")
		s, err := scenario.Parse("lossless.yaml", text, known)
		if err != nil || len(s.Warnings) > 0 || len(s.Fabric.Nodes) > 24 {
			continue
		}
		slow := lab.Slowness(s)
		if slowed, err := s.Slow(slow); err != nil || lab.Refuse(slowed) != nil {
			continue
		}
		n++
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b := newBed(t)
			file := filepath.Join(t.TempDir(), "lossless.yaml")
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			v, _ := b.play(file, "--slow", strconv.Itoa(slow))
			lost := v.LosslessLost - v.LosslessLostBy[dataplane.DropTTL.String()] // a loop of routes, which no buffer helps
			if t.Logf("%d switches and hosts, %d times slower: %d XOFF, %d lossless frames lost", len(s.Fabric.Nodes), slow, v.PFC.XOFF, lost); lost != 0 {
				t.Errorf("%d lossless frames lost: %v\n%s", lost, v.LosslessLostBy, text)
			}
		})
	}
}
