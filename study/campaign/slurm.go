package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"softswitch/internal/safefile"
	"softswitch/study/shard"
)

// missing are the shards to be played, and this program and the folder as absolute paths.
func (c *Campaign) missing() (numbers []int, program, dir string, err error) {
	s, err := c.Status()
	if err != nil {
		return nil, "", "", err
	}
	if dir, err = filepath.Abs(c.dir); err != nil {
		return nil, "", "", err
	}
	program, err = os.Executable()
	return s.rest(), program, dir, err
}

// Slurm submits an array job of all missing shards, with further options of sbatch, and says
// on show what it is called. Nodes find the folder and this program under the same paths.
func (c *Campaign) Slurm(ctx context.Context, options []string, show io.Writer) error {
	numbers, program, dir, err := c.missing()
	if err != nil || len(numbers) == 0 {
		return err
	}
	logs := filepath.Join(dir, "logs")
	if err := safefile.MkdirAll(logs, 0o755); err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	arguments := append([]string{
		"--parsable", "--job-name=" + filepath.Base(dir), "--array=" + shard.Ranges(numbers),
		"--chdir=" + dir, "--output=" + filepath.Join(logs, "%a.txt"), "--open-mode=append", "--requeue",
	}, options...)
	cmd := exec.CommandContext(ctx, "sbatch", arguments...)
	cmd.Stdin = strings.NewReader(fmt.Sprintf("#!/bin/sh\nexec %s campaign run %s --shard $SLURM_ARRAY_TASK_ID\n", quoted(program), quoted(dir)))
	cmd.Stderr = show
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("campaign: there is no sbatch here: install Slurm's commands")
	}
	job, _, _ := strings.Cut(strings.TrimSpace(string(out)), ";")
	if job != "" {
		fmt.Fprintf(show, "Slurm's job %s: shards %s of %d; their logs are in %s\n", job, shard.Ranges(numbers), c.Shards, logs)
	}
	if err != nil {
		return fmt.Errorf("campaign: sbatch: %w", err)
	}
	return nil
}

// quoted is a word for a shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
