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

// Sim is the command with those that play scenarios in virtual time.
func Sim() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "sim",
		Short: "Play scenarios in virtual time",
		Long: `Play scenarios in virtual time, with the same switches and hosts as on namespaces:
exact, repeatable by its seed, and without root.`,
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
		Long: `Play a scenario in virtual time and print its verdict, as "lab run" does. With --ui a
browser then plays it, at any speed, back and forth, until Ctrl-C. --html FILE writes the
same page as one file, which needs neither softswitch nor a network: to keep, or to send.

--set KEY=VALUE reads a value instead of what the file has at that key, which is written
as faults name it: buffer.xoff, flows[0].rate, topology.ring.switches. The value is YAML;
an empty one takes the key out of the file. The entry behind the last of a list adds one.
--detector and --response come after it.

--repeat N plays it with the seeds S to S+N-1 of --seed-from S, on all processors, and
sums up as "lab run --repeat" does. For several values of a key: "softswitch sweep".

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
	c.Flags().StringVar(&opt.Trace, "trace", "", "file for every event of every node, as JSON lines")
	c.Flags().BoolVar(&asJSON, "json", false, "print the verdict as JSON")
	c.MarkFlagFilename("trace")
	c.Flags().StringVar(&opt.Pcap, "pcap", "", "file for every frame as it leaves a port, for Wireshark")
	c.MarkFlagFilename("pcap", "pcapng")
	c.Flags().StringVar(&opt.HTML, "html", "", "file that plays the run in a browser, by itself")
	c.MarkFlagFilename("html")
	return c
}

// repeatFlags are those of commands that play something with several seeds.
func repeatFlags(c *cobra.Command, seeds *sweep.Seeds, from *int64) {
	c.Flags().IntVar(&seeds.Times, "repeat", 1, "play it so many times, each with another seed")
	c.Flags().Int64Var(from, "seed-from", 1, "the first seed of --repeat, 0 or above; the others follow it")
	c.Flags().IntVar(&seeds.Workers, "workers", seeds.Workers, "runs of --repeat played at a time")
}

// repeat plays a scenario with several seeds and prints what came of all.
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
		Long: `Measure how fast the simulator is: a fat-tree of k = 4 at 40 Gbit/s whose 16
hosts each send to a host of another pod at line rate, with the buffer manager,
PFC and the detector that a scenario has too. Several flows share links, so
there are pauses all the time. In turn with it the same flows are measured as
reliable connections that keep to DCQCN (transport: rc, congestion: {}).

A frame-hop is a frame that arrives at a node. The simulator uses one processor.`,
		Example: "  softswitch sim bench --json",
		Args:    cli.Arguments(cobra.NoArgs),
	}, "print JSON", func(cmd *cobra.Command, _ []string) (cli.Finding, error) {
		return rates.Simulator(cmd.Context(), os.Stderr, detector, unit.Time(duration), runs)
	})
	cli.DetectorFlag(c, &detector, catalog.Default, "deadlock detector: %s")
	c.Flags().DurationVar(&duration, "duration", 20*time.Millisecond, "virtual time of a run")
	c.Flags().IntVar(&runs, "runs", 5, "how often each load is measured")
	return c
}

func simFuzz() *cobra.Command {
	r := fuzz.Run{Progress: os.Stderr}
	var seed int64
	var detector string
	var responses []string
	c := cli.Printed(&cobra.Command{
		Use:   "fuzz",
		Short: "Hold a detector against the oracle on random fabrics",
		Long: `Play random scenarios in virtual time, most of them built so that they deadlock,
and count what the detector said against the truth. A case is determined by the
seed, its number and the mode alone.

Modes: "usual"; "loss" loses control frames; "expiry" stops switches for so long
that pauses expire; "rdma" makes most flows reliable connections (transport: rc);
"long" has loops of up to 40 links with long delays;
"cause" and "random-cause" are about the cause that is named; "response" is about
what responses do; "clocks" is about the oracle, if logs go by several clocks;
"attack" puts forged, replayed, reflected and mutated control frames on wires;
"lossless" counts lossless frames that are lost although no file is warned of;
"truth-static", "truth-offset", "truth-jumbo", "truth-dynamic", "truth-failures",
"truth-sonic" and "truth-cells" hold the oracle, and the detector, against what never moves.

Mode "cause" plants a cause: a fabric whose flows are slowed until it does not
deadlock, and in it one disturbance by which it does, or two, or none as a
control. What is named is held against what was planted, and against the same
run with what is named handled from the start: "causal" if there is no deadlock
at that place then, beside a control of as many other hosts or flows. Baselines
name something without a detector. Mode "random-cause" does so with the
deadlocks of mode usual, in which nothing was planted. Both take several
detectors, separated by commas.

Mode "response" takes the deadlocks of mode usual, with flows that never stop, and
plays them with each response of --response, with reserve to lend and with none:
whether a deadlock comes back, and what that costs flows without which it would
come about all the same.

Mode "clocks" puts the nodes of a case on two to four clocks, which are hours apart,
drift and may step, and holds what the oracle then says against what it says by one
clock: what is wrong (nothing may be), and what it leaves undecided. As a control the
logs are merged by constant offsets too.

Mode "attack" plays each case twice, with the response cure: on links that are
authenticated (auth: strict), and on links that are not. Strangers put control frames
on links between switches, and hosts say what switches say. What is declared falsely,
an action before a deadlock was declared rightly, a deadlock that nobody declares, a
lossless frame without room: on strict links each is a failure, on the others it is
counted.

Modes "truth-" play each case again for some instants: up to there the same happens,
then every source stops, hosts are well and nothing else happens, until no data frame
has begun to leave a port for 3 pause times, 600 hops and 30 ms. What then has frames
never moves again. Where what the oracle calls stuck at the instant moves, where
at the end it does not call stuck just what is paused for ever, where a declaration
is of what dissolves, and where a knot was never declared, something is wrong. A
knot that opens, or is declared, when what was declared is flushed hangs on that by
a shared pool, and is counted apart. The modes differ in thresholds: those of mode
usual, XON less than a frame below XOFF, the default ones with frames of 9014 bytes,
dynamic ones in small pools, the same and links that fail, and those that switches
with SONiC have. With detector "none" the oracle alone is judged.

Each case with a false positive, a premature declaration or a false negative is
written to the directory of --out as a scenario file; in mode cause each in which
a detector does not name what was planted; in modes "truth-" each in which something
is wrong, with its sources stopped if it can be seen then. The first of each kind are
made smaller before.

A deadlock counts as missed if for 20 laps it waited for nothing but itself and
nobody declared it; a lap is what a full frame and a pause need to pass every link
of a loop. Latency is from the onset to the first declaration, in laps of the
declared loop. Control frames are messages and pauses repeated before their time, of
all cases together.

Exit status: 0 no false positive, premature declaration, false negative or
invalid case, nor anything declared in a control, nor a lossless frame lost for
want of room by a response, nor anything wrong by several clocks, on strict links or
in modes "truth-";
1 there is one; 2 it could not be played.`,
		Example: "  softswitch sim fuzz --n 10000 --seed 1 --detector itsypaper\n  softswitch sim fuzz --mode cause --n 1100 --detector itsy,itsypaper",
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
		if err := r.Check(); err != nil {
			return nil, err
		}
		if err := cli.GoesWith(cmd, "response", "--mode response", r.Mode == fuzz.Response); err != nil {
			return nil, err
		}
		report, err := r.Play(cmd.Context())
		if err != nil {
			return nil, err
		}
		return cli.Judged(report, report.Clean())
	})
	c.Flags().IntVar(&r.N, "n", 1000, "number of cases")
	c.Flags().Int64Var(&seed, "seed", 1, "seed of all randomness, 0 or above")
	cli.DetectorFlag(c, &detector, catalog.Default, "deadlock detector: %s")
	c.Flags().StringVar((*string)(&r.Mode), "mode", string(fuzz.Usual), "what is tried: "+fuzz.ModeNames())
	c.Flags().StringSliceVar(&responses, "response", []string{"cure", "drop+trigger", "drop", "none"}, "what mode response compares: "+strings.Join(respond.Names(), ", "))
	c.RegisterFlagCompletionFunc("response", cobra.FixedCompletions(respond.Names(), cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&r.Out, "out", filepath.Join("build", "fuzz"), "directory for failures")
	c.Flags().IntVar(&r.Workers, "workers", runtime.GOMAXPROCS(0), "cases played at a time")
	shardFlag(c, &r.Part, "cases")
	c.Flags().IntVar(&r.Shrink, "shrink", 5, "how many failures of each kind to make smaller")
	c.MarkFlagDirname("out")
	return c
}

func simFrames() *cobra.Command {
	r := frames.Run{Progress: os.Stderr}
	var seed int64
	c := cli.Printed(&cobra.Command{
		Use:   "frames",
		Short: "Feed switches frames without end, well-formed and damaged",
		Long: `Feed switches in memory frames of all kinds, well-formed and damaged: data, ARP, pauses,
messages, replays, what a group is for, noise. A switch is fed a million frames, then
another one takes its place: its thresholds, rates, detector, response, routes and which of
its links are authenticated follow from the seed and the epoch, its number.

After each frame it is checked that the frame was counted once (as data, as a message, as
a pause, or as dropped for a reason), that nothing leaves a paused queue, that no bucket
uses more headroom than it has; and at the end of each epoch, when all links are down, that
every slot and every byte is back. A panic is a finding too.

Exit status: 0 all held; 1 something did not; 2 it could not be played.`,
		Example: "  softswitch sim frames --n 1000000000\n  softswitch sim frames --n 1000000 --seed 7 --first-epoch 41",
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
	c.Flags().Uint64Var(&r.First, "first-epoch", 0, "the first epoch")
	c.Flags().IntVar(&r.Workers, "workers", runtime.GOMAXPROCS(0), "switches fed at a time")
	return c
}
