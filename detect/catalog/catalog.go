package catalog

import (
	"fmt"
	"strings"

	"softswitch/detect"
	"softswitch/detect/deadlockbreaker"
	"softswitch/detect/itsy"
	"softswitch/detect/itsypaper"
	"softswitch/detect/loopbreaker"
	"softswitch/detect/watchdog"
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
	// Acts: it breaks by itself what it finds, so that no response is combined with it.
	Acts bool
}

// Detectors are all detectors, in the order in which they are offered, as a new slice.
func Detectors() []Detector {
	return []Detector{
		{Name: None, About: "PFC alone", New: detect.NewNone},
		{Name: itsypaper.Name, About: "ITSY as its paper has it: detects, and does nothing else", New: itsypaper.New},
		{Name: itsy.Name, About: "ITSY with an exact verification: detects, and does nothing else", New: itsy.New},
		{Name: itsy.NameUnchecked, About: "itsy without the check of what a label proves", New: itsy.NewUnchecked},
		{Name: watchdog.Name, About: "SONiC's PFC watchdog, action drop", New: watchdog.New, Acts: true},
		{Name: watchdog.NameForward, About: "SONiC's PFC watchdog, action forward", New: watchdog.NewForward, Acts: true},
		{Name: watchdog.NameAlert, About: "SONiC's PFC watchdog, action alert: detects, and does nothing else", New: watchdog.NewAlert, Acts: true},
		{Name: loopbreaker.Name, About: "Shpiner et al.: finds the loop, reroutes its flows", New: loopbreaker.New, Acts: true},
		{Name: deadlockbreaker.Name, About: "Shpiner et al.: finds the loop, lends buffer to it for a while", New: deadlockbreaker.New, Acts: true},
	}
}

// Names are the names of all detectors, the valid values of the key "detector".
func Names() []string {
	var names []string
	for _, d := range Detectors() {
		names = append(names, d.Name)
	}
	return names
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

// Factories are the factories of all detectors by name, as a new map.
func Factories() map[string]detect.Factory {
	all := map[string]detect.Factory{}
	for _, d := range Detectors() {
		all[d.Name] = d.New
	}
	return all
}
