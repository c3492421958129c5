package simcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/safefile"
	"softswitch/oracle/verdict"
	"softswitch/play"
	"softswitch/play/rates"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/study/frames"
	"softswitch/study/fuzz"
	"softswitch/study/sweep"
	"softswitch/unit"
)

// Sim returns the command "sim" with its subcommands.
func Sim() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "sim",
		Short: "Play scenarios in virtual time",
		Long: `Play scenarios in virtual time, with the same switches and hosts as in namespaces. Runs
are exact, repeatable by their seed, and need no root.`,
	}, simRun(), simBench(), simFuzz(), simFrames())
}

func simRun() *cobra.Command {
	var opt play.SimOptions
	var in load.Instead
	seeds := sweep.Seeds{Times: 1, Workers: runtime.GOMAXPROCS(0)}
	var seed int64
	var asJSON bool
	c := &cobra.Command{
		Use:   "run FILE|NAME",
		Short: "Play a scenario in virtual time and judge it",
		Long: `Play a scenario in virtual time and print its verdict, as "lab run" does. --ui then plays
the run in a browser, at any speed, forwards and backwards, until Ctrl-C. --html FILE writes
the same page as one file that needs neither softswitch nor a network.

--set KEY=VALUE replaces the value of a key in the file. Keys are written as in error
messages: buffer.xoff, flows[0].rate, topology.ring.switches. The value is YAML; an empty
value removes the key. An index one past the end of a list adds an entry. --detector and
--response apply after --set.

--repeat N plays the scenario with the seeds S to S+N-1 of --seed-from S, on all
processors, and summarises as "lab run --repeat" does. A scenario that draws nothing is
played once. For several values of a key use "softswitch sweep".

Exit status: 0 the scenario's expectation is met, in every run; 1 not; 2 it could not be
played.`,
		Example:           "  softswitch sim run scenarios/fattree-on-loop.yaml --seed 7 --detector itsypaper\n  softswitch sim run scenarios/hu-fig4.yaml --set topology.rate=10Gbit/s --set flows[0].rate=5Gbit/s\n  softswitch sim run scenarios/itsy-fig2.yaml --detector itsy --ui",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.FilesAndNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if seed < 0 {
				flag := "--seed"
				if cmd.Flags().Changed("seed-from") {
					flag = "--seed-from"
				}
				return fmt.Errorf("%s: %d; valid: 0 or above", flag, seed)
			}
			if err := cli.GoesWith(cmd, "workers", "--repeat", cmd.Flags().Changed("repeat")); err != nil {
				return err
			}
			if err := cli.GoesWith(cmd, "listen", "--ui", opt.Page); err != nil {
				return err
			}
			opt.Seed, seeds.From = uint64(seed), uint64(seed)
			if seeds.Times != 1 {
				return repeat(cmd.Context(), args[0], in, opt, seeds, asJSON)
			}
			if err := cli.CheckOutputs(args, cli.Output{Flag: "trace", File: opt.Trace}, cli.Output{Flag: "pcap", File: opt.Pcap}, cli.Output{Flag: "html", File: opt.HTML}); err != nil {
				return err
			}
			plan, err := cli.ReadPlan(args[0], in)
			if err != nil {
				return err
			}
			return play.Sim(cmd.Context(), plan, opt, os.Stderr, func(v *verdict.Verdict) error { return cli.PrintJudged(v, v.ExitCode() == 0, asJSON) })
		},
	}
	c.Flags().Int64Var(&seed, "seed", 1, "seed of all randomness, 0 or above")
	repeatFlags(c, &seeds, &seed)
	c.MarkFlagsMutuallyExclusive("seed", "seed-from")
	cli.InsteadFlags(c, &in)
	cli.PageFlags(c, &opt.Page, &opt.Listen)
	cli.SlowFlag(c, &in.Slow)
	cli.SetFlag(c, &in.Set)
	c.Flags().StringVar(&opt.Trace, "trace", "", "file for all events of all nodes, as JSON lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	c.MarkFlagFilename("trace")
	c.Flags().StringVar(&opt.Pcap, "pcap", "", "file for all frames sent by all ports, for Wireshark")
	c.MarkFlagFilename("pcap", "pcapng")
	c.Flags().StringVar(&opt.HTML, "html", "", "write a self-contained page that plays the run in a browser to this file")
	c.MarkFlagFilename("html")
	return c
}

// repeatFlags adds the flags of commands that play something with several seeds.
func repeatFlags(c *cobra.Command, seeds *sweep.Seeds, from *int64) {
	c.Flags().IntVar(&seeds.Times, "repeat", 1, "number of runs, each with another seed")
	c.Flags().Int64Var(from, "seed-from", 1, "first seed of --repeat, 0 or above")
	c.Flags().IntVar(&seeds.Workers, "workers", seeds.Workers, "runs of --repeat played at a time")
}

// repeat plays a scenario with several seeds and prints a summary.
func repeat(ctx context.Context, file string, in load.Instead, opt play.SimOptions, seeds sweep.Seeds, asJSON bool) error {
	if opt.Page || opt.Trace != "" || opt.Pcap != "" || opt.HTML != "" {
		return errors.New("sim run: --repeat goes with none of --ui, --trace, --pcap, --html")
	}
	data, err := cli.ReadScenario(file)
	if err != nil {
		return err
	}
	first, err := cli.MakePlan(cli.Called(file), data, in)
	if err != nil {
		return err
	}
	sum, err := sweep.Repeat(ctx, first.Scenario.Duration, seeds, os.Stderr, func() (*scenario.Plan, error) { return load.Plan(cli.Called(file), data, in) })
	if err != nil {
		return err
	}
	return cli.PrintJudged(sum, sum.AllMet(), asJSON)
}

func simBench() *cobra.Command {
	var detector string
	var duration time.Duration
	var runs int
	c := cli.Printed(&cobra.Command{
		Use:   "bench",
		Short: "Measure the simulator: frame-hops a second",
		Long: `Measure the speed of the simulator on a fat-tree of k = 4 at 40 Gbit/s. Each of its 16
hosts sends to a host of another pod at line rate, with the buffer manager, PFC and the
detector of a scenario. Flows share links, so there are pauses all the time. Alternating
runs measure the same flows as reliable connections with DCQCN (transport: rc,
congestion: {}).

A frame-hop is the arrival of a frame at a node. The simulator uses one processor.`,
		Example: "  softswitch sim bench --json   # about 15 s",
		Args:    cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		return rates.Simulator(cmd.Context(), os.Stderr, detector, unit.Time(duration), runs)
	})
	cli.DetectorFlag(c, &detector, catalog.Default, "deadlock detector: %s")
	c.Flags().DurationVar(&duration, "duration", 20*time.Millisecond, "virtual time of a run")
	c.Flags().IntVar(&runs, "runs", 5, "number of measurements of each load")
	return c
}

func simFuzz() *cobra.Command {
	r := fuzz.Run{Progress: os.Stderr}
	var seed int64
	var detector, rows string
	var responses []string
	c := cli.Printed(&cobra.Command{
		Use:   "fuzz",
		Short: "Test detectors against the oracle on random fabrics",
		Long: `Play random scenarios in virtual time, most of them built to deadlock, and compare the
declarations of the detector with the truth of the oracle. Seed, case number and mode
determine a case.

Modes: "usual"; "loss" loses control frames; "expiry" stops switches long enough for pauses
to expire; "rdma" makes most flows reliable connections (transport: rc); "long" has loops
of up to 40 links with long delays; "built" has what real fabrics are built with; "cause"
and "random-cause" test the named cause; "response" tests responses; "clocks" tests the
oracle on logs of several clocks; "attack" injects forged, replayed, reflected and mutated
control frames; "lossless" counts lossless frames lost in files that load without a
warning; "truth-static", "truth-offset", "truth-jumbo", "truth-dynamic", "truth-failures",
"truth-sonic", "truth-cells" and "truth-built" compare the oracle, and the detector, with
the frames that never move again.

In modes usual, loss, expiry, jumbo, rdma, long and built several detectors, separated by
commas, play the same cases, and each is compared with the first: cases in which only one
of them is right (McNemar's exact test), and the ratio of their latencies (a bootstrap of
its median). A case is right if every deadlock that had to be declared was, and nothing was
declared falsely or prematurely. Failed cases are not written then. --rows FILE writes a
row of each case and detector as CSV, with these columns:
` + wrapped(fuzz.RowKeys()) + `.
With --shard the rows are in the shard instead, and "campaign merge --rows" writes them.
"softswitch compare plot" draws rows.

Mode "cause" plants a cause: it slows the flows of a fabric until there is no deadlock,
then adds one disturbance that causes a deadlock, or two, or, as a control, none. The named
cause is compared with the planted one. The run is also repeated with the named cause
handled from the start: the cause is "causal" if there is no deadlock at that place then.
A control handles as many other hosts or flows. Baselines name a cause without a detector.
Mode "random-cause" does the same with the deadlocks of mode usual, in which nothing is
planted. Both take several detectors, separated by commas.

Mode "response" plays the deadlocks of mode usual, with flows that never stop, with each
response of --response, with and without reserve to lend. It counts deadlocks that come
back, and the cost to flows without which the deadlock would form all the same. --rows
writes a row of each deadlock and response, and pairs each response with the first.

Mode "clocks" puts the nodes of a case on two to four clocks, which are hours apart, drift
and may step, and compares the oracle's result with its result by one clock: it counts
wrong answers (there must be none) and undecided ones. As a control the logs are also
merged by constant offsets.

Mode "attack" plays each case twice with the response cure: on authenticated links (auth:
strict) and on links without authentication. Outsiders inject control frames on links
between switches, and hosts send messages of switches. A false declaration, an action
before a true declaration, an undeclared deadlock and a lossless frame without room are
failures on strict links; on the other links they are counted.

Modes "truth-" repeat each case for some instants. Up to the instant the run is the same;
then all sources stop, hosts behave and nothing else happens, until no data frame has begun
to leave a port for 3 pause times, 600 hops and 30 ms. Frames still queued then never move
again. It is an error if frames move that the oracle calls stuck at the instant, if at the
end the oracle does not call stuck exactly what is paused for ever, if a declared deadlock
dissolves, or if a knot was never declared. A knot that opens, or is declared, when the
declared deadlocks are flushed depended on them through a shared pool, and is counted
separately. The modes differ in thresholds: those of mode usual; XON less than a frame
below XOFF; the defaults with frames of 9014 bytes; dynamic thresholds in small pools; the
same with failing links; the thresholds of SONiC switches; cells, and one headroom for all
groups; and those of mode built. With detector "none" only the oracle is judged.

Failed cases are written as scenario files to the directory of --out: cases with a false
positive, a premature declaration or a false negative; in mode cause, cases in which a
detector does not name the planted cause; in modes "truth-", cases with an error, with
sources stopped if the error is visible then. The first of each kind are shrunk.

A deadlock counts as missed if it waited only for itself for 20 laps and was not declared;
a lap is the time that a full frame and a pause need to pass every link of a loop. Latency
is the time from the onset to the first declaration, in laps of the declared loop. Control
frames are messages and early repetitions of pauses, summed over all cases.

Exit status: 0 no false positive, premature declaration, false negative or invalid case, no
declaration in a control, no lossless frame lost by a response for want of room, and no
error with several clocks, on strict links or in modes "truth-"; 1 there is one; 2 it could
not be played.`,
		Example: "  softswitch sim fuzz --n 10000 --seed 1 --detector itsypaper   # about 1 min\n  softswitch sim fuzz --mode cause --n 1100 --detector itsy,itsypaper   # about 10 min",
		Args:    cli.Arguments(cobra.NoArgs),
	}, "print the report as JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		if seed < 0 {
			return nil, fmt.Errorf("--seed: %d; valid: 0 or above", seed)
		}
		r.Seed = uint64(seed)
		if cmd.Flags().Changed("out") {
			if err := cli.CheckDir("out", r.Out); err != nil {
				return nil, err
			}
		}
		for _, name := range strings.Split(detector, ",") {
			d, err := catalog.Named("--detector", name)
			if err != nil {
				return nil, err
			}
			r.Detectors = append(r.Detectors, d)
		}
		var err error
		if r.Responses, err = respond.Choose(cli.Named(cmd, "response", responses)); err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		r.Rows = rows != ""
		if err := r.Check(); err != nil {
			return nil, err
		}
		if err := cli.GoesWith(cmd, "response", "--mode response", r.Mode == fuzz.Response); err != nil {
			return nil, err
		}
		for _, flag := range []string{"out", "shrink"} {
			if err := cli.GoesWith(cmd, flag, "one detector and without --rows", !r.Paired()); err != nil {
				return nil, err
			}
		}
		whole := r.Part.Whole()
		if whole {
			if err := cli.CheckOutputs(nil, cli.Output{Flag: "rows", File: rows}); err != nil {
				return nil, err
			}
		}
		report, err := r.Play(cmd.Context())
		if err != nil {
			return nil, err
		}
		if whole {
			if err := writeRows(report, rows); err != nil {
				return nil, err
			}
		}
		return cli.Judged(report, report.Clean())
	})
	c.Flags().IntVar(&r.N, "n", 1000, "number of cases")
	c.Flags().Int64Var(&seed, "seed", 1, "seed of all randomness, 0 or above")
	cli.DetectorFlag(c, &detector, catalog.Default, "deadlock detector: %s")
	c.Flags().StringVar((*string)(&r.Mode), "mode", string(fuzz.Usual), "kind of test: "+fuzz.ModeNames())
	c.Flags().StringSliceVar(&responses, "response", []string{"cure", "drop+trigger", "drop", "none"}, "responses that mode response compares: "+strings.Join(respond.Names(), ", "))
	c.RegisterFlagCompletionFunc("response", cobra.FixedCompletions(respond.Names(), cobra.ShellCompDirectiveNoFileComp))
	rowsFlag(c, &rows)
	c.Flags().StringVar(&r.Out, "out", filepath.Join("build", "fuzz"), "directory for failures")
	c.Flags().IntVar(&r.Workers, "workers", runtime.GOMAXPROCS(0), "cases played at a time")
	shardFlag(c, &r.Part, "cases")
	c.Flags().IntVar(&r.Shrink, "shrink", 5, "number of failures of each kind to shrink")
	c.MarkFlagDirname("out")
	return c
}

// rowsFlag adds the flag --rows, the file for the rows of random cases.
func rowsFlag(c *cobra.Command, rows *string) {
	c.Flags().StringVar(rows, "rows", "", "file for a row of each case and detector, or response (CSV)")
	c.MarkFlagFilename("rows", "csv")
}

// writeRows writes the rows of a report of random cases to a file, unless its name is empty.
func writeRows(report fuzz.Report, file string) error {
	if file == "" {
		return nil
	}
	table, ok := report.(fuzz.Table)
	if !ok {
		return fmt.Errorf("--rows %s: the shards have no rows; valid: shards with several detectors, or that were played with --rows", file)
	}
	f, err := safefile.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(table.WriteRows(f), f.Close())
}

// wrapped is text in lines of help.
func wrapped(text string) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case at+1+len(word) > helpColumns:
			b.WriteString("\n")
			at = 0
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

// helpColumns is how long a line of help is at most.
const helpColumns = 91

func simFrames() *cobra.Command {
	r := frames.Run{Progress: os.Stderr}
	var seed int64
	c := cli.Printed(&cobra.Command{
		Use:   "frames",
		Short: "Feed switches frames without end, well-formed and damaged",
		Long: `Feed switches in memory frames of all kinds, well-formed and damaged: data, ARP, pauses,
messages, replays, frames to groups, noise. A switch gets a million frames, an epoch; then
another switch replaces it. Seed and number of the epoch determine its thresholds, rates,
detector, response, routes and authenticated links.

After each frame these invariants are checked: the frame was counted once (as data, as a
message, as a pause, or as dropped for a reason), nothing leaves a paused queue, and no
priority group uses more headroom than it has. At the end of each epoch, when all links are down,
every slot and every byte must be free again. A panic is also a finding.

Exit status: 0 all invariants held; 1 one did not; 2 it could not be played.`,
		Example: "  softswitch sim frames --n 1000000000   # about 5 min\n  softswitch sim frames --n 1000000 --seed 7 --first-epoch 41",
		Args:    cli.Arguments(cobra.NoArgs),
	}, "print the report as JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		if seed < 0 {
			return nil, fmt.Errorf("--seed: %d; valid: 0 or above", seed)
		}
		r.Seed = uint64(seed)
		report, err := r.Play(cmd.Context())
		if err != nil {
			return nil, err
		}
		return cli.Judged(report, report.Clean())
	})
	c.Flags().Uint64Var(&r.N, "n", 10*frames.EpochFrames, "number of frames")
	c.Flags().Int64Var(&seed, "seed", 1, "seed of all randomness, 0 or above")
	c.Flags().Uint64Var(&r.First, "first-epoch", 0, "number of the first epoch")
	c.Flags().IntVar(&r.Workers, "workers", runtime.GOMAXPROCS(0), "switches fed at a time")
	return c
}
