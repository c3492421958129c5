package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	netnslab "softswitch/netns-lab"
)

// rootlessInit is the command that is the first process of the namespaces of a rootless
// lab.
const rootlessInit = "rootless-init"

func labRootless() *cobra.Command {
	c := &cobra.Command{
		Use:   "rootless [COMMAND [ARG...]]",
		Short: "Run a command, or a shell, in which labs need no root",
		Long: `Run a command, by default a shell, as root of a user namespace: labs can be made
there without rights on the machine, with every command of softswitch. They are not
those of the machine, and end with the command. What "lab run --rootless" does for
one scenario, this does for a whole session.

Nodes have no real-time priority there, and bursts find the kernel's default backlog:
on a busy machine a run is sooner "not valid". "softswitch doctor" says whether the
machine lets users make user namespaces, and what to do if not.`,
		Example:               "  softswitch lab rootless\n  softswitch lab rootless sh -c 'softswitch lab deploy -t scenarios/pause.yaml && softswitch lab exec h1 ping -c 3 10.100.1.2'",
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{cmp.Or(os.Getenv("SHELL"), "/bin/sh")}
			}
			return runRootless(cmd.Context(), args)
		},
	}
	c.Flags().SetInterspersed(false) // what follows is the command's
	return c
}

// rootlessFlag is the flag of commands that play a scenario.
func rootlessFlag(c *cobra.Command, on *bool) {
	c.Flags().BoolVar(on, "rootless", false, "play it in a user namespace, without root")
}

// orRootless adds to the error of a command with the flag --rootless that there is one.
func orRootless(err error) error {
	if errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		return fmt.Errorf("%w; run with sudo, or without root: --rootless", err)
	}
	return err
}

// again runs this very command once more, without --rootless, in a user namespace.
func again(ctx context.Context) error {
	args := slices.DeleteFunc(slices.Clone(os.Args), func(a string) bool { return a == "--rootless" || a == "--rootless=true" })
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args[0] = program
	return runRootless(ctx, args)
}

func runRootless(ctx context.Context, argv []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return passOn(netnslab.Rootless(ctx, program, []string{rootlessInit}, argv, stdio))
}

// errStays is for options that need a lab which outlives the command.
var errStays = errors.New("--rootless goes with neither --keep nor --ui: its lab ends with the command, and nobody outside reaches it; for a session: softswitch lab rootless")

// rootlessInitCommand is for [netnslab.Rootless] alone.
func rootlessInitCommand() *cobra.Command {
	return &cobra.Command{
		Use:                rootlessInit,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return passOn(netnslab.RootlessInit(args)) },
	}
}
