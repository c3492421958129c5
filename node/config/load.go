package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/lists"
	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// Bridge is a learning bridge over these interfaces, with PFC on priorities 3 and 4. Error and
// warnings are as LoadSwitch's.
func Bridge(ports ...string) (s Switch, warnings []string, err error) {
	s.Name, s.ID = "switch", 1
	s.Ports = lists.Map(ports, func(name string) Port { return Port{Name: name} })
	trusting := warnPeers(strictyaml.NewDoc("arguments"), s.Ports)
	s.Fill()
	warnings, err = s.Check("arguments")
	return s, append(warnings, trusting...), err
}

// warnPeers warns of ports, not filled in yet, of which nothing says what they lead to: a host
// there would be believed as a switch is.
func warnPeers(d *strictyaml.Doc, ports []Port) (warnings []string) {
	unsaid := func(p Port) bool { return p.Peer == "" }
	first := slices.IndexFunc(ports, unsaid)
	if first < 0 {
		return nil
	}
	names := lists.Map(lists.Where(ports, unsaid), func(p Port) string { return p.Name })
	return []string{d.At(fmt.Sprintf("ports[%d].peer", first), fmt.Sprintf("not said of %s: taken to lead to a switch, whose labels and messages are believed; a file can say \"peer: host\" where a host is",
		strings.Join(names, ", "))).String()}
}

// LoadSwitch reads the configuration of a switch from data, the content of the
// file called name. Defaults are filled in. The error is a strictyaml.Faults: all
// that is wrong, as "file:line: key: value, valid choices". The warnings, in the
// same form, tell what the configuration costs. Settings are read in the place of what
// the file says.
func LoadSwitch(name string, data []byte, settings ...strictyaml.Setting) (s Switch, warnings []string, err error) {
	d := strictyaml.Read(name, data, &s, settings...)
	schema.Check(d, &s)
	trusting := warnPeers(d, s.Ports)
	s.Fill()
	warnings = checkSwitch(d, &s)
	d.Choice("detector", s.Detector, catalog.Names())
	d.Fault("detector", catalog.Fits(s.Detector, s.Name, unit.NodeID(s.ID), len(s.Ports)))
	d.Choice("response", s.Response, respond.Names())
	if err = d.Err(); err == nil {
		warnings = append(warnings, trusting...)
	}
	return s, warnings, err
}

// LoadNIC is LoadHost of a host with a NIC for programs.
func LoadNIC(name string, data []byte) (h Host, err error) {
	h, err = LoadHost(name, data)
	if err == nil && h.Stack == "" {
		err = fmt.Errorf(`%s: stack: missing: name the interface that programs are to use, such as "nic0"; a host that makes its own frames is run by softswitch host`, name)
	}
	return h, err
}

// LoadHost reads the configuration of a host, as LoadSwitch does.
func LoadHost(name string, data []byte, settings ...strictyaml.Setting) (h Host, err error) {
	d := strictyaml.Read(name, data, &h, settings...)
	schema.Check(d, &h)
	h.Fill()
	checkHost(d, &h)
	return h, d.Err()
}

// Check checks a filled-in Switch that comes from no file, except for the names of its
// detector and its response; name stands for the file in its errors and warnings.
func (s *Switch) Check(name string) (warnings []string, err error) {
	d := strictyaml.NewDoc(name)
	schema.Check(d, s)
	warnings = checkSwitch(d, s)
	return warnings, d.Err()
}

// Check checks a filled-in Host that comes from no file.
func (h *Host) Check(name string) error {
	d := strictyaml.NewDoc(name)
	schema.Check(d, h)
	checkHost(d, h)
	return d.Err()
}

// CheckProfile adds to d the faults of a filled-in buffer profile and PFC settings, at
// d's keys "buffer" and "pfc". ports are the ports they apply to, mtu is what CheckMTU
// returned.
func CheckProfile(d *strictyaml.Doc, b Buffer, p PFC, ports []Port, mtu int) (warnings []string) {
	checkPFC(d, p, ports)
	return checkBuffer(d, &b, mtu)
}

// Marshal writes s, including defaults, as LoadSwitch reads it.
func (s Switch) Marshal() []byte {
	s.Fill()
	return marshal(s)
}

// Marshal writes h, including defaults, as LoadHost reads it.
func (h Host) Marshal() []byte {
	h.Fill()
	return marshal(h)
}

func marshal(v any) []byte {
	b, err := yaml.MarshalWithOptions(v, yaml.IndentSequence(true))
	if err != nil { // the types hold only what YAML can express
		panic(fmt.Sprintf("config: %T as YAML: %v", v, err))
	}
	return b
}
