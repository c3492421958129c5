package labcmd

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/lab"
	"softswitch/netns-lab/reach"
	"softswitch/scenario"
)

func labAttach() *cobra.Command {
	var replace bool
	var name string
	c := &cobra.Command{
		Use:   "attach FILE",
		Short: "Use nodes built already",
		Long: `Use nodes started by another tool as a lab: containers, pods, or namespaces, on this
machine or others. FILE lists them, each with the command prefix that runs a command
in the node:

  scenario: fattree-on-loop.yaml     # the scenario of the nodes; relative to FILE
  nodes:
    core0: docker exec -i clab-fattree-core0
    agg0-0: ssh b docker exec -i clab-fattree-agg0-0
    edge0-0: kubectl exec -i edge0-0 --
    h0-0-0: ip netns exec h0-0-0

and may also have: name, the name of the lab; program, the softswitch command in a node; dir,
the directory of each node's control.sock and events.jsonl (default /run; {node} stands for
the node's name); and detector, response and slow, if the nodes run with other values than
the scenario's. "lab export" writes such a file.

Then "show", "clear", "lab start", "lab fail", "lab capture", "lab ui", and all other lab
commands work on it. "lab run --attach FILE" plays the scenario. Nothing listens on a
network: one command per node keeps running and communicates through its standard input
and output. "lab destroy" detaches from the nodes and leaves them as they are.

Exit status: 0 every node is reached; 2 not, and nothing is left behind.`,
		Example:           "  softswitch lab export scenarios/fattree-on-loop.yaml --containerlab clab\n  softswitch lab attach clab/nodes.yaml\n  softswitch show pfc counters --name fattree-on-loop",
		Args:              cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: cli.UpTo(1, cli.YAMLFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			nodes, plan, err := readNodes(cmd, args[0])
			if err != nil {
				return err
			}
			_, err = nodes.Attach(cmd.Context(), plan, false, replace, os.Stderr)
			return orReplace(err)
		},
	}
	replaceFlag(c, &replace)
	cli.OwnNameFlag(c, &name)
	return c
}

// readNodes reads a list of nodes. --name overrides the lab's name in the list.
func readNodes(cmd *cobra.Command, file string) (*lab.Nodes, *scenario.Plan, error) {
	data, err := cli.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	defer cli.Reading(cli.Called(file))()
	nodes, plan, err := lab.ReadNodes(cli.Called(file), data)
	if err == nil && cmd.Flags().Changed("name") {
		nodes.Name = cmd.Flags().Lookup("name").Value.String()
	}
	return nodes, plan, err
}

// labRelay returns a hidden command that only [lab.Nodes.Attach] calls.
func labRelay() *cobra.Command {
	return hidden("relay LAB", 1, func(cmd *cobra.Command, args []string) error {
		st, err := lab.Load(args[0])
		if err != nil {
			return err
		}
		return reach.Relay(cmd.Context(), st, reach.Files{Control: lab.ControlName, Events: lab.EventsName}, os.Stdout)
	})
}

// labAgent returns a hidden command that only [reach.Relay] calls.
func labAgent() *cobra.Command {
	return hidden("agent SOCKET LOG", 2, func(_ *cobra.Command, args []string) error {
		if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return errors.New("lab agent: only \"lab attach\" starts it")
		}
		return reach.Agent(os.Stdin, os.Stdout, args[0], args[1])
	})
}
