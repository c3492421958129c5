package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/internal/lists"
	"softswitch/scenarios"
	"softswitch/view/wireshark"
)

// topic is something other than a command that `softswitch help` explains.
type topic struct {
	name  string
	write func(io.Writer) error
}

func topics() []topic {
	return []topic{
		{"scenario", scenarioTopic},
		{"switch", fileTopic("switch")},
		{"host", fileTopic("host")},
		{"profile", fileTopic("profile")},
		{"detectors", detectorsTopic},
		{"responses", responsesTopic},
		{"filters", filtersTopic},
	}
}

func topicNames() []string { return lists.Map(topics(), func(t topic) string { return t.name }) }

// files are written by "gen docs".
//
//go:embed topics/*.txt
var files embed.FS

// fileTopic returns a topic on a kind of file: all of its keys.
func fileTopic(name string) func(io.Writer) error {
	return func(w io.Writer) error {
		text, err := files.ReadFile("topics/" + name + ".txt")
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	}
}

func scenarioTopic(w io.Writer) error {
	fmt.Fprintf(w, "Scenarios that come with softswitch, played by name (`softswitch sim run NAME`):\n")
	for row := range slices.Chunk(scenarios.Offered(), 2) {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-36s%s", row[0], strings.Join(row[1:], "")), " "))
	}
	fmt.Fprintf(w, "\nA file of your own has these keys; `softswitch validate FILE` checks it.\n\n")
	return fileTopic("scenario")(w)
}

func detectorsTopic(w io.Writer) error {
	fmt.Fprintf(w, "Detectors, for --detector, and for the key \"detector\" of a file (default %s):\n\n", catalog.Default)
	var rows [][2]string
	for _, d := range catalog.Detectors() {
		rows = append(rows, [2]string{d.Name, d.About})
	}
	return twoColumns(w, rows)
}

func responsesTopic(w io.Writer) error {
	named := lists.Map(lists.Where(catalog.Detectors(), func(d catalog.Detector) bool { return d.NamesLoops }), func(d catalog.Detector) string { return d.Name })
	fmt.Fprintf(w, "Responses to a declared deadlock, for --response, for \"lab response\", and for the key\n\"response\" of a file (default none). They follow the detectors that name the loop:\n%s.\n\n", strings.Join(named, ", "))
	var rows [][2]string
	for _, r := range catalog.Responses() {
		rows = append(rows, [2]string{r.Name, r.About})
	}
	return twoColumns(w, rows)
}

func filtersTopic(w io.Writer) error {
	fmt.Fprintf(w, "Filters for Wireshark and tshark, after `softswitch decode wireshark`:\n\n")
	rows := [][2]string{{"itsy", "Frames with a TLV of ITSY, and its messages"}, {"clcm", "Credit Loop Control Messages"}}
	for _, f := range wireshark.Filters() {
		rows = append(rows, [2]string{f.Name, f.About})
	}
	return twoColumns(w, rows)
}

func twoColumns(w io.Writer, rows [][2]string) error {
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "  %-*s  %s\n", width, r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}

// help runs `softswitch help COMMAND`, which equals `softswitch COMMAND --help`, and `softswitch help TOPIC`.
func help(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		for _, t := range topics() {
			if t.name == args[0] {
				return t.write(cmd.OutOrStdout())
			}
		}
	}
	c, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("help: no command or topic %q; topics: %s; commands: `%s --help`", strings.Join(args, " "), strings.Join(topicNames(), ", "), cmd.Root().Name())
	}
	return c.Help()
}
