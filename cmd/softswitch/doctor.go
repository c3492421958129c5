package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/play/rates"
	"softswitch/unit"
)

func doctorCommand() *cobra.Command {
	var fabric string
	var seconds int
	var asJSON bool
	var opt rates.Options
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine lacks, and what a lab holds",
		Long: `Check this machine for the requirements of the switch and the lab, and say how to
provide a missing one. Nothing is changed.

--lab finds the highest link rate that a fat-tree holds on this machine. It builds and
removes labs of its own in which a host of every other pod sends at line rate to a host of
the first pod and to one of the last; with k=4 these are the flows of the scenario
fattree-no-loop. A rate is held if --runs runs at it are valid by the rules of any
run, lose no lossless frame, and deliver to the receivers what their links carry.

Exit status: 0 no requirement is missing, or a rate is held; 1 a requirement is missing,
or no rate is held; 2 the check failed.`,
		Example: "  softswitch doctor\n  sudo softswitch doctor --lab k=4   # about 1 min\n  sudo softswitch doctor --lab k=4 --mtu 9000 --runs 10 --json   # about 4 min",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fabric != "" {
				return findRate(cmd.Context(), fabric, seconds, opt, asJSON)
			}
			for _, flag := range []string{"mtu", "runs", "seconds"} {
				if cmd.Flags().Changed(flag) {
					return fmt.Errorf("doctor: --%s is for --lab", flag)
				}
			}
			return examine(asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&fabric, "lab", "", `find the highest link rate that a fat-tree holds, "k=4"`)
	c.Flags().IntVar(&opt.MTU, "mtu", config.DefaultMTU, "with --lab: MTU of the links and length of the frames sent, in bytes")
	c.Flags().IntVar(&opt.Runs, "runs", 3, "with --lab: number of runs that must succeed at a rate")
	c.Flags().IntVar(&seconds, "seconds", 2, "with --lab: seconds for which hosts send in each run")
	c.RegisterFlagCompletionFunc("lab", cobra.FixedCompletions([]string{"k=2", "k=4", "k=6", "k=8"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// examine prints the checks of the machine.
func examine(asJSON bool) error {
	checks := netnslab.Doctor()
	write := checks.WriteText
	if asJSON {
		write = func(w io.Writer) error { return json.NewEncoder(w).Encode(checks) }
	}
	if err := write(os.Stdout); err != nil {
		return err
	}
	if checks.Lacking() {
		return cli.ErrUnmet
	}
	return nil
}

// findRate finds the highest link rate that a lab of the fabric holds.
func findRate(ctx context.Context, fabric string, seconds int, opt rates.Options, asJSON bool) error {
	f, err := rates.ParseFabric(fabric)
	if err != nil {
		return fmt.Errorf("doctor: --lab: %w", err)
	}
	f.MTU, f.Sends = opt.MTU, unit.Time(seconds)*unit.Second
	for _, n := range []struct {
		flag          string
		value, lo, hi int
	}{{"mtu", f.MTU, config.DefaultMTU, config.MaxMTU}, {"runs", opt.Runs, 1, 1000}, {"seconds", seconds, 1, 3600}} {
		if n.value < n.lo || n.value > n.hi {
			return fmt.Errorf("doctor: --%s: %d; use %d to %d", n.flag, n.value, n.lo, n.hi)
		}
	}
	for _, c := range netnslab.Doctor() {
		if c.Needed && !c.OK {
			return fmt.Errorf("doctor: --lab: %s: %s; %s", c.Name, c.Detail, c.Remedy)
		}
	}
	opt.Fabric, opt.Name = f, fmt.Sprintf("doctor%d", os.Getpid())
	found, err := rates.Find(ctx, opt, os.Stderr)
	if err != nil {
		return err
	}
	return cli.PrintJudged(found, found.Held > 0, asJSON)
}
