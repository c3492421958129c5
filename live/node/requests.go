package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"softswitch/dataplane"
	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/internal/version"
	"softswitch/link"
	"softswitch/link/auth"
	"softswitch/live"
	"softswitch/node/client"
	"softswitch/node/metrics"
	"softswitch/node/observe"
	"softswitch/unit"
)

// switchNode answers control requests about the switch of this process. The switch is
// held only while something is copied, and by one request at a time: however many
// clients ask, a frame waits for one copy at most.
type switchNode struct {
	sw       *dataplane.Switch
	journal  *observe.Journal
	fixed    string // why the detector cannot be replaced, "" if it can
	response string
	again    func(restart)
	loadKeys func() (auth.Keys, error)

	end   keeper[observe.Switch]
	files *files

	one    sync.Mutex
	marks  map[string]*observe.Mark // guarded by one: by what was cleared
	watch  *watched                 // guarded by one: the ports that a watchdog watches; nil: all
	storms observe.Storms           // guarded by one: of watchdogs that were stopped
	poll   unit.Time                // guarded by one: of watchdogs that will be started; 0: the default
}

func newSwitchNode(sw *dataplane.Switch, fixed string) *switchNode {
	names := lists.Map(sw.Config().Ports, func(p dataplane.PortConfig) string { return p.Name })
	return &switchNode{sw: sw, fixed: fixed, journal: observe.NewJournal(names), files: &files{}, marks: map[string]*observe.Mark{}, storms: observe.Storms{}}
}

// changes are the requests, of all kinds of node, that change something.
var changes = []string{"act", "clear", "forge", "impair", "keep", "keys", "lose", "pfcwd_set", "pfcwd_start", "pfcwd_stop", "response", "restart", "start", "stop", "storm_budget", "tape"}

// checkMethod rejects GET for requests that change something: a client may repeat or
// prefetch a GET.
func checkMethod(req control.Request) error {
	if req.Get && slices.Contains(changes, req.Do) {
		return &control.Refusal{Status: http.StatusMethodNotAllowed, Text: req.Do + " changes the node: want POST, not GET"}
	}
	return nil
}

// answerer answers a request to a switch.
type answerer func(*switchNode, *live.Node, json.RawMessage) (any, error)

// switchRequests are the requests that a switch answers.
var switchRequests = map[string]answerer{
	"keep":         (*switchNode).keep,
	"stats":        (*switchNode).stats,
	"sample":       (*switchNode).sample,
	"counters":     with((*switchNode).counters),
	"setup":        look(func(s *switchNode, _ unit.Time) any { return observe.TakeSetup(s.sw) }),
	"tables":       look(func(s *switchNode, now unit.Time) any { return observe.TakeTables(s.sw, now) }),
	"labels":       look(func(s *switchNode, _ unit.Time) any { return observe.TakeLabels(s.sw) }),
	"deadlocks":    (*switchNode).deadlocks,
	"clear":        with((*switchNode).clear),
	"pfcwd":        look(func(s *switchNode, _ unit.Time) any { return s.watchdog() }),
	"pfcwd_set":    with((*switchNode).pfcwdSet),
	"pfcwd_start":  with((*switchNode).pfcwdStart),
	"pfcwd_stop":   with((*switchNode).pfcwdStop),
	"response":     with((*switchNode).respond),
	"storm_budget": with((*switchNode).boundStorms),
	"restart":      (*switchNode).restart,
	"keys":         (*switchNode).keys,
}

func (s *switchNode) handle(n *live.Node, req control.Request) (any, error) {
	do := switchRequests[req.Do]
	if do == nil {
		return nil, unknown(req.Do, slices.Collect(maps.Keys(switchRequests))...)
	}
	s.one.Lock()
	defer s.one.Unlock()
	return do(s, n, req.Args)
}

// look answers with what take finds while nothing changes.
func look(take func(*switchNode, unit.Time) any) answerer {
	return func(s *switchNode, n *live.Node, _ json.RawMessage) (out any, _ error) {
		n.Do(func(now unit.Time) { out = take(s, now) })
		return out, nil
	}
}

// with answers a request whose arguments are an A.
func with[A any](answer func(*switchNode, *live.Node, A) (any, error)) answerer {
	return func(s *switchNode, n *live.Node, args json.RawMessage) (any, error) {
		var a A
		if err := readArguments(args, &a); err != nil {
			return nil, err
		}
		return answer(s, n, a)
	}
}

// readArguments decodes a request's arguments into v.
func readArguments(args json.RawMessage, v any) error {
	if err := json.Unmarshal(args, v); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	return nil
}

// keep and stats use the keeper.
func (s *switchNode) keep(n *live.Node, args json.RawMessage) (any, error) {
	return nil, s.end.keep(n, args, func() observe.Switch { return s.look(nil) })
}

func (s *switchNode) stats(n *live.Node, args json.RawMessage) (any, error) {
	return s.end.stats(n, args, func() observe.Switch { return s.snapshot(n) }, func(out *observe.Switch, at unit.Time) {
		for p, links := range n.AllStats() {
			out.Ports[p].Link = links
		}
		s.files.flush()
		out.Live = s.files.live(n, at)
	})
}

// look copies what there is to see of the switch, which stands still.
func (s *switchNode) look(links []link.Stats) observe.Switch {
	out := observe.TakeSwitch(s.sw, links)
	out.Response = s.response
	return out
}

func (s *switchNode) snapshot(n *live.Node) (out observe.Switch) {
	var at unit.Time
	links := n.AllStats()
	n.Do(func(now unit.Time) { at, out = now, s.look(links) })
	out.Live = s.files.live(n, at)
	return out
}

func (s *switchNode) sample(n *live.Node, _ json.RawMessage) (any, error) { return s.take(n), nil }

// take copies what metrics are computed from. Preconditions: s.one is held.
func (s *switchNode) take(n *live.Node) observe.Sample {
	out := observe.Sample{Switch: s.snapshot(n), Version: version.Text(), History: s.journal.History()}
	n.Do(func(unit.Time) { out.Watchdog = s.watchdog() })
	return out
}

// metrics is a sample of this switch only.
func (s *switchNode) metrics(n *live.Node) metrics.Sample {
	s.one.Lock()
	defer s.one.Unlock()
	return metrics.Sample{Switches: []observe.Sample{s.take(n)}}
}

func (s *switchNode) counters(n *live.Node, w client.CounterArgs) (any, error) {
	return observe.Counters{Switch: s.snapshot(n), Cleared: s.marks[w.What]}, nil
}

// clear notes the present value of counters as the new zero, for all clients, or
// restarts watermarks.
func (s *switchNode) clear(n *live.Node, w client.CounterArgs) (any, error) {
	switch w.What {
	case client.ClearPFC, client.ClearQueue, client.ClearInterfaces:
		s.marks[w.What] = &observe.Mark{Time: time.Now().Format(time.RFC3339), Switch: s.snapshot(n)}
	case client.ClearGroupMarks:
		n.Do(func(unit.Time) { s.sw.MMU().ClearWatermarks() })
	case client.ClearQueueMarks:
		n.Do(func(unit.Time) {
			for p := range s.sw.Ports() {
				for c := range unit.Priority(unit.Priorities) {
					s.sw.Queue(unit.Port(p), c).ClearWatermark()
				}
			}
		})
	default:
		return nil, fmt.Errorf("clear: %q; valid: %s", w.What, strings.Join([]string{client.ClearPFC, client.ClearQueue, client.ClearInterfaces, client.ClearQueueMarks, client.ClearGroupMarks}, ", "))
	}
	return nil, nil
}

func (s *switchNode) deadlocks(n *live.Node, _ json.RawMessage) (any, error) {
	n.Sync()
	return s.journal.Deadlocks(), nil
}
