package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/detect/catalog"
	"softswitch/internal/safefile"
	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/link/decode"
	"softswitch/live/node"
	"softswitch/live/replay"
	"softswitch/oracle/verdict"
	"softswitch/play/validate"
	"softswitch/scenario/load"
	"softswitch/topo"
	"softswitch/unit"
	"softswitch/view/plot"
)

func validateCommand() *cobra.Command {
	var set []strictyaml.Setting
	var asJSON bool
	c := &cobra.Command{
		Use:   "validate FILE|NAME...",
		Short: "Check scenario files and configurations of nodes",
		Long: `Check scenario files and configurations of switches and hosts. The keys tell the kind
of file: a scenario has "topology", a switch "ports", a host "port". All errors of a
file are reported at once, with their lines. For a scenario this includes errors that
appear only when routes are computed, and whether it can be simulated and played on a
live lab. For every command that reads such a file, FILE "-" is standard input, and
messages call it <stdin>; NAME is a scenario that comes with softswitch.

--set KEY=VALUE checks the files with this value instead of theirs, as "sim run" plays them.

The schemas in docs/schema let an editor with JSON Schema support check files as you type.

Exit status: 0 all files are valid; 1 one of them is not; 2 one could not be read.`,
		Example:           "  softswitch validate scenarios/*.yaml\n  softswitch validate --json switch.yaml",
		Args:              cli.Arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: cli.FilesAndNames,
		RunE: func(_ *cobra.Command, args []string) error {
			var all validate.Files
			var unread []error
			for _, file := range args {
				data, err := cli.ReadScenario(file)
				if err != nil {
					unread = append(unread, err)
					continue
				}
				done := cli.Reading(cli.Called(file))
				all = append(all, validate.Check(cli.Called(file), data, set...))
				done()
			}
			all.TellMismatches()
			if len(unread) == 0 {
				return cli.PrintJudged(all, all.OK(), asJSON)
			}
			if len(all) > 0 {
				unread = append(unread, cli.PrintFinding(all, asJSON))
			}
			return errors.Join(unread...)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a list of files with their faults as JSON")
	cli.SetFlag(c, &set)
	return c
}

func taggerCommand() *cobra.Command {
	var tags int
	var without []string
	c := cli.Printed(&cobra.Command{
		Use:   "tagger FILE|NAME",
		Short: "Show Tagger's rules for a scenario and prove that no deadlock can form",
		Long: `Compute Tagger's rules for the topology of a scenario file, and search for a cycle of
buffer dependencies under these rules, over all possible routes and all tags. Show the
priority in which each flow leaves each switch on its path.

Exit status: 0 there is no cycle; 1 there is one, which is shown; 2 the rules could
not be computed, for example for a topology without levels.`,
		Example:           "  softswitch check tagger scenarios/fattree-on-loop.yaml\n  softswitch check tagger fattree-on-loop --tags 1\n  softswitch check tagger fattree-on-loop --without agg0-0",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
	}, "print JSON", func(cmd *cobra.Command, args []string) (cli.Finding, error) {
		defer cli.Reading(cli.Called(args[0]))()
		data, err := cli.ReadScenario(args[0])
		if err != nil {
			return nil, err
		}
		s, err := load.Scenario(cli.Called(args[0]), data)
		if err != nil {
			return nil, err
		}
		plan, err := s.WithTagger(cli.Called(args[0]), tags, cmd.Flags().Changed("tags"))
		if err != nil {
			return nil, err
		}
		if err := plan.TakeOutRules(cli.Named(cmd, "without", without)); err != nil {
			return nil, err
		}
		r := plan.ReportTagging()
		return cli.Judged(r, r.Cycle == "")
	})
	c.Flags().IntVar(&tags, "tags", 0, "lossless tags (default: the file's, or as many as its flows need, at least 2)")
	c.Flags().StringSliceVar(&without, "without", nil, "switches whose rules are removed")
	return c
}

func decodeCommand() *cobra.Command {
	var opt decode.Options
	var keysFile, scenario string
	c := &cobra.Command{
		Use:   "decode FILE|-",
		Short: "Print the PFC, ITSY and LLDP frames of a pcap or pcapng",
		Long: `Print the PFC, 802.3x PAUSE, ITSY message and LLDP frames of a capture, a line each,
and count the others. "-" reads standard input, also from a capture in progress.

Labels call a port by numbers, such as 9.2. Captures of softswitch have its name;
for others, such as tcpdump's, --names takes it from the lab's scenario, and names
the senders too.

With --keys each line ends with the verdict on its tag: believed, wrong, missing, or
unknown (no hello has told the sender's counter yet).`,
		Example: `  softswitch decode core0.pcapng
  sudo ip netns exec ss-core0 tcpdump -U -i to-agg0-0 -w - | softswitch decode -
  softswitch decode --names fattree-on-loop port.pcap`,
		Args: cli.Arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if scenario != "" {
				if opt.Names, err = portNames(scenario, args[0]); err != nil {
					return err
				}
			}
			if keysFile != "" {
				if opt.Keys, err = node.LoadKeys(keysFile); err != nil {
					return err
				}
			}
			var in io.Reader = os.Stdin
			if args[0] != "-" {
				done := cli.Reading(args[0])
				f, err := os.Open(args[0])
				done()
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			if err := decode.Decode(cli.UntilSignal(cmd.Context(), in), os.Stdout, opt); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&opt.JSON, "json", false, "print JSON lines")
	c.Flags().StringVar(&keysFile, "keys", "", "file of the keys of authenticated links, to judge the tags")
	c.MarkFlagFilename("keys")
	namesFlag(c, &scenario)
	return c
}

// namesFlag adds the flag --names, the scenario of which ports have their names.
func namesFlag(c *cobra.Command, scenario *string) {
	c.Flags().StringVar(scenario, "names", "", "scenario, FILE|NAME, whose names of ports are shown")
	c.RegisterFlagCompletionFunc("names", cli.FilesAndNames)
}

// portNames are the names of the ports of a scenario. It refuses standard input if that is other, too.
func portNames(file, other string) ([]decode.PortName, error) {
	if file == "-" && other == "-" {
		return nil, errors.New("--names -: standard input is the capture; name a file")
	}
	data, err := cli.ReadScenario(file)
	if err != nil {
		return nil, err
	}
	defer cli.Reading(cli.Called(file))()
	s, err := load.Scenario(cli.Called(file), data)
	if err != nil {
		return nil, err
	}
	var names []decode.PortName
	for _, n := range s.Fabric.Nodes {
		for i, p := range n.Ports {
			name := decode.PortName{MAC: p.MAC, Name: n.Name + ":" + p.Name}
			if n.Kind == topo.Switch {
				name.Number = unit.NodePort{Node: n.ID, Port: unit.Port(i)}
			}
			names = append(names, name)
		}
	}
	return names, nil
}

func replayCommand() *cobra.Command {
	var keysFile string
	c := cli.Printed(&cobra.Command{
		Use:   "replay FILE",
		Short: "Repeat a recorded node, call by call, and compare",
		Long: `Repeat a recording of "softswitch run --record FILE": make every recorded call on a new
machine, without interfaces and without waiting, and compare the events it produces with
the recorded ones.

A recording that is cut short, for example because the node was killed, is compared up
to its end. Recordings contain no keys: for a switch with authenticated links, --keys
gives them.

Exit status: 0 the events are the same; 1 they differ, or the recording is cut short (the
first difference or the fault is printed); 2 not a recording, or of another version.`,
		Example: "  sudo softswitch run veth0 veth1 --record s1.rec\n  softswitch run replay s1.rec",
		Args:    cli.Arguments(cobra.ExactArgs(1)),
	}, "print JSON", func(_ *cobra.Command, args []string) (cli.Finding, error) {
		defer cli.Reading(args[0])()
		f, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		var keys auth.Keys
		if keysFile != "" {
			if keys, err = node.LoadKeys(keysFile); err != nil {
				return nil, err
			}
		}
		res, err := replay.Play(f, catalog.Factories(), keys)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", args[0], err)
		}
		return cli.Judged(res, res.Same && res.Fault == "")
	})
	c.Flags().StringVar(&keysFile, "keys", "", "file of the keys of authenticated links")
	c.MarkFlagFilename("keys")
	return c
}

func plotCommand() *cobra.Command {
	var out, page string
	var axes plot.Axes
	c := &cobra.Command{
		Use:   "plot VERDICT.json...|ROWS.csv --out FILE.svg",
		Short: "Draw throughput over time, from verdicts, or estimates, from rows",
		Long: `Draw the throughput of each flow over time, in one panel for each verdict, as
"lab run --json" and "sim run --json" print it. Throughputs are normalised: 1 is the
maximum of the flow in any of the verdicts. Marks show when the first deadlock formed
and, if no deadlock is left at the end, when the last one ended.

With --y and --by draw rows of cases, as "sim fuzz --rows" writes them: for each value of
the column of --by the median of a column of numbers, with the 95 % interval of a
bootstrap, or the share of rows in which a column is true, or has one of the values of
COLUMN=VALUE,VALUE, with Wilson's interval. --x divides the rows by a further column; its
numbers are divided into at most eight bins of about as many rows each. --html writes the
same figure, with a table of it. What is left out is said on standard error.

Exit status: 0 the figure is drawn; 2 it is not.`,
		Example: `  softswitch sim run scenarios/itsy-fig5.yaml --response drop --json > drop.json
  softswitch sim run scenarios/itsy-fig5.yaml --response drop+trigger --json > trigger.json
  softswitch compare plot drop.json trigger.json --out fig5.svg
  softswitch compare plot rows.csv --y right --by detector --x shape -o right.svg
  softswitch compare plot rows.csv --y latency_laps --by detector -o latency.svg --html latency.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.CheckOutputs(args, cli.Output{Flag: "out", File: out}, cli.Output{Flag: "html", File: page}); err != nil {
				return err
			}
			for _, f := range []struct{ flag, with string }{{"by", "y"}, {"x", "y"}, {"html", "y"}, {"y", "by"}} {
				if err := cli.GoesWith(cmd, f.flag, "--"+f.with, cmd.Flags().Changed(f.with)); err != nil {
					return err
				}
			}
			var svg bytes.Buffer
			if axes.Y != "" {
				if err := plotRows(&svg, args, axes, page); err != nil {
					return err
				}
				return safefile.WriteFile(out, svg.Bytes(), 0o644)
			}
			var all []*verdict.Verdict
			for _, file := range args {
				v, err := readVerdict(file)
				if err != nil {
					return err
				}
				all = append(all, v)
			}
			if err := plot.Throughput(all).WriteSVG(&svg); err != nil {
				return err
			}
			return safefile.WriteFile(out, svg.Bytes(), 0o644)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "file for the picture (SVG)")
	c.MarkFlagRequired("out")
	c.MarkFlagFilename("out", "svg")
	c.Flags().StringVar(&axes.Y, "y", "", "column of rows to estimate: numbers, true and false, or COLUMN=VALUE,VALUE")
	c.Flags().StringVar(&axes.By, "by", "", "column of rows whose values are compared")
	c.Flags().StringVar(&axes.X, "x", "", "column of rows that divides them along the x axis")
	c.Flags().StringVar(&page, "html", "", "file for the figure of rows, and its table, as a self-contained page")
	c.MarkFlagFilename("html", "html")
	return c
}

// plotRows draws the rows of the one file of args, and writes a page of the figure, unless its name is empty.
func plotRows(svg *bytes.Buffer, args []string, axes plot.Axes, page string) error {
	if len(args) != 1 {
		return fmt.Errorf("compare plot: --y goes with one file of rows, not %d", len(args))
	}
	defer cli.Reading(args[0])()
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := plot.ReadRows(args[0], f)
	if err != nil {
		return err
	}
	chart, err := rows.Chart(axes)
	if err != nil {
		return err
	}
	for _, note := range chart.Notes {
		fmt.Fprintln(os.Stderr, note)
	}
	if err := chart.Figure().WriteSVG(svg); err != nil || page == "" {
		return err
	}
	var html bytes.Buffer
	if err := chart.WriteHTML(&html); err != nil {
		return err
	}
	return safefile.WriteFile(page, html.Bytes(), 0o644)
}

// readVerdict reads a verdict and refuses one without flows.
func readVerdict(file string) (*verdict.Verdict, error) {
	defer cli.Reading(file)()
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	v := new(verdict.Verdict)
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), v); err != nil {
		return nil, fmt.Errorf("%s: not a verdict, as \"sim run --json\" and \"lab run --json\" print it: %w", file, err)
	}
	if v.Version > verdict.Version {
		return nil, fmt.Errorf("%s: a verdict of version %d; this program reads up to %d", file, v.Version, verdict.Version)
	}
	if v.Duration <= 0 || len(v.Flows) == 0 {
		return nil, fmt.Errorf("%s: not a verdict with flows: duration_ns is %d, and there are %d flows; use what \"sim run --json\" or \"lab run --json\" prints", file, v.Duration, len(v.Flows))
	}
	return v, nil
}
