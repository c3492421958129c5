package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"

	"softswitch/internal/lists"
)

// Parallel has GNU parallel play all missing shards, one at a time unless options say
// something else, such as --jobs 4 or --sshlogin.
func (c *Campaign) Parallel(ctx context.Context, options []string, show io.Writer) error {
	numbers, program, dir, err := c.missing()
	if err != nil || len(numbers) == 0 {
		return err
	}
	arguments := append([]string{"--jobs", "1", "--line-buffer", "--joblog", filepath.Join(dir, "parallel.log")}, options...)
	arguments = append(arguments, quoted(program), "campaign", "run", quoted(dir), "--shard", "{}", ":::")
	arguments = append(arguments, lists.Map(numbers, strconv.Itoa)...)
	cmd := exec.CommandContext(ctx, "parallel", arguments...)
	cmd.Stdout, cmd.Stderr = show, show
	err = cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("campaign: there is no GNU parallel here; on Debian: apt install parallel")
	}
	if err != nil {
		return fmt.Errorf("campaign: parallel: %w", err)
	}
	return nil
}
