package cli

import "github.com/spf13/cobra"

// PageAddress is the default listen address of the live page.
const PageAddress = "127.0.0.1:8080"

// PageFlags adds the flags of the live page to a command that plays a scenario.
func PageFlags(c *cobra.Command, show *bool, listen *string) {
	c.Flags().BoolVar(show, "ui", false, "show it in a browser, until Ctrl-C")
	c.Flags().StringVar(listen, "listen", PageAddress, "with --ui: address of the page; port 0 selects a free port")
}
