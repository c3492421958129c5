package ui

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"softswitch/event/follow"
	"softswitch/internal/control"
	"softswitch/internal/lists"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/oracle"
	"softswitch/unit"
)

const (
	// interval is the time between two states of a lab.
	interval = 200 * time.Millisecond
	// patience is how long a switch may take to answer before the next one is asked; its
	// answer is taken when it comes.
	patience = 20 * time.Millisecond
)

// Lab follows a lab of this machine for as long as it is there, and the next one of its
// name.
type Lab struct {
	name    string
	choices Choices
	stream  *Stream
	orders  func(*netnslab.State) Orders // nil: nothing can be ordered
	acting  sync.Mutex                   // held while an order is carried out
	acted   chan struct{}                // one slot: an order was carried out, and is to be seen at once

	mu      sync.Mutex
	view    *view      // of the lab that is up; nil for none
	token   string     // of the last lab
	origin  unit.Time  // when it was seen first
	end     unit.Time  // no look goes beyond it; unit.Never for none
	looking sync.Mutex // held while the lab is looked at
}

// NewLab is a Lab that tells its states to stream. choices are what its switches can be
// restarted with, orders is the door to a lab that is up.
func NewLab(name string, choices Choices, stream *Stream, orders func(*netnslab.State) Orders) *Lab {
	return &Lab{name: name, choices: choices, stream: stream, orders: orders, end: unit.Never, acted: make(chan struct{}, 1)}
}

// until says that no look is to go beyond a time: the end of a run, whose recording is to hold
// nothing of what came after it; unit.Never for none.
func (l *Lab) until(end unit.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = end
}

// present is up to when the lab may be looked at.
func (l *Lab) present() unit.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return min(timer.Now(), l.end)
}

// Run follows the lab until ctx ends. While no page is open it rests.
func (l *Lab) Run(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if l.stream.Watched() {
			l.look(ctx)
		}
		select {
		case <-tick.C:
		case <-l.acted:
		case <-ctx.Done():
			return
		}
	}
}

// judged looks at the lab once more, as it was at the end of the run, and tells what became of that.
func (l *Lab) judged(text string) { l.look(context.Background(), Entry{Kind: "verdict", Text: text}) }

// look publishes the state of now, with these entries, or says why there is none.
func (l *Lab) look(ctx context.Context, also ...Entry) {
	l.looking.Lock()
	defer l.looking.Unlock()
	v, err := l.attached()
	if err == nil {
		v.also = also
		err = v.look(ctx, l.present(), l.stream.Publish)
	}
	if err != nil {
		l.stream.Gone(err.Error())
	}
}

// attached is the view of the lab that is up now.
func (l *Lab) attached() (*view, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	made, err := l.made()
	if err != nil {
		l.leave()
		return nil, err
	}
	if l.view != nil && l.view.made.Equal(made) {
		return l.view, nil
	}
	l.leave()
	st, w, err := l.load()
	if err != nil {
		return nil, err
	}
	v := newView(st, w, l.origin)
	v.made = made
	l.view = v
	l.stream.Begin(l.topology(v))
	return v, nil
}

// known is the lab that is up now, whether it is looked at or not.
func (l *Lab) known() (*netnslab.State, *wiring, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	made, err := l.made()
	switch {
	case err != nil:
		return nil, nil, err
	case l.view != nil && l.view.made.Equal(made):
		return l.view.st, l.view.w, nil
	}
	return l.load()
}

// made is when the state file of the lab was written.
func (l *Lab) made() (at time.Time, err error) {
	info, err := os.Stat(filepath.Join(netnslab.Dir(l.name), "state.json"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, fmt.Errorf("lab %s is not up", l.name)
	case err != nil:
		return at, fmt.Errorf("lab %s: %w", l.name, err)
	}
	return info.ModTime(), nil
}

// load reads the lab. Preconditions: l.mu is held.
func (l *Lab) load() (*netnslab.State, *wiring, error) {
	st, err := netnslab.Load(l.name)
	if err != nil {
		return nil, nil, err
	}
	if !st.Complete {
		return nil, nil, fmt.Errorf("lab %s is being built", l.name)
	}
	if l.token != st.Token {
		l.token, l.origin = st.Token, timer.Now()
	}
	w, err := readWiring(st)
	return st, w, err
}

// leave forgets the lab that was up. Preconditions: l.mu is held.
func (l *Lab) leave() {
	if l.view == nil {
		return
	}
	for _, t := range l.view.logs {
		t.Close()
	}
	l.view = nil
}

func (l *Lab) topology(v *view) Topology {
	t := Topology{
		Title: "lab " + l.name, World: "live", Interval: float64(interval.Milliseconds()), Layout: v.w.layOut(),
		Nodes: v.w.nodes, Links: v.w.links, Ends: v.w.ends(), LAGs: v.w.lags, Choices: &l.choices,
	}
	if len(v.w.switches) > 0 {
		t.Detector, t.Response = v.w.switches[0].Detector, v.w.switches[0].Response
	}
	return t
}

// view is what is known of one lab: its wiring, its model and how far its logs were read.
type view struct {
	st      *netnslab.State
	made    time.Time // of its state file
	w       *wiring
	model   *model
	truth   *oracle.State
	logs    []*logTail  // by node
	starter int         // the first host that sends, of the hosts; -1 for none
	asked   []bool      // by node: an answer is outstanding
	gone    []bool      // by node: its last question was not answered
	whole   []unit.Time // by node: its log is whole up to then, 0 before its first answer
	upTo    unit.Time   // of the last state: time does not go back
	reply   chan reply
	came    []reply // answers that the model has not taken yet
	also    []Entry // to tell with the next state
	shown   *slowMotion
	// impatience is how long logs are read before the page is told how far.
	impatience unit.Time
}

type reply struct {
	node      int
	asked, at unit.Time
	// One of the two is the answer.
	snap *observe.Switch
	host *observe.Host
	err  error
}

// readWiring reads the nodes' configurations.
func readWiring(st *netnslab.State) (*wiring, error) {
	var switches []config.Switch
	var hosts []config.Host
	for _, n := range st.Nodes {
		path := filepath.Join(n.Dir, "config.yaml")
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("lab %s: %w", st.Name, err)
		}
		if n.Kind == "switch" {
			s, _, err := config.LoadSwitch(path, data)
			if err != nil {
				return nil, err
			}
			switches = append(switches, s)
			continue
		}
		h, err := config.LoadHost(path, data)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	wires := lists.Map(st.Links, func(l netnslab.LinkState) wire { return wire{l.A.Node, l.A.Iface, l.B.Node, l.B.Iface} })
	return newWiring(switches, hosts, wires)
}

// newView is a view of which nothing is read yet. States count their time from origin.
func newView(st *netnslab.State, w *wiring, origin unit.Time) *view {
	v := &view{st: st, w: w, truth: oracle.NewState(w.fabric), shown: newSlowMotion(w, origin), reply: make(chan reply, len(w.nodes)), impatience: unit.Second}
	v.starter = slices.IndexFunc(w.hosts, func(h config.Host) bool { return len(h.Flows) > 0 })
	v.model = v.shown.m
	v.asked, v.gone, v.whole = make([]bool, len(w.nodes)), make([]bool, len(w.nodes)), make([]unit.Time, len(w.nodes))
	v.upTo = origin
	for i, n := range w.nodes {
		v.logs = append(v.logs, &logTail{Log: follow.Open(filepath.Join(netnslab.Dir(st.Name), n.Name, "events.jsonl")), id: w.ids[i]})
	}
	return v
}

// look asks the nodes, reads the logs up to a time, or as far as they are whole, and publishes the
// state there, and before it those of the instants since the last one that matter.
func (v *view) look(ctx context.Context, to unit.Time, publish func(State)) error {
	v.ask()
	if len(v.also) == 0 { // or the run is over, and has collected the logs
		to = v.wholeUpTo(to)
	}
	v.upTo = to
	v.shown.begin()
	err := v.catchUp(ctx, to, publish)
	if err != nil {
		v.model.problem = err.Error()
	}
	v.shown.rest(v.truth.Stuck(), publish)
	v.count()
	for _, e := range v.also {
		v.model.tell(to, e.Kind, "%s", e.Text)
	}
	publish(v.state(to))
	return nil
}

// state is the state at a time, with the consoles of now.
func (v *view) state(at unit.Time) State {
	s := v.model.state(at)
	s.Consoles = v.consoles()
	return s
}

// catchUp reads the logs up to now, or until ctx ends. Those of a lab that has run for long come in
// pieces, and meanwhile the state at which it is reading is published from time to time.
func (v *view) catchUp(ctx context.Context, now unit.Time, publish func(State)) error {
	told := timer.Now()
	for {
		entries, more, err := v.read(now)
		v.apply(entries, publish)
		if !more || err != nil || ctx.Err() != nil {
			return err
		}
		if t := timer.Now(); t-told >= v.impatience {
			told = t
			v.shown.rest(v.truth.Stuck(), publish)
			st := v.state(v.model.now)
			st.Problem = fmt.Sprintf("the logs are being read: this was %s ago", span(now-v.model.now))
			publish(st)
		}
	}
}

// ask asks every switch that owes no answer for its counters, and the hosts that have
// connections. A switch passes its events on before it answers, so its log is whole up to the
// question.
func (v *view) ask() {
	v.takeAnswers()
	for i := range v.w.nodes {
		if v.asked[i] || !v.tells(i) {
			continue
		}
		v.asked[i] = true
		go v.call(i, filepath.Join(netnslab.Dir(v.st.Name), v.w.nodes[i].Name, "control.sock"))
		v.await(i)
	}
	for i := range v.asked {
		if v.asked[i] {
			v.model.silent[i] = true
		}
	}
}

// wholeUpTo is up to when all logs are whole, now if no answer is outstanding. A node that has left a
// question unanswered is not waited for.
func (v *view) wholeUpTo(now unit.Time) unit.Time {
	for i, asked := range v.asked {
		if asked && !v.gone[i] {
			now = min(now, v.whole[i])
		}
	}
	return max(now, v.upTo)
}

// tells reports whether a node is asked: the first host that sends, for when it started, and nodes whose
// counters are shown: those of hosts with connections, and of all where
// frames were dropped on purpose, since what arrived of their flows is shown beside that.
func (v *view) tells(node int) bool {
	k := node - len(v.w.switches)
	return k < 0 || k == v.starter || v.model.hasDropped() || slices.ContainsFunc(v.w.hosts[k].Flows, func(f config.Flow) bool { return f.Transport == "rc" })
}

// unanswered is when a question is given up: a node that is stopped answers none, and each view
// asks again.
const unanswered = 2 * time.Second

func (v *view) call(node int, path string) {
	r := reply{node: node, asked: timer.Now()}
	at := control.Endpoint{Path: path}
	if node < len(v.w.switches) {
		now, err := client.StatsWithin[observe.Switch](unanswered, at)
		r.snap, r.err = &now, err
	} else {
		now, err := client.StatsWithin[observe.Host](unanswered, at)
		r.host, r.err = &now, err
	}
	r.at = timer.Now()
	v.reply <- r
}

// await takes answers until that of a node has come, or its time is over.
func (v *view) await(node int) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for v.asked[node] {
		select {
		case r := <-v.reply:
			v.answered(r)
		case <-late.C:
			return
		}
	}
}

// takeAnswers takes those that came since the last look.
func (v *view) takeAnswers() {
	for {
		select {
		case r := <-v.reply:
			v.answered(r)
		default:
			return
		}
	}
}

func (v *view) answered(r reply) {
	v.asked[r.node] = false
	v.gone[r.node] = r.err != nil
	v.model.silent[r.node] = r.err != nil
	if r.err == nil {
		v.whole[r.node] = r.asked
	}
	v.came = append(v.came, r)
}

// count takes the answers that came: what they say holds after the events that were read.
func (v *view) count() {
	for _, r := range v.came {
		switch {
		case r.err != nil:
		case r.host != nil:
			v.model.sent(r.node, r.host)
		default:
			v.model.count(r.node, r.at, r.snap)
			if lost, name := r.snap.EventsLost, v.w.nodes[r.node].Name; lost > 0 { // and the truth is in doubt
				v.model.problem = fmt.Sprintf("%s lost %s of its log: the truth may be wrong", name, unit.Count(lost, "event"))
			}
		}
	}
	v.came = v.came[:0]
}

// apply passes events on, in their order, and publishes the states of the instants that
// matter.
func (v *view) apply(entries []oracle.Entry, publish func(State)) {
	for _, e := range entries {
		// The log of a node that froze may come late; its events count as of now.
		e.At = max(e.At, v.shown.now)
		if e.At > v.shown.now {
			v.shown.end(v.truth.Stuck(), publish)
		}
		if e.Type == beganAnew {
			v.truth.ForgetNode(e.Node)
		} else if err := v.truth.Apply(e); err != nil {
			v.model.problem = err.Error()
			continue
		}
		v.shown.add(e, v.truth)
	}
}
