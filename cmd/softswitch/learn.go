package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/lists"
	"softswitch/play/learn"
)

func learnCommand() *cobra.Command {
	var answers []int
	var html string
	c := &cobra.Command{
		Use:   "learn [STEP]...",
		Short: "Learn how pauses close a ring, and what cures it",
		Long: `Take a course of half an hour, from one pause to a ring that is cured: six steps, each with a
prediction, a run in virtual time, a drawing and a question. It needs no root and no lab. Without
STEP all are played. docs/learn.md has the same to read, and a sheet for teachers.

Exit status: 0 every answer was right; 1 some were not; 2 the course was not taken to its end.`,
		Example:           "  softswitch learn\n  softswitch learn 4 5\n  softswitch learn 1 --answers 2,2\n  softswitch learn --html replays.html",
		Args:              cli.Arguments(cobra.ArbitraryArgs),
		ValidArgsFunction: cobra.FixedCompletions(lists.Map([]int{1, 2, 3, 4, 5, 6}, strconv.Itoa), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if html != "" {
				return learn.WriteReplays(html)
			}
			course := learn.Course{Answers: answers, In: os.Stdin, Out: os.Stdout}
			for _, a := range args {
				n, err := strconv.Atoi(a)
				if err != nil {
					return fmt.Errorf("learn: step %q: valid: 1 to %d", a, len(learn.Steps()))
				}
				course.Steps = append(course.Steps, n)
			}
			right, asked, err := course.Take(cmd.Context())
			if err == nil && right < asked {
				err = cli.ErrUnmet
			}
			return err
		},
	}
	c.Flags().IntSliceVar(&answers, "answers", nil, "answers to all questions in turn, instead of asking: 1 is the first choice")
	c.Flags().StringVar(&html, "html", "", "write the replays of all steps to this file, and ask nothing")
	c.MarkFlagFilename("html", "html")
	return c
}
