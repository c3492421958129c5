// Command softswitch is a userspace Ethernet switch with Priority-based Flow
// Control, a lab of network namespaces to run it in, and deadlock detection.
//
// `softswitch help` lists the commands. Here are their flags, their words and their exit
// codes; what they do is in the packages.
//
// Read in this order: main.go (the commands), cli (what commands share, exit codes), nodecmd (one
// node, and what running ones answer), labcmd (labs), simcmd (virtual time), then those that read
// files or look at the machine: files.go, check.go, import.go, doctor.go, gen.go,
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
	c := cli.Program(&cobra.Command{
		Use:   "softswitch",
		Short: "A userspace Ethernet switch with PFC, and deadlock detection",
		Long: `softswitch is an Ethernet switch in user space, with IEEE 802.1Qbb Priority-based
Flow Control and detection of PFC deadlocks, and a lab that builds fabrics of it
out of network namespaces.

Exit status: 0 done and as expected; 1 done, but not as expected; 2 not done.`,
	})
	c.AddCommand(nodecmd.Commands()...)
	c.AddCommand(labcmd.Commands()...)
	c.AddCommand(simcmd.Commands()...)
	c.AddCommand(decodeCommand(), replayCommand(), plotCommand(), taggerCommand(), validateCommand(), checkCommand(), importCommand())
	c.AddCommand(doctorCommand(), genCommand(), wiresharkCommand())
	return c
}
