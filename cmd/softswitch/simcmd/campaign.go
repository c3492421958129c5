package simcmd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/study/campaign"
	"softswitch/study/shard"
)

// Campaign returns the command "campaign" with its subcommands.
func Campaign() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "campaign",
		Short: "Play a long run in shards, here or on a cluster",
		Long: `Keep a long run of "sim fuzz", "sweep" or "compare" in a folder, divided into shards.
This machine, Slurm, Kubernetes or GNU parallel plays the missing shards only. A campaign
that was interrupted at any moment continues with the next run.`,
	}, campaignInit(), campaignRun(), campaignStatus(), Merge())
}

func campaignInit() *cobra.Command {
	shards := 0
	c := cli.Printed(&cobra.Command{
		Use:   "init [--shards N] DIR COMMAND...",
		Short: "Create the folder of a campaign",
		Long: `Create the folder of a campaign. COMMAND is a softswitch command that has the flag
--shard, with its flags. Nothing is played, but all inputs are checked. Input files, named
relative to the current folder, are copied into DIR under their own names. Shards are
played in DIR.

Exit status: 0 the folder is created; 2 not, and nothing of it is left.`,
		Example: `  softswitch campaign init --shards 64 big sim fuzz --n 1000000 --mode loss --seed 7
  softswitch campaign init rates sweep my.yaml --set flows[0].rate=1Gbit/s,2Gbit/s --repeat 1000`,
		Args: cli.Arguments(cobra.MinimumNArgs(2)),
	}, "print the shards to play as JSON", func(cmd *cobra.Command, args []string) (cli.Finding, error) {
		dir, command := args[0], args[1:]
		if command[0] == "--" {
			command = command[1:]
		}
		if f := cmd.Flags().Lookup("shards"); f.Changed && (shards < 1 || shards > shard.MaxParts) {
			return nil, fmt.Errorf("--shards: %d; valid: 1 to %d", shards, shard.MaxParts)
		}
		files, err := readBy(cmd.Root(), command)
		if err != nil {
			return nil, fmt.Errorf("campaign: %w", err)
		}
		made, err := campaign.Create(cmd.Context(), dir, command, files, shards, os.Stderr)
		if err != nil {
			return nil, err
		}
		return made.Status()
	})
	c.Flags().SetInterspersed(false)
	c.Flags().IntVar(&shards, "shards", 0, "number of shards (default 16, or the number of items if that is smaller)")
	return c
}

// readBy returns the input files of a command of root that can be played in shards. The error for
// another command lists those that can.
func readBy(root *cobra.Command, command []string) (files []string, err error) {
	c, rest, err := root.Find(command)
	if err != nil || c.Flags().Lookup("shard") == nil {
		return nil, fmt.Errorf("%q; valid: %s, with their flags", strings.Join(command, " "), strings.Join(slices.Sorted(maps.Keys(merges)), ", "))
	}
	if err := c.ParseFlags(rest); err != nil {
		return nil, err
	}
	for _, of := range []struct{ flag, whose string }{{"shard", "run"}, {"html", "merge"}, {"markdown", "merge"}, {"json", "merge"}} {
		f := c.Flags().Lookup(of.flag)
		if f == nil || !f.Changed || of.flag == "json" && c.Name() == "sweep" { // whose shards have rows of one format
			continue
		}
		return nil, fmt.Errorf("%s: --%s is for \"campaign %s\"", c.CommandPath(), of.flag, of.whose)
	}
	switch c.Name() {
	case "sweep":
		if f := c.Flags().Lookup("out"); f.Changed {
			return nil, errors.New("sweep --out: \"campaign merge\" prints the rows")
		}
		files = slices.DeleteFunc(c.Flags().Args(), cli.Shipped)
	case "compare":
		names, err := c.Flags().GetStringSlice("scenarios")
		if err != nil {
			return nil, err
		}
		files = slices.DeleteFunc(names, func(name string) bool { return !strings.ContainsAny(name, "./") })
	}
	return files, nil
}

func campaignRun() *cobra.Command {
	var number int
	var engine string
	var pods campaign.Pods
	engines := []string{"local", "slurm", "parallel", "kubernetes"}
	c := &cobra.Command{
		Use:   "run DIR [-- OPTIONS OF THE ENGINE]",
		Short: "Play the missing shards",
		Long: `Play the missing shards of a campaign one after the other, each on all processors of this
machine. If another process plays a shard, wait for it. --shard plays one shard.

--engine slurm submits the shards as an array job, by sbatch, with the options after --,
such as --wait or --time. --engine parallel starts GNU parallel with the options after --.
Both need the folder and softswitch under the same paths on all machines. --engine
kubernetes prints the manifest of an Indexed Job.

Exit status: 0 the shards are complete, or were handed to the engine; 2 not. The exit
status of "campaign merge" tells what the run found.`,
		Example: `  softswitch campaign run big
  softswitch campaign run big --engine slurm -- --time=2:00:00 --cpus-per-task=4
  softswitch campaign run big --engine parallel -- --jobs 2 --sshlogin a,b
  softswitch campaign run big --engine kubernetes --claim campaigns --path /campaign/big | kubectl apply -f -`,
		Args:              cli.Arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: cli.UpTo(1, folders),
		RunE: func(cmd *cobra.Command, args []string) error {
			options := args[1:]
			if dash := cmd.ArgsLenAtDash(); len(options) > 0 && (dash != 1 || engine == "local" || engine == "kubernetes") {
				return fmt.Errorf("campaign run: %q; options after -- go with --engine slurm and parallel", options)
			}
			c, err := campaign.Open(args[0])
			if err != nil {
				return err
			}
			if _, err := readBy(cmd.Root(), c.Arguments); err != nil { // the folder may be somebody else's
				return fmt.Errorf("%s: %w", args[0], err)
			}
			one := cmd.Flags().Changed("shard")
			switch {
			case !slices.Contains(engines, engine):
				return fmt.Errorf("--engine: %q; valid: %s", engine, strings.Join(engines, ", "))
			case one && engine != "local":
				return fmt.Errorf("campaign run: --shard goes with no --engine")
			case engine == "kubernetes":
				if pods.Claim == "" {
					return errors.New("campaign run: --engine kubernetes needs --claim, the persistent volume claim that contains the folder")
				}
				if pods.Image == "" {
					return errors.New("campaign run: --image: \"\" is not an image: name the one whose softswitch created the campaign")
				}
				return c.Kubernetes(pods, os.Stdout)
			case one:
				return c.Play(cmd.Context(), number, true, os.Stderr)
			case engine == "local":
				return c.Run(cmd.Context(), os.Stderr)
			case engine == "slurm":
				return c.Slurm(cmd.Context(), options, os.Stderr)
			default:
				return c.Parallel(cmd.Context(), options, os.Stderr)
			}
		},
	}
	c.Flags().IntVar(&number, "shard", 0, "play only this shard")
	c.Flags().StringVar(&engine, "engine", "local", "engine that plays the shards: "+strings.Join(engines, ", "))
	c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&pods.Image, "image", "softswitch", "with --engine kubernetes: the image; its softswitch must have created the campaign")
	c.Flags().StringVar(&pods.Claim, "claim", "", "with --engine kubernetes: the persistent volume claim that contains the folder")
	c.Flags().StringVar(&pods.Path, "path", "/campaign", "with --engine kubernetes: path of the folder when the volume is mounted at /campaign")
	return c
}

// folders completes a folder.
var folders = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)

func campaignStatus() *cobra.Command {
	c := cli.Printed(&cobra.Command{
		Use:   "status DIR",
		Short: "Show which shards are complete",
		Long: `Show which shards of a campaign are complete.

Exit status: 0 all are; 1 some are missing or damaged; 2 DIR is not a campaign.`,
		Example:           "  softswitch campaign status big",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, folders),
	}, "print JSON", func(_ *cobra.Command, args []string) (cli.Finding, error) {
		c, err := campaign.Open(args[0])
		if err != nil {
			return nil, err
		}
		s, err := c.Status()
		if err != nil {
			return nil, err
		}
		return cli.Judged(s, s.Complete())
	})
	return c
}
