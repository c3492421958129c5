package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/lists"
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/unit"
)

func importCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "import",
		Short: "Convert other switches' or simulators' files to a scenario",
		Long:  `Convert files of other switches and simulators to a scenario file.`,
	}, importSONiC(), importHPCC(), importGraphML(), importContainerlab())
}

func importSONiC() *cobra.Command {
	by := ""
	c := &cobra.Command{
		Use:   "sonic DIR|FILE",
		Short: "Make a scenario file of SONiC switches",
		Long: `Convert the configurations of SONiC switches to a scenario file and print it. DIR contains
the config_db.json of each switch as NAME.json or in a folder NAME; FILE is one such file. DEVICE_NEIGHBOR gives
the links, or, if no file has it, INTERFACE: two switches with addresses of one subnet are
linked. CABLE_LENGTH gives the cables, PORT the speeds and mtu, PORT_QOS_MAP the lossless
priorities, BUFFER_PG the buffers, QUEUE the schedulers and marks, PFC_WD the watchdog and its
times. If SONiC computes a port's headroom, so does this for the platforms that it knows; others
get what the link needs. A neighbour without a file is a host, and so is what is at a port of a
VLAN, or at any port of a switch alone, that has no DEVICE_NEIGHBOR.

Both switches of a link must agree on it. Comments at the head of the file list what a
scenario cannot express, and every field that is not used, with the reason.

Exit status: 0 done; 2 not done: all errors are reported.`,
		Example: "  softswitch import sonic configs/ > fabric.yaml && softswitch check fabric.yaml\n  softswitch import sonic leaf1.json | softswitch validate -",
		Args:    cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(_ *cobra.Command, args []string) error {
			defer cli.Reading(args[0])()
			routing, err := importedRouting(by)
			if err != nil {
				return err
			}
			files, err := readSONiC(args[0])
			if err != nil {
				return err
			}
			name, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			made, err := importer.SONiC(strings.TrimSuffix(filepath.Base(name), ".json"), files, routing)
			if err != nil {
				err = fmt.Errorf("%s: %w", args[0], err)
			}
			return printImported(args[0], made, err)
		},
	}
	routingFlag(c, &by)
	return c
}

// routingFlag gives c the flag --routing, which importedRouting reads.
func routingFlag(c *cobra.Command, by *string) {
	c.Flags().StringVar(by, "routing", "", "where routes come from: bgp, igp or backups (default: what the files suggest)")
	c.RegisterFlagCompletionFunc("routing", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return lists.Map(importer.Routings, func(r importer.Routing) string { return string(r) }), cobra.ShellCompDirectiveNoFileComp
	})
}

// importedRouting reads the value of --routing.
func importedRouting(by string) (importer.Routing, error) {
	routing, err := importer.ParseRouting(by)
	if err != nil {
		return "", fmt.Errorf("--routing: %w", err)
	}
	return routing, nil
}

func importHPCC() *cobra.Command {
	var routing string
	c := &cobra.Command{
		Use:   "hpcc TOPOLOGY [FLOWS [CONFIG]]",
		Short: "Make a scenario file of files of HPCC's simulator",
		Long: `Convert topology.txt, flow.txt and config.txt of HPCC's simulator, or of a simulator with such
files (ns3-rdma, SimAI, PowerTCP, Reverie, ConWeave, astra-sim), to a scenario file and print
it: switch N becomes sN, host N becomes hN, and flows use transport rc in the priority of
their priority group.

Used of CONFIG are PFC and buffers (BUFFER_SIZE, USE_DYNAMIC_PFC_THRESHOLD), congestion
control (CC_MODE 1 and 7) and ECN (KMIN_MAP, KMAX_MAP, PMAX_MAP), PACKET_PAYLOAD_SIZE,
ERROR_RATE_PER_LINK, LINK_DOWN and SIMULATOR_STOP_TIME. Without the last the scenario lasts
twice the time that the hosts' links need for all traffic.

Comments at the head of the file list everything that is not used, and settings that a
scenario cannot express.

Exit status: 0 done; 2 not done: the error is reported.`,
		Example: "  softswitch import hpcc mix/topology.txt mix/flow.txt mix/config.txt > hpcc.yaml && softswitch sim run hpcc.yaml",
		Args:    cli.Arguments(cobra.RangeArgs(1, 3)),
		RunE: func(_ *cobra.Command, args []string) error {
			defer cli.Reading(args[0])()
			kind, err := importedRouting(routing)
			if err != nil {
				return err
			}
			var files []*importer.HPCCFile
			for _, path := range args {
				data, err := readAtMost(path, importer.MaxHPCCFile)
				if err != nil {
					return err
				}
				files = append(files, &importer.HPCCFile{Name: path, Data: data})
			}
			files = append(files, nil, nil)
			made, err := importer.HPCC(stem(args[0]), importer.HPCCFiles{Topology: *files[0], Flows: files[1], Config: files[2]}, kind)
			return printImported(args[0], made, err)
		},
	}
	routingFlag(c, &routing)
	return c
}

func importGraphML() *cobra.Command {
	rate := "100Gbit/s"
	c := importGraph(&rate, importer.MaxGraphMLFile, importer.GraphML, &cobra.Command{
		Use:   "graphml FILE",
		Short: "Make a scenario file of a graph in GraphML",
		Long: `Convert a graph in GraphML, such as those of the Internet Topology Zoo, to a scenario file
and print it. A node is a host if its type, kind, role or group is host, server or client;
otherwise it is a switch. If there are no hosts, switches of a group or with a name of leaf, tor, access
or edge have one each; if there are none of these either, each switch has one, as a point of
presence has users of its own. The rate of a link is LinkSpeedRaw, LinkSpeed, or what its
LinkLabel says, as in the zoo, or otherwise --rate.

Comments at the head of the file list the assumptions made and what is not used. Loops of one
node are omitted, and all but the largest part of a graph in pieces.

Exit status: 0 done; 2 not done: the error is reported.`,
		Example: "  softswitch import graphml Geant2012.graphml --rate 10Gbit/s > geant.yaml && softswitch check geant.yaml",
	})
	c.Flags().StringVar(&rate, "rate", rate, "rate of links for which the graph gives no rate")
	return c
}

func importContainerlab() *cobra.Command {
	rate := ""
	of := func(name, file string, data []byte, want importer.Options) (importer.Imported, error) {
		return importer.Containerlab(strings.TrimSuffix(name, ".clab"), file, data, want)
	}
	c := importGraph(&rate, importer.MaxContainerlabFile, of, &cobra.Command{
		Use:   "containerlab FILE",
		Short: "Make a scenario file of a topology of containerlab",
		Long: `Convert a containerlab topology, a .clab.yml, to a scenario file and print it. Hosts are
nodes whose label graph-icon or whose group is host, server or client, and nodes of kind
linux, with a NIC for each link, unless their icon, group, image or links show that they are
switches; all other nodes are switches. If there are no hosts, the switches of the edge have
one each: those of a group or with a name of leaf, tor, access or edge, or else the lowest
tier of a Clos; if the file does not tell, --hosts or --group has to.

Comments at the head of the file list assumptions and what is not used. Links that leave the
lab, such as those to mgmt-net, and nodes without a link are omitted.

Exit status: 0 done; 2 not done: the error is reported.`,
		Example: "  softswitch import containerlab clos.clab.yml --rate 100Gbit/s > clos.yaml && softswitch check clos.yaml",
	})
	c.Flags().StringVar(&rate, "rate", rate, "rate of the links, such as 100Gbit/s")
	c.MarkFlagRequired("rate")
	return c
}

// importGraph makes c convert a file of at most most bytes with of. Links without a rate get rate.
func importGraph(rate *string, most int64, of func(name, file string, data []byte, want importer.Options) (importer.Imported, error), c *cobra.Command) *cobra.Command {
	var routing string
	var want importer.Options
	c.Args = cli.Arguments(cobra.ExactArgs(1))
	c.RunE = func(_ *cobra.Command, args []string) (err error) {
		defer cli.Reading(args[0])()
		if want.Rate, err = linkRate(*rate); err != nil {
			return err
		}
		if want.Routing, err = importedRouting(routing); err != nil {
			return err
		}
		data, err := readAtMost(args[0], most)
		if err != nil {
			return err
		}
		made, err := of(stem(args[0]), args[0], data, want)
		return printImported(args[0], made, err)
	}
	c.Flags().StringSliceVar(&want.Hosts, "hosts", nil, "nodes that are hosts: names or patterns such as server*; or all: each switch has a host of its own")
	c.Flags().StringSliceVar(&want.Groups, "group", nil, "switches that have a host of their own each: groups, or names or patterns of switches")
	routingFlag(c, &routing)
	return c
}

// linkRate parses the value of --rate and refuses 0.
func linkRate(text string) (unit.Rate, error) {
	r, err := unit.ParseRate(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--rate: %w", err)
	case r == 0:
		return 0, fmt.Errorf("--rate: %q: links of a scenario have a rate; write one above zero, such as \"100Gbit/s\"", text)
	}
	return r, nil
}

// stem returns the name of a file without its folder and extension.
func stem(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }

// printImported prints the scenario made of the file from, if it is valid, and on standard error how much of
// the file is not used. err is the error of the conversion.
func printImported(from string, made importer.Imported, err error) error {
	if err != nil {
		return err
	}
	if _, err := load.Scenario(from, made.Text); err != nil {
		return fmt.Errorf("the scenario that comes of %s is not good: %w", from, err)
	}
	if unused := made.UnusedWords(); unused != "" {
		fmt.Fprintf(os.Stderr, "%s: %s\n", from, unused)
	}
	_, err = os.Stdout.Write(made.Text)
	return err
}

// readSONiC reads all configurations in a folder, or one file.
func readSONiC(dir string) (files []importer.SONiCFile, err error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		data, err := readAtMost(dir, importer.MaxSONiCFile)
		return []importer.SONiCFile{{Switch: stem(dir), Data: data}}, err
	}
	paths, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, p := range paths {
		name, ok := strings.CutSuffix(p.Name(), ".json")
		path := filepath.Join(dir, p.Name())
		if p.IsDir() {
			path = filepath.Join(path, "config_db.json")
			_, err := os.Stat(path)
			ok = err == nil
		}
		if !ok {
			continue
		}
		data, err := readAtMost(path, importer.MaxSONiCFile)
		if err != nil {
			return nil, err
		}
		if total += len(data); total > importer.MaxSONiCFiles {
			return nil, fmt.Errorf("%s: files of more than %d bytes in all", dir, importer.MaxSONiCFiles)
		}
		files = append(files, importer.SONiCFile{Switch: name, Data: data})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no NAME.json or NAME/config_db.json in it; want one of each switch", dir)
	}
	return files, nil
}

// readAtMost reads a file and refuses one of more than most bytes.
func readAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: more than %d bytes", path, most)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), err
}
