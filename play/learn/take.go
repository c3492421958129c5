package learn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Course is how the course is taken.
type Course struct {
	// Steps are which of them, from 1; none is all.
	Steps []int
	// Answers, unless empty, are those to all questions in turn, 1 for the first choice, instead of In's.
	Answers []int
	In      io.Reader
	Out     io.Writer
}

// errStopped is that somebody has had enough.
var errStopped = errors.New("learn: the course ended before its end")

// Take plays the course, and says how many of how many answers were right.
func (c *Course) Take(ctx context.Context) (right, asked int, err error) {
	all := Steps()
	for _, n := range c.Steps {
		if n < 1 || n > len(all) {
			return 0, 0, fmt.Errorf("learn: step %d: valid: 1 to %d", n, len(all))
		}
	}
	numbers := c.Steps
	if len(numbers) == 0 {
		for i := range all {
			numbers = append(numbers, i+1)
		}
	}
	lines := bufio.NewScanner(c.In)
	for _, n := range numbers {
		r, err := c.take(ctx, n, &all[n-1], lines)
		right, asked = right+r, asked+2
		if err != nil {
			return right, asked, err
		}
	}
	fmt.Fprintf(c.Out, "\n%d of %d answers were right.\n", right, asked)
	return right, asked, nil
}

func (c *Course) take(ctx context.Context, n int, s *Step, lines *bufio.Scanner) (right int, err error) {
	fmt.Fprintf(c.Out, "\n== %d. %s (%d minutes)\n\n%s\n%s\n", n, s.Title, s.Minutes, s.Text, s.Drawing)
	run, other, err := s.play()
	if err != nil {
		return 0, err
	}
	for i, q := range []Question{s.Predict, s.Check} {
		given, err := c.ask(ctx, q, lines)
		if err != nil {
			return right, err
		}
		if i == 0 {
			fmt.Fprintf(c.Out, "\nPlayed in virtual time:\n\n  %s\n", strings.Join(run.lines(), "\n  "))
		}
		want := q.Right(run, other)
		mark := "No: " + q.Choices[want] + "."
		if given == want {
			mark = "Yes."
			right++
		}
		fmt.Fprintf(c.Out, "\n%s %s\n", mark, q.Why)
		if i == 1 && other != run {
			fmt.Fprintf(c.Out, "\nPlayed for this question:\n\n  %s\n", strings.Join(other.result(), "\n  "))
		}
	}
	fmt.Fprintf(c.Out, "\n%s\n", s.After)
	return right, nil
}

// play plays what the step needs; other is run if it has no play of its own.
func (s *Step) play() (run, other *Run, err error) {
	if run, err = s.Play.run(nil); err != nil || s.Other == (Play{}) {
		return run, run, err
	}
	other, err = s.Other.run(nil)
	return run, other, err
}

// ask asks until the answer is one of the choices.
func (c *Course) ask(ctx context.Context, q Question, lines *bufio.Scanner) (given int, err error) {
	fmt.Fprintf(c.Out, "\n? %s\n", q.Ask)
	for i, choice := range q.Choices {
		fmt.Fprintf(c.Out, "  %d  %s\n", i+1, choice)
	}
	for {
		fmt.Fprint(c.Out, "> ")
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case len(c.Answers) > 0:
			given, c.Answers = c.Answers[0], c.Answers[1:]
			fmt.Fprintln(c.Out, given)
			if given < 1 || given > len(q.Choices) {
				return 0, fmt.Errorf("learn: answer %d: valid: 1 to %d", given, len(q.Choices))
			}
			return given - 1, nil
		case !lines.Scan():
			return 0, errors.Join(errStopped, lines.Err())
		}
		text := strings.TrimSpace(lines.Text())
		if given, err := strconv.Atoi(text); err == nil && given >= 1 && given <= len(q.Choices) {
			return given - 1, nil
		}
		fmt.Fprintf(c.Out, "%q: valid: 1 to %d\n", text, len(q.Choices))
	}
}
