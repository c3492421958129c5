package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/conform"
	"softswitch/internal/safefile"
	"softswitch/play"
)

func conformProbe() *cobra.Command {
	var interfaces []string
	var out, speed, trust, slack, name string
	var mtu int
	var seed uint64
	c := &cobra.Command{
		Use:   "probe",
		Short: "Find out what a switch does, and write a profile of it",
		Long: `Find out what a switch does about pauses, and write a profile for "conform run": which code
points it carries, which priorities honour a pause and which are sent, with which quanta
and how often, and at which fill of a priority group it pauses, loses and resumes. Without
--interfaces it is softswitch's own switch, in virtual time.

The switch is stopped and filled until it loses frames: not on a network that somebody
uses. Numbers of the profile are judged by "conform run": read it first, and write probe in
the place of what the switch does not promise.

Exit status: 0 the profile is written; 2 it is not.`,
		Example: "  softswitch conform probe\n  sudo softswitch conform probe --interfaces eth1,eth2 -o dut.yaml\n  sudo softswitch conform probe --interfaces veth-a,veth-b,veth-c --slack 1ms -o dut.yaml",
		Args:    cli.Arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckOutputs(nil, cli.Output{Flag: "output", File: out}); err != nil {
				return err
			}
			isLive := len(interfaces) > 0
			if isLive && len(interfaces) < 2 {
				return errors.New("--interfaces: name two or more, each of which leads to a port of the switch")
			}
			truth := play.ConformSelf()
			var b strings.Builder
			fmt.Fprintf(&b, "name: %s\nports:\n", name)
			for i, q := range interfaces {
				fmt.Fprintf(&b, "  - {name: p%d, interface: %s}\n", i+1, q)
			}
			if !isLive {
				for _, q := range truth.Ports {
					fmt.Fprintf(&b, "  - {name: %s}\n", q.Name)
				}
			}
			if !isLive && !cmd.Flags().Changed("speed") {
				speed = truth.Ports[0].Speed.String()
			}
			fmt.Fprintf(&b, "speed: %s\nmtu: %d\ntrust: %s\npfc: {slack: %s}\n", speed, mtu, trust, slack)
			base, err := conform.Load("flags", []byte(b.String()))
			if err != nil {
				return err
			}
			var text []byte
			if isLive {
				text, err = play.ConformProbeLive(cmd.Context(), base, seed, os.Stderr)
			} else {
				text, err = play.ConformProbeSim(cmd.Context(), base, play.ConformOptions{Profile: truth, Seed: seed}, os.Stderr)
			}
			if err != nil {
				return err
			}
			if out == "" {
				_, err := os.Stdout.Write(text)
				return err
			}
			return safefile.WriteFile(out, text, 0o644)
		},
	}
	c.Flags().StringSliceVar(&interfaces, "interfaces", nil, "interfaces that lead to ports of the switch")
	c.Flags().StringVarP(&out, "output", "o", "", "file for the profile; default: it is printed")
	c.Flags().StringVar(&name, "name", "dut", "name of the switch in the profile")
	c.Flags().StringVar(&speed, "speed", "10Gbit/s", "speed of the interfaces: that of the switch is found where it is slower")
	c.Flags().IntVar(&mtu, "mtu", 1500, "longest IP packet, in bytes")
	c.Flags().StringVar(&trust, "trust", "dscp", "what gives a frame its priority: dscp or pcp")
	c.Flags().StringVar(&slack, "slack", "0s", "time that a switch in software takes to act, such as 1ms")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of what is drawn at random")
	c.MarkFlagFilename("output", "yaml", "yml")
	c.RegisterFlagCompletionFunc("trust", cobra.FixedCompletions([]string{"dscp", "pcp"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}
