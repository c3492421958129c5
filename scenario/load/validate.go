package load

import (
	"errors"
	"fmt"
	"strings"

	"softswitch/internal/strictyaml"
	"softswitch/scenario"
	"softswitch/scenario/config"
)

// Validation is what there is to say about a file.
type Validation struct {
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

// Validate checks data, the content of a file.
func Validate(file string, data []byte) Validation {
	v := Validation{File: file, Kind: kindOfFile(file, data), Faults: []fault{}, Warnings: []string{}}
	var err error
	var warnings []string
	switch v.Kind {
	case "switch":
		var s config.Switch
		s, warnings, err = config.LoadSwitch(file, data)
		v.About = fmt.Sprintf("%s, %d ports, %d routes", s.Name, len(s.Ports), len(s.Routes))
	case "host":
		var h config.Host
		h, err = config.LoadHost(file, data)
		v.About = fmt.Sprintf("%s, %s, %d flows", h.Name, h.Address, len(h.Flows))
	default:
		var s *scenario.Scenario
		if s, err = Scenario(file, data); err == nil {
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
