package netnslab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"text/tabwriter"
)

// Summary is a lab in the list.
type Summary struct {
	Name string `json:"name"`
	// State is "up", "broken" if something of it is missing, "unknown" if this user may not
	// look, or "unreadable" if its record cannot be read; Problem gives the reason.
	State    string `json:"state"`
	Problem  string `json:"problem,omitempty"`
	Switches int    `json:"switches"`
	Hosts    int    `json:"hosts"`
	Links    int    `json:"links"`
	Dir      string `json:"dir"`
}

// Summaries are the labs of this machine.
type Summaries []Summary

// List checks all labs on record.
func List() (Summaries, error) {
	names, err := Labs()
	if err != nil {
		return nil, err
	}
	all := Summaries{}
	for _, name := range names {
		all = append(all, summarize(name))
	}
	return all, nil
}

func summarize(name string) Summary {
	s := Summary{Name: name, State: "up", Dir: Dir(name)}
	st, err := Load(name)
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
	switch err := st.Problem(); {
	case errors.Is(err, fs.ErrPermission):
		s.State, s.Problem = "unknown", err.Error()+"; run with sudo"
	case err != nil:
		s.State, s.Problem = "broken", err.Error()
	}
	return s
}

// WriteText writes a line for each lab.
func (all Summaries) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
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
