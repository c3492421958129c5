package catalog

import (
	"fmt"
	"strings"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/detect/itsypaper"
	"softswitch/detect/respond"
	"softswitch/detect/shpiner"
	"softswitch/detect/watchdog"
	"softswitch/internal/lists"
	"softswitch/unit"
)

// None is the name of no detector, and of no response.
const None = "none"

// Default is the detector of a scenario that names none.
const Default = itsy.Name

// Detector is a detector that a switch can run.
type Detector struct {
	Name  string
	About string // what it is, in a line
	New   detect.Factory
	// NamesLoops: it says which queue and which priority group are on the loop, so that every
	// response can be combined with it.
	NamesLoops bool
	// Variant: it is there to be studied beside another, and is compared when it is named.
	Variant bool
	// MaxNode is the highest number, and MaxPorts the most ports, of a switch that it runs on; 0 is any.
	MaxNode  unit.NodeID
	MaxPorts int
}

// Detectors are all detectors, in the order in which they are offered, as a new slice.
func Detectors() []Detector {
	return []Detector{
		{Name: None, About: "PFC alone", New: detect.NewNone},
		{Name: itsypaper.Name, About: "ITSY as its paper has it: detects, and does nothing else", New: itsypaper.New, NamesLoops: true, MaxNode: itsypaper.MaxNode, MaxPorts: itsypaper.MaxPorts},
		{Name: itsy.Name, About: "ITSY with an exact verification: detects, and does nothing else", New: itsy.New, NamesLoops: true},
		{Name: itsy.NameUnchecked, About: "ITSY without the check of what a label proves: detects, and does nothing else", New: itsy.NewUnchecked, NamesLoops: true, Variant: true},
		{Name: watchdog.Name, About: "SONiC's PFC watchdog, action drop", New: watchdog.New},
		{Name: watchdog.NameForward, About: "SONiC's PFC watchdog, action forward", New: watchdog.NewForward},
		{Name: watchdog.NameAlert, About: "SONiC's PFC watchdog, action alert: detects, and does nothing else", New: watchdog.NewAlert, Variant: true},
		{Name: watchdog.NameBroadcom, About: "SONiC's PFC watchdog by the script for Broadcom's chips: looks at pauses alone", New: watchdog.NewBroadcom, Variant: true},
		{Name: watchdog.NameMellanox, About: "SONiC's PFC watchdog by the script for Mellanox's chips, since May 2024", New: watchdog.NewMellanox, Variant: true},
		{Name: watchdog.NameMellanox2023, About: "SONiC's PFC watchdog by the script for Mellanox's chips before May 2024: an empty queue too", New: watchdog.NewMellanox2023, Variant: true},
		{Name: watchdog.NameJuniper, About: "the PFC watchdog of Juniper's Junos: empties the queue, for a fixed time", New: watchdog.NewJuniper},
		{Name: watchdog.DLDRName, About: "SAI's PFC deadlock detection and recovery in hardware: a timer for each paused queue", New: watchdog.NewDLDR},
		{Name: shpiner.LoopBreakerName, About: "Shpiner et al.: finds the loop, reroutes its flows", New: shpiner.NewLoopBreaker},
		{Name: shpiner.DeadlockBreakerName, About: "Shpiner et al.: finds the loop, lends buffer to it for a while", New: shpiner.NewDeadlockBreaker},
	}
}

// Names are the names of all detectors, the valid values of the key "detector".
func Names() []string {
	return lists.Map(Detectors(), func(d Detector) string { return d.Name })
}

// Named is the detector of this name. The error lists the valid ones; where says where
// the name stands.
func Named(where, name string) (Detector, error) {
	for _, d := range Detectors() {
		if d.Name == name {
			return d, nil
		}
	}
	return Detector{}, fmt.Errorf("%s: %q is no detector; valid: %s", where, name, strings.Join(Names(), ", "))
}

// bound is the bound of d that a switch of this number with so many ports is beyond, "" if none. It has a place for the
// switch's name.
func (d *Detector) bound(id unit.NodeID, ports int) string {
	switch {
	case d.MaxPorts > 0 && ports > d.MaxPorts:
		return fmt.Sprintf("of at most %d ports, and %%s has %d", d.MaxPorts, ports)
	case d.MaxNode > 0 && id > d.MaxNode:
		return fmt.Sprintf("with numbers of at most %d, and %%s has %d", d.MaxNode, id)
	}
	return ""
}

// Fits is an error if the detector of this name does not run on the switch called sw, of this number and with so many
// ports; it lists those that do. A name of none fits.
func Fits(name, sw string, id unit.NodeID, ports int) error {
	for _, d := range Detectors() {
		if bound := d.bound(id, ports); d.Name == name && bound != "" {
			fit := lists.Where(Detectors(), func(d Detector) bool { return d.bound(id, ports) == "" })
			return fmt.Errorf("%q takes switches %s; use %s", name, fmt.Sprintf(bound, sw), strings.Join(lists.Map(fit, func(d Detector) string { return d.Name }), ", "))
		}
	}
	return nil
}

// Factories are the factories of all detectors by name, as a new map.
func Factories() map[string]detect.Factory {
	all := map[string]detect.Factory{}
	for _, d := range Detectors() {
		all[d.Name] = d.New
	}
	return all
}

// Responses are all responses, in the order in which they are offered, as a new slice.
func Responses() []respond.Choice { return respond.Choices() }
