package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	netnslab "softswitch/netns-lab"
)

// labSummary is a lab in a list.
type labSummary struct {
	Name string `json:"name"`
	// State is "up", "broken" if something of it is gone, or "unreadable" if its record
	// is, with the reason in Problem.
	State    string `json:"state"`
	Problem  string `json:"problem,omitempty"`
	Switches int    `json:"switches"`
	Hosts    int    `json:"hosts"`
	Links    int    `json:"links"`
	Dir      string `json:"dir"`
}

func labList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the labs of this machine",
		Long: `List the labs that are on record: those that are up, those of which something is gone
("broken": "lab inspect" says what) and those whose record cannot be read.`,
		Example: "  softswitch lab list\n  softswitch lab list --json",
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			names, err := netnslab.Labs()
			if err != nil {
				return err
			}
			all := []labSummary{}
			for _, name := range names {
				all = append(all, summarize(name))
			}
			if asJSON {
				return printJSON(all)
			}
			return writeLabs(all)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func summarize(name string) labSummary {
	s := labSummary{Name: name, State: "up", Dir: netnslab.Dir(name)}
	st, err := netnslab.Load(name)
	if err != nil {
		s.State, s.Problem = "unreadable", err.Error()
		return s
	}
	for _, n := range st.Nodes {
		if n.Kind == "switch" {
			s.Switches++
		} else {
			s.Hosts++
		}
	}
	s.Links = len(st.Links)
	if s.Problem = st.Problem(); s.Problem != "" {
		s.State = "broken"
	}
	return s
}

func writeLabs(all []labSummary) error {
	if len(all) == 0 {
		fmt.Fprintln(os.Stderr, "no lab is up; see softswitch lab deploy --help")
		return nil
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "LAB\tSWITCHES\tHOSTS\tLINKS\tSTATE")
	for _, s := range all {
		state := s.State
		if s.Problem != "" {
			state += ": " + s.Problem
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", s.Name, s.Switches, s.Hosts, s.Links, state)
	}
	return w.Flush()
}
