package main

import (
	"os"

	"github.com/spf13/cobra"

	netnslab "softswitch/netns-lab"
	"softswitch/view/ui"
)

// pageAddress is where the live page listens unless it is told otherwise.
const pageAddress = "127.0.0.1:8080"

func labUI(name *string) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "ui",
		Short: "Show a lab that is up in a browser",
		Long: `Show a lab that is up in a browser: which links are busy, paused or down, how full the
buffers are, how labels travel, where a deadlock is and who started it; with a time line
to go back on, and buttons to fail links, to make hosts misbehave and to restart the
switches with another detector or response.

The address that is printed holds a token; a page without it can look on only. The page
listens on loopback unless it is told otherwise, is not encrypted, and needs nothing from
any other machine. It rests while no browser has it open. Ctrl-C ends it and leaves the
lab as it is.`,
		Example: "  sudo softswitch lab deploy -t scenarios/fattree-on-loop.yaml\n  sudo softswitch lab ui\n  sudo softswitch lab ui --listen 0.0.0.0:9000",
		Args:    cobra.NoArgs,
		RunE: inLab(name, func(cmd *cobra.Command, _ *netnslab.State, _ []string) error {
			p, err := ui.OpenLab(cmd.Context(), *name, listen, os.Stdout)
			if err != nil {
				return err
			}
			<-cmd.Context().Done()
			return p.Close()
		}),
	}
	c.Flags().StringVar(&listen, "listen", pageAddress, "address of the page; port 0 is any that is free")
	return c
}

// pageFlags are those of commands that play something and can show it.
func pageFlags(c *cobra.Command, show *bool, listen *string) {
	c.Flags().BoolVar(show, "ui", false, "show it in a browser, until Ctrl-C")
	c.Flags().StringVar(listen, "listen", pageAddress, "with --ui: address of the page; port 0 is any that is free")
}
