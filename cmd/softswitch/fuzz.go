package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/sim/fuzz"
	"softswitch/sim/fuzz/runner"
)

func simFuzz() *cobra.Command {
	r := runner.Run{Progress: os.Stderr}
	var seed int64
	var mode, detector string
	var modes []string
	for _, m := range fuzz.Modes {
		modes = append(modes, string(m))
	}
	c := printed(&cobra.Command{
		Use:   "fuzz",
		Short: "Hold a detector against the oracle on random fabrics",
		Long: `Play random scenarios in virtual time, most of them built so that they deadlock,
and count what the detector said against the truth. A case is determined by the
seed, its number and the mode alone.

Modes: "usual"; "loss" loses control frames; "expiry" stops switches for so long
that pauses expire.

Each case with a false positive, a premature declaration or a false negative is
written to the directory of --out as a scenario file. The first of each kind are
made smaller before.

A deadlock counts as missed if for 20 laps it waited for nothing but itself and
nobody declared it; a lap is what a full frame
and a pause need to pass every link of a loop. Latency is from the onset to the
first declaration, in laps of the declared loop. Control frames are messages and
pauses repeated before their time, of all cases together.

Exit status: 0 no false positive, premature declaration, false negative or
invalid case; 1 there is one; 2 it could not be played.`,
		Example: "  softswitch sim fuzz --n 10000 --seed 1 --detector itsypaper",
		Args:    arguments(cobra.NoArgs),
	}, "print the report as JSON", func(cmd *cobra.Command, _ []string) (finding, error) {
		d, err := catalog.Named("--detector", detector)
		if err != nil {
			return nil, err
		}
		r.Detector, r.Mode, r.Seed = d, fuzz.Mode(mode), uint64(seed)
		switch {
		case r.N < 1 || r.N > 10_000_000:
			return nil, fmt.Errorf("--n: %d; valid: 1 to 10000000", r.N)
		case seed < 0:
			return nil, fmt.Errorf("--seed: %d; valid: 0 or above", seed)
		case r.Workers < 1 || r.Workers > 1024:
			return nil, fmt.Errorf("--workers: %d; valid: 1 to 1024", r.Workers)
		case r.Shrink < 0:
			return nil, fmt.Errorf("--shrink: %d; valid: 0 or above", r.Shrink)
		case !slices.Contains(modes, mode):
			return nil, fmt.Errorf("--mode: %q; valid: %s", mode, strings.Join(modes, ", "))
		}
		report, err := r.Play(cmd.Context())
		if err != nil {
			return nil, err
		}
		return judged(report, report.Clean())
	})
	c.Flags().IntVar(&r.N, "n", 1000, "number of cases")
	c.Flags().Int64Var(&seed, "seed", 1, "seed of all randomness, 0 or above")
	detectorFlag(c, &detector, catalog.Default, "deadlock detector")
	c.Flags().StringVar(&mode, "mode", string(fuzz.Usual), "what happens to control frames: "+strings.Join(modes, ", "))
	c.Flags().StringVar(&r.Out, "out", filepath.Join("build", "fuzz"), "directory for failures")
	c.Flags().IntVar(&r.Workers, "workers", runtime.GOMAXPROCS(0), "cases played at a time")
	c.Flags().IntVar(&r.Shrink, "shrink", 5, "how many failures of each kind to make smaller")
	c.MarkFlagDirname("out")
	return c
}
