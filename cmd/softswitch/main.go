// Command softswitch is a userspace Ethernet switch with Priority-based Flow
// Control, a lab of network namespaces to run it in, and deadlock detection.
//
// `softswitch help` lists the commands. This package and those below it define flags, help texts
// and exit codes; other packages do the work.
//
// Read in this order: main.go (the commands), cli (shared code, exit codes), nodecmd (running a
// node and querying running nodes), labcmd (labs), simcmd (virtual time), then the commands that
// read files or examine the machine: files.go, check.go, import.go, doctor.go, gen.go,
// wireshark.go.
package main

import (
	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/cmd/softswitch/labcmd"
	"softswitch/cmd/softswitch/nodecmd"
	"softswitch/cmd/softswitch/simcmd"
)

func main() { cli.Main(root()) }

func root() *cobra.Command {
	c := cli.Group(&cobra.Command{
		Use:   "softswitch",
		Short: "A userspace Ethernet switch with PFC, and deadlock detection",
		Long: `softswitch: an Ethernet switch in user space with PFC, and deadlock detection
Exit status: 0 done and as expected; 1 done, but not as expected; 2 not done.`,
	})
	c.Args = nil // cobra suggests a command for an unknown name
	cli.Grouped(c, "start", "Start here", cli.With(labcmd.Demo(), nodecmd.NICDemo("nic"), labcmd.RDMADemo()), learnCommand(), doctorCommand())
	cli.Grouped(c, "play", "Play", labcmd.Lab(), simcmd.Sim())
	cli.Grouped(c, "ask", "Ask", cli.With(checkCommand(), taggerCommand()), simcmd.Cause(), cli.With(simcmd.Compare(), plotCommand()), simcmd.Sweep(), simcmd.Campaign(), conformCommand())
	cli.Grouped(c, "run", "Run nodes", cli.With(nodecmd.Run(), replayCommand()), nodecmd.NIC())
	cli.Grouped(c, "nodes", "Ask nodes", nodecmd.Show(), nodecmd.Clear(), nodecmd.PFCWD(), nodecmd.Auth())
	cli.Grouped(c, "files", "Files", importCommand(), validateCommand(), cli.With(decodeCommand(), wiresharkCommand("wireshark")))
	c.AddCommand(labcmd.Internal()...)
	c.AddCommand(genCommand())
	cli.Formerly(
		c, nodecmd.Host(), replayCommand(), taggerCommand(), plotCommand(), simcmd.Merge(), labcmd.Attack(),
		cli.Group(&cobra.Command{Use: "wireshark"}, wiresharkCommand("install")),
	)
	c.SetHelpCommand(&cobra.Command{Hidden: true, Use: "help [COMMAND|TOPIC]", ValidArgs: topicNames(), RunE: help})
	c.CompletionOptions.HiddenDefaultCmd = true
	return cli.Program(c, topicNames()...)
}
