package labcmd

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/lab"
	"softswitch/lab/attack"
	netnslab "softswitch/netns-lab"
)

// Attack returns "lab attack" as a top-level command, with its own flag --name.
func Attack() *cobra.Command {
	name := new(string)
	c := labAttack(name)
	cli.NameFlag(c, c.Flags(), name, netnslab.DefaultName)
	return c
}

func labAttack(name *string) *cobra.Command {
	var host string
	var seed int64
	o := attack.Options{}
	c := cli.Printed(&cobra.Command{
		Use:   "attack [NODE NODE]",
		Short: "Forge control frames",
		Long: `Inject control frames on a link of a lab, with a raw socket: as an outsider on the link
between two switches, or as a host (--host). The frames appear to come from the first
node. Then report what the switches refused, declared, did and lost.

The kinds:
  ` + strings.Join(attack.KindsAbout(), "\n  ") + `

Run it during "softswitch lab run" to let the oracle judge the declarations.

Exit status: 0 nothing got through: no deadlock was declared, no action taken and
no lossless frame lost during the attack; 1 something got through; 2 there was no attack.`,
		Example: `  sudo softswitch lab deploy -t scenarios/fattree-on-loop.yaml --set auth=strict
  sudo softswitch lab attack core0 agg0-0 --for 5s
  sudo softswitch lab attack --host h0-0-0 --kinds forge --rate 100000`,
		Args:              cli.Arguments(cobra.MatchAll(cobra.MaximumNArgs(2), func(_ *cobra.Command, args []string) error { return evenArgs(args) })),
		ValidArgsFunction: cli.UpTo(2, cli.Offer(name, cli.LinkEnds)),
	}, "print JSON", func(cmd *cobra.Command, args []string) (cli.Finding, error) {
		st, err := lab.Load(*name)
		if err != nil {
			return nil, err
		}
		switch {
		case host != "" && len(args) > 0:
			return nil, errors.New("both --host and a link: attack one of the two")
		case host != "":
			if _, err := lab.Pick(st, []string{host}, "host"); err != nil {
				return nil, err
			}
			o.Link = [2]string{host, lab.Neighbours(st, host)[0]}
		case len(args) == 2:
			o.Link = [2]string{args[0], args[1]}
		default:
			return nil, fmt.Errorf("which link? Give two nodes, or --host; there is: %s", strings.Join(lab.Names(st, ""), ", "))
		}
		if seed < 0 {
			return nil, fmt.Errorf("--seed: %d; valid: 0 or above", seed)
		}
		o.Seed = uint64(seed)
		if err := o.Check(); err != nil {
			return nil, err
		}
		fmt.Fprintf(os.Stderr, "attacking %s, as %s, for %v\n", o.Link[1], o.Link[0], o.For)
		r, err := attack.Run(cmd.Context(), st, o)
		if err != nil {
			return nil, err
		}
		return cli.Judged(r, r.Held())
	})
	c.Flags().StringVar(&host, "host", "", "host that attacks, on its own link")
	c.RegisterFlagCompletionFunc("host", cli.Offer(name, cli.HostNames))
	c.Flags().StringSliceVar(&o.Kinds, "kinds", attack.KindNames(), "kinds of frames to send")
	c.Flags().IntVar(&o.Rate, "rate", 1000, "frames a second")
	c.Flags().DurationVar(&o.For, "for", 10*time.Second, "duration of the attack")
	c.Flags().Int64Var(&seed, "seed", 1, "seed of the frames, 0 or above")
	return c
}

func evenArgs(args []string) error {
	if len(args) == 1 {
		return errors.New("want two nodes, the ends of a link, or --host")
	}
	return nil
}
