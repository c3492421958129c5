package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"softswitch/live/node"
	"softswitch/scenario/config"
)

func hostCommand() *cobra.Command {
	var file, record string
	c := &cobra.Command{
		Use:   "host -c FILE",
		Short: "Run an end host: flows, PFC, measurement, misbehaviour",
		Long: `Run an end host on a network interface until SIGINT or SIGTERM: it sends the
flows of its file, honours PFC, counts what it receives, and misbehaves when its
file, or a control request, says so. The kernel's stack on the same interface
keeps answering ping.`,
		Example: "  sudo softswitch host -c host.yaml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := readFile(file)
			if err != nil {
				return err
			}
			cfg, err := config.LoadHost(file, data)
			if err != nil {
				return err
			}
			if cfg.Stack != "" {
				return fmt.Errorf("%s: stack: %q is for programs, which softswitch nic serves; take it out, or run softswitch nic -c %s", file, cfg.Stack, file)
			}
			return node.RunHost(cmd.Context(), cfg, record)
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "configuration file (YAML)")
	c.MarkFlagRequired("config")
	c.Flags().StringVar(&record, "record", "", "file for every call of the host, to play back with softswitch replay")
	c.MarkFlagFilename("config", "yaml", "yml")
	c.MarkFlagFilename("record")
	return c
}
