package learn

import (
	"bytes"
	"fmt"
	"strings"

	"softswitch/internal/safefile"
	"softswitch/view/ui"
)

// WriteReplays writes the runs of all steps as one page that a browser plays, an act each.
func WriteReplays(file string) error {
	show := new(ui.Show)
	for i, s := range Steps() {
		stream := new(ui.Stream)
		if _, err := s.Play.run(stream); err != nil {
			return err
		}
		run, err := stream.Recording()
		if err != nil {
			return err
		}
		show.Runs = append(show.Runs, run)
		show.Acts = append(show.Acts, ui.Act{Run: i, To: len(run.States) - 1, Title: s.Title, Text: s.After})
	}
	var page bytes.Buffer
	if err := show.WriteHTML(&page); err != nil {
		return err
	}
	return safefile.WriteFile(file, page.Bytes(), 0o644)
}

// Page is the course as Markdown, with links to the file of replays, and at its end the sheet for teachers.
func Page(replays string) (string, error) {
	var b strings.Builder
	minutes := 0
	for _, s := range Steps() {
		minutes += s.Minutes
	}
	fmt.Fprintf(&b, "# From one pause to a cured ring\n\nSix steps, %d minutes. Each has a prediction, a run, and a question; the answers are folded. `softswitch learn`\nasks them at a terminal, and plays the runs; *replay* has them in a browser, without softswitch.\n", minutes)
	sheet := "\n## For teachers\n\n| step | minutes | predicted | asked afterwards |\n|---|---|---|---|\n"
	for i, s := range Steps() {
		run, other, err := s.play()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %d. %s\n\n%s\n\n```text%s\n```\n", i+1, s.Title, s.Text, s.Drawing)
		answers := []string{}
		for k, q := range []Question{s.Predict, s.Check} {
			if k == 1 {
				fmt.Fprintf(&b, "\n[Replay](%s), act %d, and what `softswitch learn %d` prints:\n\n```text\n%s\n```\n", replays, i+1, i+1, strings.Join(run.lines(), "\n"))
			}
			right := q.Right(run, other)
			answers = append(answers, q.Choices[right])
			fmt.Fprintf(&b, "\n**%s**\n\n", q.Ask)
			for n, c := range q.Choices {
				fmt.Fprintf(&b, "%d. %s\n", n+1, c)
			}
			fmt.Fprintf(&b, "\n<details><summary>Answer</summary>\n\n%d: %s. %s\n", right+1, q.Choices[right], q.Why)
			if k == 1 && other != run {
				fmt.Fprintf(&b, "\nPlayed for this question:\n\n```text\n%s\n```\n", strings.Join(other.result(), "\n"))
			}
			b.WriteString("\n</details>\n")
		}
		fmt.Fprintf(&b, "\n%s\n", s.After)
		sheet += fmt.Sprintf("| %d. %s | %d | %s | %s |\n", i+1, s.Title, s.Minutes, answers[0], answers[1])
	}
	sheet += "\nWhat often goes wrong: that a pause is taken for one of a flow (step 2: it stops a priority of a link); that a pause is\ntaken to go to the sender (step 1: it goes one hop); that a ring of links is taken for a deadlock (step 4: it takes enough\ntraffic in every part). `softswitch learn --answers` with the numbers of a class, in turn, prints how many were right.\n"
	return b.String() + sheet, nil
}
