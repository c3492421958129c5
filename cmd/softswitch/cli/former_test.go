package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestFormerFlag: a flag works under its former name, which help does not show.
func TestFormerFlag(t *testing.T) {
	var n int
	c := &cobra.Command{Use: "c", Run: func(*cobra.Command, []string) {}}
	c.Flags().IntVar(&n, "priority", 3, "priority to pause")
	FormerFlag(c, "class", "priority")
	for _, args := range [][]string{{"--class", "5"}, {"--priority=5"}} {
		n = 3
		c.SetArgs(args)
		if err := c.Execute(); err != nil || n != 5 {
			t.Errorf("%v: %d, %v; want 5", args, n, err)
		}
	}
	if help := c.UsageString(); strings.Contains(help, "class") || !strings.Contains(help, "--priority") {
		t.Errorf("help shows\n%s", help)
	}
}
