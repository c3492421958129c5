package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/internal/strictyaml"
	"softswitch/live"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// watched is a switch as seen by a watchdog of some ports: the other ports never seem
// to be paused, and no pause frame arrives at them.
type watched struct {
	detect.View
	ports unit.PortSet
}

func (w *watched) Paused(q detect.Queue) bool { return w.ports.Has(q.Port) && w.View.Paused(q) }

func (w *watched) PausesSeen(q detect.Queue) uint64 {
	if !w.ports.Has(q.Port) {
		return 0
	}
	return w.View.PausesSeen(q)
}

// set returns the ports of w, all of sw's if w is nil.
func (w *watched) set(sw *dataplane.Switch) (ports unit.PortSet) {
	if w != nil {
		return w.ports
	}
	for p := range sw.Ports() {
		ports.Add(unit.Port(p))
	}
	return ports
}

func (s *switchNode) pfcwd(n *live.Node, _ json.RawMessage) (any, error) {
	var out *observe.Watchdog
	n.Do(func(unit.Time) { out = observe.TakeWatchdog(s.sw, s.watch.set(s.sw), s.storms) })
	return out, nil
}

// WatchdogArgs are the arguments of `pfcwd start`. An empty list of ports means all
// ports.
type WatchdogArgs struct {
	Ports       []string  `json:"ports,omitempty"`
	Action      string    `json:"action"`
	Detection   unit.Time `json:"detection_ns"`
	Restoration unit.Time `json:"restoration_ns"`
}

// SONiC's bounds of a watchdog's times, in milliseconds.
const (
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
		restoration = new(int)
		*restoration = 2 * ms
		fmt.Fprintf(out, "restoration time not defined; default to 2 times detection time: %d ms\n", *restoration)
	}
	if *restoration < detectionMin || *restoration > restorationMax {
		return p, fmt.Errorf("--restoration-time: %d; valid: %d to %d (ms)", *restoration, detectionMin, restorationMax)
	}
	p = WatchdogArgs{Ports: ports, Action: action, Detection: unit.Time(ms) * unit.Millisecond, Restoration: unit.Time(*restoration) * unit.Millisecond}
	_, err = p.Config()
	return p, err
}

// pfcwdPoll is the time between two looks of a watchdog, unless one of its times is
// shorter: SONiC's default.
const pfcwdPoll = 200 * unit.Millisecond

// Config is the configuration of the watchdog.
func (p WatchdogArgs) Config() (c watchdog.Config, err error) {
	if p.Detection <= 0 || p.Restoration <= 0 {
		return c, fmt.Errorf("pfcwd: detection time %s, restoration time %s; valid: above 0", config.FormatTime(p.Detection), config.FormatTime(p.Restoration))
	}
	for a := watchdog.Drop; a <= watchdog.Alert; a++ {
		if a.String() == p.Action {
			return watchdog.Config{Detection: p.Detection, Restoration: p.Restoration, Poll: min(pfcwdPoll, p.Detection, p.Restoration), Action: a}, nil
		}
	}
	return c, fmt.Errorf("pfcwd: action %q; valid: drop, forward, alert", p.Action)
}

// pfcwdStart installs a watchdog in the switch, replacing the one it has.
func (s *switchNode) pfcwdStart(n *live.Node, args json.RawMessage) (any, error) {
	var p WatchdogArgs
	if err := readArguments(args, &p); err != nil {
		return nil, err
	}
	cfg, err := p.Config()
	if err != nil {
		return nil, err
	}
	ports, err := s.portSet(p.Ports)
	if err != nil {
		return nil, err
	}
	if err := s.exchangeable(); err != nil {
		return nil, err
	}
	watch := &watched{ports: ports}
	n.Do(func(unit.Time) {
		s.releaseWatchdog()
		s.sw.Exchange(func(v detect.View, a detect.Actions) detect.Detector {
			watch.View = v
			return cfg.Factory()(watch, a)
		})
	})
	s.watch = watch
	return nil, nil
}

// pfcwdStop stops watching some ports; when none is left, or none is given, it removes
// the watchdog from the switch.
func (s *switchNode) pfcwdStop(n *live.Node, args json.RawMessage) (any, error) {
	var p WatchdogArgs
	if err := readArguments(args, &p); err != nil {
		return nil, err
	}
	ports, err := s.portSet(p.Ports)
	if err != nil {
		return nil, err
	}
	if err := s.exchangeable(); err != nil {
		return nil, err
	}
	rest := s.watch.set(s.sw) &^ ports
	switch {
	case rest == 0:
	case s.watch == nil:
		return nil, errors.New("pfcwd: the watchdog of the switch's configuration watches all ports; stop it as a whole, or start one for some ports")
	default:
		n.Do(func(unit.Time) { s.watch.ports = rest })
		return nil, nil
	}
	n.Do(func(unit.Time) {
		s.releaseWatchdog()
		s.sw.Exchange(detect.NewNone)
		s.watch = nil
	})
	return nil, nil
}

// releaseWatchdog ends the actions of the switch's watchdog, if it has one, against
// storms, and keeps its counters: as in SONiC, they outlive it.
func (s *switchNode) releaseWatchdog() {
	if w, ok := s.sw.Detector().(*watchdog.Watchdog); ok {
		w.Release()
		s.storms.Keep(s.sw)
	}
}

// exchangeable returns why a watchdog cannot be installed in the switch or removed from
// it.
func (s *switchNode) exchangeable() error {
	if s.fixed != "" {
		return errors.New("pfcwd: " + s.fixed)
	}
	switch d := s.sw.Detector().(type) {
	case *watchdog.Watchdog, detect.None:
		return nil
	default:
		return fmt.Errorf("pfcwd: the switch runs detector %s, and a switch has one; give lab deploy, lab run or run the flag --detector none", d.Name())
	}
}

// portSet is the set of these ports; an empty list, or the name "all", means all.
func (s *switchNode) portSet(names []string) (set unit.PortSet, err error) {
	if len(names) == 0 || slices.Contains(names, "all") {
		return (*watched)(nil).set(s.sw), nil
	}
	var all []string
	for _, p := range s.sw.Config().Ports {
		all = append(all, p.Name)
	}
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return 0, fmt.Errorf("no port %q%s; there is: %s", name, strictyaml.DidYouMean(name, all), strings.Join(all, ", "))
		}
		set.Add(unit.Port(i))
	}
	return set, nil
}
