package client

import (
	"fmt"
	"io"
	"strconv"

	"softswitch/detect/watchdog"
	"softswitch/unit"
)

// WatchdogArgs are the arguments of `pfcwd start`. An empty list of ports means all
// ports.
type WatchdogArgs struct {
	Ports       []string  `json:"ports,omitempty"`
	Action      string    `json:"action"`
	Detection   unit.Time `json:"detection_ns"`
	Restoration unit.Time `json:"restoration_ns"`
	// Default is SONiC's default watchdog, by the number of ports, instead of these.
	Default bool `json:"default,omitempty"`
}

// WatchdogSettings are what changes of a watchdog that runs; nil stays.
type WatchdogSettings struct {
	Poll    *unit.Time `json:"poll_ns,omitempty"`
	Polling *bool      `json:"counter_poll,omitempty"`
	BigRed  *bool      `json:"big_red_switch,omitempty"`
}

// SONiC's bounds of a watchdog's times, in milliseconds.
const (
	pollMin        = 100
	pollMax        = 1000
	detectionMin   = 100
	detectionMax   = 5000
	restorationMax = 60000
)

// NewWatchdogArgs takes the times in milliseconds, detection as the user wrote it. A
// nil restoration means twice the detection time, and a note of that on out.
func NewWatchdogArgs(ports []string, action, detection string, restoration *int, out io.Writer) (p WatchdogArgs, err error) {
	ms, err := strconv.Atoi(detection)
	if err != nil || ms < detectionMin || ms > detectionMax {
		return p, fmt.Errorf("detection time %q; valid: %d to %d (ms), as the last argument", detection, detectionMin, detectionMax)
	}
	if restoration == nil {
		restoration = new(2 * ms)
		fmt.Fprintf(out, "restoration time not defined; default to 2 times detection time: %d ms\n", *restoration)
	}
	if *restoration < detectionMin || *restoration > restorationMax {
		return p, fmt.Errorf("--restoration-time: %d; valid: %d to %d (ms)", *restoration, detectionMin, restorationMax)
	}
	p = WatchdogArgs{Ports: ports, Action: action, Detection: unit.Time(ms) * unit.Millisecond, Restoration: unit.Time(*restoration) * unit.Millisecond}
	_, err = p.Config()
	return p, err
}

// NewPollInterval takes the time between two polls in milliseconds, as the user wrote it.
func NewPollInterval(text string) (WatchdogSettings, error) {
	ms, err := strconv.Atoi(text)
	if err != nil || ms < pollMin || ms > pollMax {
		return WatchdogSettings{}, fmt.Errorf("polling interval %q; valid: %d to %d (ms)", text, pollMin, pollMax)
	}
	return WatchdogSettings{Poll: new(unit.Time(ms) * unit.Millisecond)}, nil
}

// pfcwdPoll is the time between two looks of a watchdog, unless one of its times is
// shorter: SONiC's default.
const pfcwdPoll = 200 * unit.Millisecond

// Config is the configuration of the watchdog.
func (p WatchdogArgs) Config() (c watchdog.Config, err error) {
	if p.Default {
		return watchdog.Default(), nil
	}
	if p.Detection <= 0 || p.Restoration <= 0 {
		return c, fmt.Errorf("pfcwd: detection time %s, restoration time %s; valid: above 0", p.Detection, p.Restoration)
	}
	for a := watchdog.Drop; a <= watchdog.Alert; a++ {
		if a.String() == p.Action {
			return watchdog.Config{Detection: p.Detection, Restoration: p.Restoration, Poll: min(pfcwdPoll, p.Detection, p.Restoration), Action: a, Given: true}, nil
		}
	}
	return c, fmt.Errorf("pfcwd: action %q; valid: drop, forward, alert", p.Action)
}
