package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/internal/strictyaml"
	"softswitch/scenario"
	"softswitch/scenario/config"
	"softswitch/scenario/load"
)

func validateCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check scenario files and configurations of switches and hosts",
		Long: `Check scenario files and configurations of switches and hosts, which it tells apart
by their keys: a scenario has "topology", a switch "ports", a host "port". All that
is wrong with a file is told at once, with its line; of a scenario also what only
shows when its routes are computed. FILE "-" is standard input, here and wherever a
command reads such a file.

An editor that knows JSON Schema checks files while they are written: docs/schema.

Exit status: 0 all files are good; 1 one of them is not; 2 one could not be read.`,
		Example:           "  softswitch validate scenarios/*.yaml\n  softswitch validate --json switch.yaml",
		Args:              arguments(cobra.MinimumNArgs(1)),
		ValidArgsFunction: yamlFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			var all []validation
			good := true
			for _, file := range args {
				data, err := readFile(file)
				if err != nil {
					return err
				}
				v := validate(file, data)
				good = good && v.OK
				all = append(all, v)
			}
			if err := printValidations(os.Stdout, all, asJSON); err != nil {
				return err
			}
			if !good {
				return errUnmet
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a list of files with their faults as JSON")
	return c
}

// validation is what there is to say about a file.
type validation struct {
	File     string   `json:"file"`
	Kind     string   `json:"kind"` // scenario, switch or host
	OK       bool     `json:"ok"`
	About    string   `json:"about,omitempty"` // what a good file is: "20 switches, ..."
	Faults   []fault  `json:"faults"`
	Warnings []string `json:"warnings"`
}

// fault is one thing wrong in a file.
type fault struct {
	Line int    `json:"line,omitempty"` // counted from 1
	Key  string `json:"key,omitempty"`  // "flows[2].rate"
	Text string `json:"text"`
}

// validate checks data, the content of a file.
func validate(file string, data []byte) validation {
	v := validation{File: file, Kind: kindOfFile(file, data), Faults: []fault{}, Warnings: []string{}}
	var err error
	var warnings []string
	switch v.Kind {
	case "switch":
		var s config.Switch
		if s, warnings, err = config.LoadSwitch(file, data); err == nil {
			_, err = catalog.Named(file+": detector", s.Detector)
		}
		v.About = fmt.Sprintf("%s, %d ports, %d routes", s.Name, len(s.Ports), len(s.Routes))
	case "host":
		var h config.Host
		h, err = config.LoadHost(file, data)
		v.About = fmt.Sprintf("%s, %s, %d flows", h.Name, h.Address, len(h.Flows))
	default:
		var s *scenario.Scenario
		if s, err = load.Scenario(file, data); err == nil {
			warnings = s.Warnings
			v.About = about(s)
			_, err = scenario.Compile(s)
		}
	}
	v.Warnings = append(v.Warnings, warnings...)
	if v.OK = err == nil; !v.OK {
		v.About, v.Faults = "", faultsOf(file, err)
	}
	return v
}

func about(s *scenario.Scenario) string {
	n := s.Fabric.Switches()
	return fmt.Sprintf("%d switches, %d hosts, %d links, %d flows, %d events, %s",
		n, len(s.Fabric.Nodes)-n, len(s.Fabric.Links), len(s.Flows), len(s.Events), config.FormatTime(s.Duration))
}

// kindOfFile tells by its keys what a file is. One that has none of them is held for a
// scenario.
func kindOfFile(file string, data []byte) string {
	var nothing struct{}
	d := strictyaml.Read(file, data, &nothing)
	switch {
	case d.Has("topology"):
	case d.Has("ports"):
		return "switch"
	case d.Has("port"):
		return "host"
	}
	return "scenario"
}

func faultsOf(file string, err error) []fault {
	var faults strictyaml.Faults
	if !errors.As(err, &faults) {
		return []fault{{Text: strings.TrimPrefix(err.Error(), file+": ")}}
	}
	var all []fault
	for _, f := range faults {
		all = append(all, fault{f.Line, f.Key, f.Text})
	}
	return all
}

// printValidations writes a line per file that is good, and per fault.
func printValidations(w io.Writer, all []validation, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	for _, v := range all {
		for _, warning := range v.Warnings {
			fmt.Fprintln(w, "warning:", warning)
		}
		for _, f := range v.Faults {
			fmt.Fprintln(w, strictyaml.Fault{File: v.File, Line: f.Line, Key: f.Key, Text: f.Text})
		}
		if v.OK {
			if _, err := fmt.Fprintf(w, "%s: good: a %s, %s\n", v.File, v.Kind, v.About); err != nil {
				return err
			}
		}
	}
	return nil
}
