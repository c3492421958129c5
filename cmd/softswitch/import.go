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
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/unit"
)

func importCommand() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "import",
		Short: "Convert other switches' or simulators' files to a scenario",
		Long:  `Make a scenario file of the files of other switches and simulators.`,
	}, importSONiC(), importHPCC(), importGraphML(), importContainerlab())
}

func importSONiC() *cobra.Command {
	return &cobra.Command{
		Use:   "sonic DIR|FILE",
		Short: "Make a scenario file of SONiC switches",
		Long: `Make a scenario file of the SONiC switches of a folder, which has the config_db.json of
each as NAME.json, or of one such file, and print it: their links by DEVICE_NEIGHBOR, cables by CABLE_LENGTH,
speeds and mtu by PORT, lossless classes by PORT_QOS_MAP, buffers by BUFFER_PG. Where SONiC
computes a port's headroom, it is what the link needs. A neighbour without a file is a host.

Two switches have to agree about a link, and all about the classes that they pause. What a
scenario cannot say is told in comments at the head of the file, and so are the tables that
are not used.

Exit status: 0 done; 2 what is wrong is told, all of it.`,
		Example: "  softswitch import sonic configs/ > fabric.yaml && softswitch check fabric.yaml\n  softswitch import sonic leaf1.json | softswitch validate -",
		Args:    cli.Arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(_ *cobra.Command, args []string) error {
			defer cli.Reading(args[0])()
			files, err := readSONiC(args[0])
			if err != nil {
				return err
			}
			name, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			text, err := importer.SONiC(strings.TrimSuffix(filepath.Base(name), ".json"), files)
			if err != nil {
				err = fmt.Errorf("%s: %w", args[0], err)
			}
			return printImported(args[0], text, err)
		},
	}
}

func importHPCC() *cobra.Command {
	return &cobra.Command{
		Use:   "hpcc TOPOLOGY [FLOWS]",
		Short: "Make a scenario file of files of HPCC's simulator",
		Long: `Make a scenario file of the topology.txt and flow.txt of HPCC's simulator, or of one that
reads the same files, such as SimAI's, and print it: switch N is sN, host N is hN, and
flows are of transport rc, in the class of their priority group.

What a scenario cannot say is told in comments at the head of the file. It lasts twice as
long as the links of the hosts need for all that is sent.

Exit status: 0 done; 2 what is wrong is told.`,
		Example: "  softswitch import hpcc mix/topology.txt mix/flow.txt > hpcc.yaml && softswitch sim run hpcc.yaml",
		Args:    cli.Arguments(cobra.RangeArgs(1, 2)),
		RunE: func(_ *cobra.Command, args []string) error {
			defer cli.Reading(args[0])()
			var files []importer.HPCCFile
			for _, path := range args {
				data, err := readAtMost(path, importer.MaxHPCCFile)
				if err != nil {
					return err
				}
				files = append(files, importer.HPCCFile{Name: path, Data: data})
			}
			var flows *importer.HPCCFile
			if len(files) > 1 {
				flows = &files[1]
			}
			text, err := importer.HPCC(stem(args[0]), files[0], flows)
			return printImported(args[0], text, err)
		},
	}
}

func importGraphML() *cobra.Command {
	rate := "100Gbit/s"
	c := importGraph(&rate, importer.MaxGraphMLFile, importer.GraphML, &cobra.Command{
		Use:   "graphml FILE",
		Short: "Make a scenario file of a graph in GraphML",
		Long: `Make a scenario file of a graph in GraphML, such as those of the Internet Topology Zoo, and
print it. Nodes are switches, except those whose type, kind or role is host or server. If
there are none, each switch has one host. The rate of a link is LinkSpeedRaw, as the zoo
has it, or else --rate.

What is supposed is told in comments at the head of the file.

Exit status: 0 done; 2 what is wrong is told.`,
		Example: "  softswitch import graphml Geant2012.graphml --rate 10Gbit/s > geant.yaml && softswitch check geant.yaml",
	})
	c.Flags().StringVar(&rate, "rate", rate, "rate of links of which the graph tells none")
	return c
}

func importContainerlab() *cobra.Command {
	rate := ""
	of := func(name, file string, data []byte, r unit.Rate) ([]byte, error) {
		return importer.Containerlab(strings.TrimSuffix(name, ".clab"), file, data, r)
	}
	c := importGraph(&rate, importer.MaxContainerlabFile, of, &cobra.Command{
		Use:   "containerlab FILE",
		Short: "Make a scenario file of a topology of containerlab",
		Long: `Make a scenario file of a topology of containerlab, a .clab.yml, and print it. Hosts are nodes
whose label graph-icon or whose group is host, server or client, and nodes of kind linux
with one link and no other icon; the others are switches. If there are no hosts, each
switch has one. Links that leave the lab, such as those to mgmt-net, are left out, and so
are nodes without a link.

What is supposed and what is left out is told in comments at the head of the file.

Exit status: 0 done; 2 what is wrong is told.`,
		Example: "  softswitch import containerlab clos.clab.yml --rate 100Gbit/s > clos.yaml && softswitch check clos.yaml",
	})
	c.Flags().StringVar(&rate, "rate", rate, "rate of the links, such as 100Gbit/s")
	c.MarkFlagRequired("rate")
	return c
}

// importGraph makes c make a scenario of a file of at most so many bytes, whose links have a rate if it tells none.
func importGraph(rate *string, most int64, of func(name, file string, data []byte, rate unit.Rate) ([]byte, error), c *cobra.Command) *cobra.Command {
	c.Args = cli.Arguments(cobra.ExactArgs(1))
	c.RunE = func(_ *cobra.Command, args []string) error {
		defer cli.Reading(args[0])()
		r, err := linkRate(*rate)
		if err != nil {
			return err
		}
		data, err := readAtMost(args[0], most)
		if err != nil {
			return err
		}
		text, err := of(stem(args[0]), args[0], data, r)
		return printImported(args[0], text, err)
	}
	return c
}

// linkRate is the rate that --rate gives links, which is not 0.
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

// stem is the name of a file without its folder and ending.
func stem(path string) string { return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) }

// printImported prints the scenario that comes of from, if it is good; err is why none does.
func printImported(from string, text []byte, err error) error {
	if err != nil {
		return err
	}
	if _, err := load.Scenario(from, text); err != nil {
		return fmt.Errorf("the scenario that comes of %s is not good: %w", from, err)
	}
	_, err = os.Stdout.Write(text)
	return err
}

// readSONiC reads the configurations in a folder, or the one of a file.
func readSONiC(dir string) (files []importer.SONiCFile, err error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		data, err := readAtMost(dir, importer.MaxSONiCFile)
		return []importer.SONiCFile{{Switch: stem(dir), Data: data}}, err
	}
	paths, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		name, ok := strings.CutSuffix(p.Name(), ".json")
		if !ok {
			continue
		}
		data, err := readAtMost(filepath.Join(dir, p.Name()), importer.MaxSONiCFile)
		if err != nil {
			return nil, err
		}
		files = append(files, importer.SONiCFile{Switch: name, Data: data})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no NAME.json in it; want the config_db.json of each switch", dir)
	}
	return files, nil
}

// readAtMost reads a file of at most so many bytes.
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
