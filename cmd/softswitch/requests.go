package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/internal/control"
	"softswitch/internal/strictyaml"
	"softswitch/live"
	"softswitch/scenario/config"
	"softswitch/unit"
	"softswitch/view/metrics"
	"softswitch/view/observe"
)

// switchNode answers control requests about the switch of this process. The switch is
// held only while something is copied, and by one request at a time: however many
// clients ask, a frame waits for one copy at most.
type switchNode struct {
	sw      *dataplane.Switch
	journal *observe.Journal
	fixed   string // why the detector cannot be exchanged, "" if it can
	again   func(restart)

	one   sync.Mutex
	marks map[string]*observe.Mark // guarded by one: by what was cleared
	watch *watched                 // guarded by one: what a watchdog looks at; nil: all ports
}

func newSwitchNode(sw *dataplane.Switch, fixed string) *switchNode {
	var names []string
	for _, p := range sw.Config().Ports {
		names = append(names, p.Name)
	}
	return &switchNode{sw: sw, fixed: fixed, journal: observe.NewJournal(names), marks: map[string]*observe.Mark{}}
}

// switchRequests are what a switch can be asked.
var switchRequests = map[string]func(*switchNode, *live.Node, json.RawMessage) (any, error){
	"stats":       (*switchNode).stats,
	"sample":      (*switchNode).sample,
	"counters":    (*switchNode).counters,
	"setup":       (*switchNode).setup,
	"tables":      (*switchNode).tables,
	"labels":      (*switchNode).labels,
	"deadlocks":   (*switchNode).deadlocks,
	"clear":       (*switchNode).clear,
	"pfcwd":       (*switchNode).pfcwd,
	"pfcwd_start": (*switchNode).pfcwdStart,
	"pfcwd_stop":  (*switchNode).pfcwdStop,
	"restart":     (*switchNode).restart,
}

func (s *switchNode) handle(n *live.Node, req control.Request) (any, error) {
	do := switchRequests[req.Do]
	if do == nil {
		var names []string
		for name := range switchRequests {
			names = append(names, name)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("unknown request %q; valid: %s", req.Do, strings.Join(names, ", "))
	}
	s.one.Lock()
	defer s.one.Unlock()
	return do(s, n, req.Args)
}

// arguments reads a request's arguments into v.
func readArguments(args json.RawMessage, v any) error {
	if err := json.Unmarshal(args, v); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

// stats: what the logs of this moment and the snapshot tell is the same.
func (s *switchNode) stats(n *live.Node, _ json.RawMessage) (any, error) {
	n.Sync()
	return s.snapshot(n), nil
}

func (s *switchNode) snapshot(n *live.Node) (out observe.Switch) {
	var at unit.Time
	n.Do(func(now unit.Time) { at, out = now, observe.TakeSwitch(s.sw, n.Stats) })
	out.Live = liveStats(n)
	out.At = at
	return out
}

func (s *switchNode) sample(n *live.Node, _ json.RawMessage) (any, error) { return s.take(n), nil }

// take takes what metrics are made of. Preconditions: s.one is held.
func (s *switchNode) take(n *live.Node) observe.Sample {
	out := observe.Sample{Switch: s.snapshot(n), History: s.journal.History()}
	n.Do(func(unit.Time) { out.Watchdog = observe.TakeWatchdog(s.sw, s.watch.set(s.sw)) })
	return out
}

// metrics is the sample of this switch alone.
func (s *switchNode) metrics(n *live.Node) metrics.Sample {
	s.one.Lock()
	defer s.one.Unlock()
	return metrics.Sample{Switches: []observe.Sample{s.take(n)}}
}

// What counters and watermarks can be cleared.
const (
	clearPFC        = "pfc"
	clearQueue      = "queue"
	clearInterfaces = "interfaces"
	clearQueueMarks = "queue_watermark"
	clearGroupMarks = "priority_group_watermark"
)

// what is the argument of requests about counters.
type what struct {
	What string `json:"what"`
}

func (s *switchNode) counters(n *live.Node, args json.RawMessage) (any, error) {
	var w what
	if err := readArguments(args, &w); err != nil {
		return nil, err
	}
	return observe.Counters{Switch: s.snapshot(n), Cleared: s.marks[w.What]}, nil
}

// clear keeps a copy of counters, for everybody who looks at them, or starts watermarks
// anew.
func (s *switchNode) clear(n *live.Node, args json.RawMessage) (any, error) {
	var w what
	if err := readArguments(args, &w); err != nil {
		return nil, err
	}
	switch w.What {
	case clearPFC, clearQueue, clearInterfaces:
		s.marks[w.What] = &observe.Mark{Time: time.Now().Format(time.RFC3339), Switch: s.snapshot(n)}
	case clearGroupMarks:
		n.Do(func(unit.Time) { s.sw.MMU().ClearWatermarks() })
	case clearQueueMarks:
		n.Do(func(unit.Time) {
			for p := range s.sw.Ports() {
				for c := range unit.Priority(unit.Priorities) {
					s.sw.Queue(unit.Port(p), c).ClearWatermark()
				}
			}
		})
	default:
		return nil, fmt.Errorf("clear: %q; valid: %s", w.What, strings.Join([]string{clearPFC, clearQueue, clearInterfaces, clearQueueMarks, clearGroupMarks}, ", "))
	}
	return nil, nil
}

func (s *switchNode) setup(n *live.Node, _ json.RawMessage) (out any, _ error) {
	n.Do(func(unit.Time) { out = observe.TakeSetup(s.sw) })
	return out, nil
}

func (s *switchNode) tables(n *live.Node, _ json.RawMessage) (out any, _ error) {
	n.Do(func(now unit.Time) { out = observe.TakeTables(s.sw, now) })
	return out, nil
}

func (s *switchNode) labels(n *live.Node, _ json.RawMessage) (out any, _ error) {
	n.Do(func(unit.Time) { out = observe.TakeLabels(s.sw) })
	return out, nil
}

func (s *switchNode) deadlocks(n *live.Node, _ json.RawMessage) (any, error) {
	n.Sync()
	return s.journal.Deadlocks(), nil
}

// watched is a switch as a watchdog of some ports sees it: at the others nothing is
// ever paused, and no pause frame comes.
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

// set is the ports that w has, all of sw for nil.
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
	n.Do(func(unit.Time) { out = observe.TakeWatchdog(s.sw, s.watch.set(s.sw)) })
	return out, nil
}

// pfcwdSettings are those of `pfcwd start`. No ports are all ports.
type pfcwdSettings struct {
	Ports       []string  `json:"ports,omitempty"`
	Action      string    `json:"action"`
	Detection   unit.Time `json:"detection_ns"`
	Restoration unit.Time `json:"restoration_ns"`
}

// pfcwdPoll is the time between two looks of a watchdog, unless one of its times is
// shorter: SONiC's default.
const pfcwdPoll = 200 * unit.Millisecond

// config is the watchdog's own configuration.
func (p pfcwdSettings) config() (c watchdog.Config, err error) {
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

// pfcwdStart puts a watchdog into the switch, in place of the one that it has.
func (s *switchNode) pfcwdStart(n *live.Node, args json.RawMessage) (any, error) {
	var p pfcwdSettings
	if err := readArguments(args, &p); err != nil {
		return nil, err
	}
	cfg, err := p.config()
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

// pfcwdStop makes the watchdog watch some ports no more; with none left, or none given,
// it leaves the switch.
func (s *switchNode) pfcwdStop(n *live.Node, args json.RawMessage) (any, error) {
	var p pfcwdSettings
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

// releaseWatchdog ends what the switch's watchdog, if it has one, does about storms.
func (s *switchNode) releaseWatchdog() {
	if w, ok := s.sw.Detector().(*watchdog.Watchdog); ok {
		w.Release()
	}
}

// exchangeable says why a watchdog cannot be put into the switch, or taken out of it.
func (s *switchNode) exchangeable() error {
	if s.fixed != "" {
		return errors.New("pfcwd: " + s.fixed)
	}
	switch d := s.sw.Detector().(type) {
	case *watchdog.Watchdog, detect.None:
		return nil
	default:
		return fmt.Errorf("pfcwd: the switch runs detector %s, and a switch has one; run it with detector none or watchdog", d.Name())
	}
}

// portSet is the ports of these names; none, or the name "all", is all.
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
