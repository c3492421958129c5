package validate

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"softswitch/internal/strictyaml"
	"softswitch/lab"
	"softswitch/node/config"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/unit"
)

// File is the result of checking a file.
type File struct {
	Name     string             `json:"file"`
	Kind     string             `json:"kind"` // scenario, switch or host
	OK       bool               `json:"ok"`
	About    string             `json:"about,omitempty"` // what a good file is: "20 switches, ..."
	Faults   []strictyaml.Fault `json:"faults"`
	Warnings []string           `json:"warnings"`
	// SimOnly is why a live lab refuses a valid scenario, LiveOnly why a simulation
	// does.
	SimOnly  string `json:"sim_only,omitempty"`
	LiveOnly string `json:"live_only,omitempty"`
	// Slow is the --slow that a live lab needs for a valid scenario; 0 for none.
	Slow int `json:"slow,omitempty"`

	node *node // of a switch or a host without faults
}

// Files are files that were checked.
type Files []File

// OK reports whether all files are good.
func (all Files) OK() bool { return !slices.ContainsFunc(all, func(f File) bool { return !f.OK }) }

// WriteText writes a line for each file that is good, for each warning and for each fault.
func (all Files) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, v := range all {
		for _, warning := range v.Warnings {
			fmt.Fprintln(&b, "warning:", warning)
		}
		for _, f := range v.Faults {
			fmt.Fprintln(&b, f)
		}
		if v.OK {
			fmt.Fprintf(&b, "%s: good: a %s, %s%s\n", v.Name, v.Kind, v.About, v.Where())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Check checks data, the content of the file called name, with settings in the place of
// what it says.
func Check(name string, data []byte, settings ...strictyaml.Setting) File {
	f := File{Name: name, Kind: KindOf(name, data), Faults: []strictyaml.Fault{}, Warnings: []string{}}
	var warnings []string
	var err error
	switch f.Kind {
	case "switch":
		var s config.Switch
		s, warnings, err = config.LoadSwitch(name, data, settings...)
		f.node = nodeOfSwitch(name, &s)
		f.About = fmt.Sprintf("%s, %s, %s", s.Name, unit.Count(len(s.Ports), "port"), unit.Count(len(s.Routes), "route"))
	case "host":
		var h config.Host
		h, err = config.LoadHost(name, data, settings...)
		f.node = nodeOfHost(name, &h)
		f.About = fmt.Sprintf("%s, %s, %s", h.Name, h.Addresses(), unit.Count(len(h.Flows), "flow"))
	default:
		warnings, err = f.scenario(data, settings)
	}
	f.Warnings = append(f.Warnings, warnings...)
	if f.OK = err == nil; !f.OK {
		f.node = nil
		f.About, f.Faults = "", f.faultsOf(err)
	}
	return f
}

// scenario checks a scenario file, and asks both worlds whether they play it.
func (f *File) scenario(data []byte, settings []strictyaml.Setting) (warnings []string, err error) {
	s, err := load.Scenario(f.Name, data, settings...)
	if err != nil {
		return nil, err
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		return s.Warnings, err
	}
	f.About = about(s)
	simulated, live := sim.Refuse(plan), f.live(s)
	switch {
	case simulated != nil && live != nil:
		err = fmt.Errorf("not in a simulation: %w\nnot in a live lab: %w", simulated, live)
	case simulated != nil:
		f.LiveOnly = strings.TrimPrefix(simulated.Error(), "sim: ")
	case live != nil:
		f.SimOnly = live.Error()
	}
	return plan.Warnings, err
}

// live returns why a live lab refuses s at the speed that it needs, nil if it can play
// it.
func (f *File) live(s *scenario.Scenario) error {
	if err := lab.RefuseFabric(s.Fabric); err != nil {
		return err
	}
	n := lab.Slowness(s)
	err := refused(s, n)
	switch {
	case n == 1:
		return err
	case err != nil:
		return fmt.Errorf("with --slow %d, which its links need: %w", n, err)
	}
	f.Slow = n
	return nil
}

// refused returns why a live lab refuses s played n times slower, nil if it can play
// it.
func refused(s *scenario.Scenario, n int) error {
	s, err := s.Slow(n)
	if err != nil {
		return err
	}
	if _, err := scenario.Compile(s); err != nil {
		return err
	}
	if err := lab.Refuse(s); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "scenario "+s.Name+": ")) // the file says which
	}
	return nil
}

// Where says in which worlds a valid scenario can be played.
func (f *File) Where() string {
	switch {
	case f.SimOnly != "":
		return "; not in a live lab: " + f.SimOnly
	case f.LiveOnly != "":
		return "; not in a simulation: " + f.LiveOnly
	case f.Slow > 0:
		return fmt.Sprintf("; in a live lab with --slow %d", f.Slow)
	}
	return ""
}

func about(s *scenario.Scenario) string {
	n := s.Fabric.Switches()
	return fmt.Sprintf("%s, %s, %s, %s, %s, %s",
		unit.Count(n, "switch"), unit.Count(len(s.Fabric.Nodes)-n, "host"), unit.Count(len(s.Fabric.Links), "link"), unit.Count(len(s.Flows), "flow"), unit.Count(len(s.Events), "event"), s.Duration.String())
}

// KindOf recognises the kind of a file by its keys. A file with none of them is taken
// for a scenario.
func KindOf(file string, data []byte) string {
	var nothing struct{}
	d := strictyaml.Read(file, data, &nothing)
	switch {
	case d.Has("topology"):
	case d.Has("ports"):
		return "switch"
	case d.Has("port"), d.Has("nics") && !d.Has("topology"):
		return "host"
	}
	return "scenario"
}

func (f *File) faultsOf(err error) (all []strictyaml.Fault) {
	var faults strictyaml.Faults
	if errors.As(err, &faults) {
		return faults
	}
	for line := range strings.Lines(err.Error()) {
		all = append(all, strictyaml.Fault{File: f.Name, Text: strings.TrimSpace(line)})
	}
	return all
}
