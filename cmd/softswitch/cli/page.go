package cli

import "github.com/spf13/cobra"

// PageAddress is where the live page listens unless it is told otherwise.
const PageAddress = "127.0.0.1:8080"

// PageFlags are those of commands that play something and can show it.
func PageFlags(c *cobra.Command, show *bool, listen *string) {
	c.Flags().BoolVar(show, "ui", false, "show it in a browser, until Ctrl-C")
	c.Flags().StringVar(listen, "listen", PageAddress, "with --ui: address of the page; port 0 is any that is free")
}
