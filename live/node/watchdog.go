package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/live"
	"softswitch/node/client"
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

// watchdog is the switch's watchdog, nil if it has none. Preconditions: the node's lock is held.
func (s *switchNode) watchdog() *observe.Watchdog {
	return observe.TakeWatchdog(s.sw, s.watch.set(s.sw), s.storms)
}

// pfcwdStart installs a watchdog in the switch, replacing the one it has.
func (s *switchNode) pfcwdStart(n *live.Node, p client.WatchdogArgs) (any, error) {
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
	if s.poll > 0 {
		cfg.Poll = min(s.poll, cfg.Detection, cfg.Restoration)
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

// pfcwdSet changes the watchdog that runs. Its polling interval is that of later ones too.
func (s *switchNode) pfcwdSet(n *live.Node, p client.WatchdogSettings) (_ any, err error) {
	w, ok := s.sw.Detector().(*watchdog.Watchdog)
	if !ok {
		return nil, errors.New("pfcwd: no watchdog runs; start one with pfcwd start or start_default")
	}
	n.Do(func(unit.Time) {
		if p.Poll != nil {
			if err = w.SetPoll(*p.Poll); err != nil {
				return
			}
			s.poll = *p.Poll
		}
		if p.Polling != nil {
			w.SetPolling(*p.Polling)
		}
		if p.BigRed != nil {
			w.SetBigRed(*p.BigRed, s.watch.set(s.sw))
		}
	})
	return nil, err
}

// pfcwdStop stops watching some ports; when none is left, or none is given, it removes
// the watchdog from the switch.
func (s *switchNode) pfcwdStop(n *live.Node, p client.WatchdogArgs) (any, error) {
	ports, err := s.portSet(p.Ports)
	if err != nil {
		return nil, err
	}
	if err := s.exchangeable(); err != nil {
		return nil, err
	}
	rest := s.watch.set(s.sw).Without(ports)
	switch {
	case rest.Empty():
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
	all := lists.Map(s.sw.Config().Ports, func(p dataplane.PortConfig) string { return p.Name })
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return unit.PortSet{}, fmt.Errorf("no port %q%s; there is: %s", name, strictyaml.DidYouMean(name, all), strings.Join(all, ", "))
		}
		set.Add(unit.Port(i))
	}
	return set, nil
}
