package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"softswitch/config"
	"softswitch/internal/strictyaml"
	"softswitch/internal/unit"
	"softswitch/topo"
)

// file is a scenario as it is written.
type file struct {
	Name        string        `yaml:"name"`
	Description string        `yaml:"description"`
	Topology    fileTopology  `yaml:"topology"`
	Buffer      config.Buffer `yaml:"buffer"`
	PFC         config.PFC    `yaml:"pfc"`
	Trust       string        `yaml:"trust"`
	Routes      []fileRoute   `yaml:"routes"`
	Dead        []string      `yaml:"dead"`
	Flood       string        `yaml:"flood"`
	Detector    string        `yaml:"detector"`
	Response    string        `yaml:"response"`
	Flows       []fileFlow    `yaml:"flows"`
	Events      []fileEvent   `yaml:"events"`
	Duration    string        `yaml:"duration"`
	Expect      fileExpect    `yaml:"expect"`
	// ExpectFor is what else, or what instead, is expected of one detector.
	ExpectFor map[string]fileExpect `yaml:"expect_for"`
}

// fileTopology is one of fattree, ring, or switches and hosts and links.
type fileTopology struct {
	FatTree  *fileFatTree `yaml:"fattree"`
	Ring     *fileRing    `yaml:"ring"`
	Switches []string     `yaml:"switches"`
	Hosts    []string     `yaml:"hosts"`
	Links    []string     `yaml:"links"` // "s1--s2"
	// Rate and what follows are those of every link that Overrides does not name.
	Rate        string         `yaml:"rate"`
	Delay       string         `yaml:"delay"`
	Jitter      string         `yaml:"jitter"`
	ControlLoss *int           `yaml:"control_loss_per_mille"`
	Overrides   []fileOverride `yaml:"overrides"`
}

type fileFatTree struct {
	K int `yaml:"k"`
}

type fileRing struct {
	Switches int `yaml:"switches"`
	Hosts    int `yaml:"hosts_per_switch"`
}

type fileOverride struct {
	Link        string `yaml:"link"`
	Rate        string `yaml:"rate"`
	Delay       string `yaml:"delay"`
	Jitter      string `yaml:"jitter"`
	ControlLoss *int   `yaml:"control_loss_per_mille"`
}

type fileRoute struct {
	At     string   `yaml:"at"`
	To     string   `yaml:"to"`     // a prefix, or a node for its subnet
	Ports  []string `yaml:"ports"`  // neighbours
	Backup []string `yaml:"backup"` // neighbours
}

type fileFlow struct {
	Name  string   `yaml:"name"`
	From  string   `yaml:"from"`
	To    string   `yaml:"to"`
	Class *int     `yaml:"class"`
	Rate  string   `yaml:"rate"`
	Frame *int     `yaml:"frame"`
	TTL   *int     `yaml:"ttl"`
	Start string   `yaml:"start"`
	Stop  string   `yaml:"stop"`
	Via   []string `yaml:"via"`
}

type fileEvent struct {
	At     string `yaml:"at"`
	Do     string `yaml:"do"`
	Link   string `yaml:"link"`
	Switch string `yaml:"switch"`
	Host   string `yaml:"host"`
	From   string `yaml:"from"`
	Class  *int   `yaml:"class"`
	Rate   string `yaml:"rate"`
	For    string `yaml:"for"`
	Nth    int    `yaml:"nth"`
	Frame  string `yaml:"frame"` // hex
}

type fileExpect struct {
	Deadlock     *bool        `yaml:"deadlock"`
	Detected     string       `yaml:"detected"` // true, false or either
	FalseAlarm   *bool        `yaml:"false_alarm"`
	Missed       *bool        `yaml:"missed"`
	Trigger      *fileTrigger `yaml:"trigger"`
	LosslessLost *int         `yaml:"lossless_lost"`
	MaxLatency   string       `yaml:"max_latency"`
	MinXOFF      int          `yaml:"pfc_xoff_min"`
}

type fileTrigger struct {
	Node   string `yaml:"node"`
	Kind   string `yaml:"kind"`
	OnLoop *bool  `yaml:"on_loop"`
}

// Defaults of a file.
const (
	defaultDetector = "itsy"
	defaultClass    = 3
)

// Known is what the caller can play: the names that a file may use.
type Known struct {
	Detectors []string // besides "none"
	Responses []string // besides "none"
}

// Parse reads a scenario from data, the content of the file called name. The
// error is a strictyaml.Faults: all that is wrong, as "file:line: key: value,
// valid choices".
func Parse(name string, data []byte, known Known) (*Scenario, error) {
	var f file
	p := parser{Doc: strictyaml.Read(name, data, &f)}
	s := &Scenario{
		Name: f.Name, Description: strings.TrimSpace(f.Description), doc: p.Doc,
		Buffer: f.Buffer, PFC: f.PFC,
		Trust:    cmp.Or(f.Trust, "dscp"),
		Detector: cmp.Or(f.Detector, defaultDetector),
		Response: cmp.Or(f.Response, "none"),
	}
	if s.Name == "" {
		p.Faultf("name", "missing: a scenario has a name")
	}
	p.choice("trust", s.Trust, []string{"dscp", "pcp"})
	p.choice("detector", s.Detector, append([]string{"none"}, known.Detectors...))
	p.choice("response", s.Response, append([]string{"none"}, known.Responses...))
	s.Duration = p.duration(f.Duration)
	s.Fabric, s.Links = p.topology(f.Topology)
	p.profile(s)
	if s.Fabric != nil { // without it no name means anything
		p.fabric, p.end, p.lossless = s.Fabric, s.Duration, s.PFC.Lossless
		s.Routes = p.routes(f.Routes)
		s.Dead = p.dead(f.Dead)
		s.FloodAll = p.choice("flood", cmp.Or(f.Flood, "hosts"), []string{"hosts", "all"}) && f.Flood == "all"
		s.Flows = p.flows(f.Flows)
		p.silent(s)
		s.Events = p.events(f.Events)
		s.Expect = p.expect("expect", f.Expect)
		s.ExpectFor = p.expectFor(s.Expect, f.ExpectFor, known)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// parser turns the parts of a file into those of a Scenario. What is wrong goes
// into its Doc, and the value returned then means nothing.
type parser struct {
	*strictyaml.Doc
	fabric   *topo.Fabric
	end      unit.Time // of the scenario; 0 if it is not known
	lossless []int
}

func (p *parser) duration(s string) unit.Time {
	d, ok := p.time("duration", s)
	if ok && d == 0 {
		p.Faultf("duration", "%q: a scenario lasts longer than that", s)
	}
	return d
}

// profile fills the buffer profile and the PFC settings and checks them.
func (p *parser) profile(s *Scenario) {
	var ports []config.Port
	for _, l := range s.Links {
		ports = append(ports, config.Port{Rate: config.FormatRate(l.Rate)})
	}
	s.PFC.Fill(ports)
	s.Buffer.Fill()
	s.Warnings = config.CheckProfile(p.Doc, s.Buffer, s.PFC, ports)
}

func (p *parser) time(path, s string) (unit.Time, bool) {
	t, err := config.ParseTime(s)
	if err != nil {
		p.Faultf(path, "%v", err)
	}
	return t, err == nil
}

// timeWithin is a time that is not after the scenario's end.
func (p *parser) timeWithin(path, s string) unit.Time {
	t, ok := p.time(path, s)
	if ok && p.end > 0 && t > p.end {
		p.Faultf(path, "%q is after the end of the scenario, %s", s, config.FormatTime(p.end))
	}
	return t
}

func (p *parser) within(path, what string, n, lo, hi int) int {
	if n < lo || n > hi {
		p.Faultf(path, "%s %d: use %d to %d", what, n, lo, hi)
	}
	return n
}

func (p *parser) choice(path, s string, valid []string) bool {
	ok := slices.Contains(valid, s)
	if !ok {
		p.Faultf(path, "%q%s; use %s", s, strictyaml.DidYouMean(s, valid), strings.Join(valid, ", "))
	}
	return ok
}

// flowRate reads a rate above zero, or "line" as 0 where that is allowed.
func (p *parser) flowRate(path, s string, line bool) unit.Rate {
	if line && s == "line" {
		return 0
	}
	r, err := config.ParseRate(s)
	if err != nil || r == 0 {
		or := ""
		if line {
			or = `, or "line" for the link's`
		}
		p.Faultf(path, `%q: write a rate above zero such as "10Mbit/s"%s`, s, or)
	}
	return r
}

// node finds the node called name; want is "switch", "host" or "node".
func (p *parser) node(path, name, want string) (int, bool) {
	i, ok := p.fabric.Node(name)
	if ok && (want == "node" || want == p.fabric.Nodes[i].Kind.String()) {
		return i, true
	}
	var names []string
	for _, n := range p.fabric.Nodes {
		if want == "node" || want == n.Kind.String() {
			names = append(names, n.Name)
		}
	}
	p.Faultf(path, "no %s is called %q%s; there are %s", want, name, strictyaml.DidYouMean(name, names), span(names))
	return 0, false
}

// link finds the link called name, either way round. If there is none, the
// links of the nodes in name are told, or all links if it names no node.
func (p *parser) link(path, name string) (int, bool) {
	l, ok := p.fabric.Link(name)
	if ok {
		return l, true
	}
	ends := strings.SplitN(name, "--", 2)
	var all, both, beside []string
	for _, l := range p.fabric.Links {
		a, b := p.fabric.Nodes[l.A.Node].Name, p.fabric.Nodes[l.B.Node].Name
		all, both = append(all, l.Name), append(both, l.Name, b+"--"+a)
		if slices.Contains(ends, a) || slices.Contains(ends, b) {
			beside = append(beside, l.Name)
		}
	}
	if beside == nil {
		beside = all
	}
	p.Faultf(path, "no link is called %q%s; there are %s", name, strictyaml.DidYouMean(name, both), span(beside))
	return 0, false
}

// span lists at most eight names in full.
func span(names []string) string {
	if n := len(names); n > 8 {
		return fmt.Sprintf("%s, ..., %s (%d in all)", strings.Join(names[:4], ", "), strings.Join(names[n-2:], ", "), n)
	}
	return strings.Join(names, ", ")
}
