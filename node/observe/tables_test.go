package observe

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

// router is a switch of two ports with a subnet, two routes and a neighbour.
func router(t *testing.T, d detect.Factory) *dataplane.Switch {
	t.Helper()
	c := dataplane.Defaults()
	c.ID, c.Name, c.Refresh, c.Detector = 7, "s7", unit.Millisecond, d
	c.Ports = []dataplane.PortConfig{{Name: "a", MAC: 0x020000000001, FacesHost: true}, {Name: "b", MAC: 0x020000000002, Rate: 100_000_000, Scheduler: dataplane.Scheduler{Strict: 1 << 6, Weights: [8]uint8{3: 40}}, Classes: &dataplane.Classes{TrustPCP: true}}}
	c.MAC = []dataplane.Station{{MAC: 0x02aa00000001, Port: 0}}
	prefix, addr := netip.MustParsePrefix, netip.MustParseAddr
	c.Subnets = []dataplane.Subnet{{Prefix: prefix("10.0.0.0/24"), Gateway: addr("10.0.0.1"), Ports: unit.PortsOf(0)}}
	c.Routes = []dataplane.Route{{Prefix: prefix("10.1.0.0/24"), Ports: unit.PortsOf(1)}, {Prefix: prefix("10.2.0.0/24"), Ports: unit.PortsOf(1), Backup: unit.PortsOf(0)}}
	c.ARP = []dataplane.Neighbour{{IP: addr("10.0.0.2"), MAC: 0x02aa00000001}, {IP: addr("10.0.0.3"), MAC: 0x02aa00000009}}
	c.Buffer.Shared = 100_000
	c.Buffer.Profile = buffer.Profile{StaticTh: 4000, XONOffset: 1000, XOFF: 2000}
	c.Slots, c.Batch = 256, 8
	s, err := dataplane.NewSwitch(c)
	if err != nil {
		t.Fatal(err)
	}
	s.SetLink(0, 0, true)
	s.SetLink(0, 1, true)
	return s
}

func wantJSON(t *testing.T, got any, want string) {
	t.Helper()
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}

func TestTables(t *testing.T) {
	s := router(t, nil)
	s.SetLink(1, 1, false)
	tables := TakeTables(s, 2)
	wantJSON(t, tables.MAC, `[{"mac":"02:aa:00:00:00:01","port":"a","type":"Static"}]`)
	wantJSON(t, tables.ARP, `[{"ip":"10.0.0.2","mac":"02:aa:00:00:00:01","port":"a","type":"Static"},{"ip":"10.0.0.3","mac":"02:aa:00:00:00:09","port":"","type":"Static"}]`)
	wantJSON(t, tables.Routes, `[{"prefix":"10.0.0.0/24","connected":true,"ports":["a"],"backup":[],"active":["a"]},`+
		`{"prefix":"10.1.0.0/24","connected":false,"ports":["b"],"backup":[],"active":[]},`+
		`{"prefix":"10.2.0.0/24","connected":false,"ports":["b"],"backup":["a"],"active":["a"]}]`)
	wantReadBack(t, tables)
}

func TestSetup(t *testing.T) {
	setup := TakeSetup(router(t, nil))
	wantJSON(t, setup, `{"name":"s7","id":7,"detector":"none","lossless":[3,4],`+
		`"buffer":{"pool":100000,"size":0,"static_th":4000,"xon":0,"xon_offset":1000,"xoff":2000,"lossy_queue":262144},`+
		`"ports":[{"name":"a","up":true,"rate_bps":0,"mtu":1500,"mac":"02:00:00:00:00:01","peer":"host","weights":[1,1,1,1,1,1,1,1],"trust":"dscp"},`+
		`{"name":"b","up":true,"rate_bps":100000000,"mtu":1500,"mac":"02:00:00:00:00:02","peer":"switch","weights":[1,1,1,40,1,1,0,1],"trust":"pcp"}]}`)
	wantReadBack(t, setup)
}

func TestLabels(t *testing.T) {
	s := router(t, nil)
	wantJSON(t, TakeLabels(s), `[]`)
	p := pause(3)
	itsyhdr.Put(p[34:], itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Initiator: unit.NodePort{Node: 9, Port: 1}, Seq: 5, Trigger: unit.NodePort{Node: 8, Port: 2}, Period: 6})
	arrive(s, 1000, 1, p)
	labels := TakeLabels(s)
	wantJSON(t, labels, `[{"port":"b","priority":3,"paused":true,"xoff":false,"in":{"kind":"label","initiator":"9.1","seq":5,"trigger":"8.2","hops":0,"period":6,"flags":0},"out":null}]`)
	wantReadBack(t, labels)
}

// A watchdog is told with the ports that it watches; what is no watchdog is none.
func TestWatchdog(t *testing.T) {
	if w := TakeWatchdog(router(t, nil), unit.PortsOf(0, 1), nil); w != nil {
		t.Errorf("a switch without a watchdog has %+v", w)
	}
	w := TakeWatchdog(router(t, watchdog.NewForward), unit.PortsOf(1), nil)
	if w == nil || w.Action != "forward" || w.Detection != 200*unit.Millisecond || len(w.Ports) != 1 || w.Ports[0] != "b" {
		t.Fatalf("got %+v", w)
	}
	if len(w.Queues) != 2 || w.Queues[0].Port != "b" || w.Queues[1].Priority != 4 {
		t.Errorf("queues %+v, want those of b", w.Queues)
	}
	wantReadBack(t, *w)
}

// Storms are told when their watchdog is gone, or no longer watches their port, and another
// goes on counting.
func TestStormsOutliveWatchdog(t *testing.T) {
	q := detect.Queue{Port: 1, Priority: 3}
	before := Storms{q: {Detected: 2, Restored: 2, Last: watchdog.Packets{Tx: 1}}}
	old := WatchdogQueue{Port: "b", Priority: 3, Unwatched: true, Stats: before[q]}
	w := TakeWatchdog(router(t, nil), unit.PortsOf(0, 1), before)
	if w == nil || w.Action != "" || len(w.Ports) != 0 || !slices.Equal(w.Queues, []WatchdogQueue{old}) {
		t.Errorf("without a watchdog: %+v, want one queue %+v", w, old)
	}
	wantReadBack(t, *w)
	s := router(t, watchdog.New)
	for _, c := range []struct {
		ports unit.PortSet
		want  WatchdogQueue
	}{{unit.PortsOf(0), old}, {unit.PortsOf(1), WatchdogQueue{Port: "b", Priority: 3, Stats: before[q]}}} {
		w := TakeWatchdog(s, c.ports, before)
		if i := slices.Index(w.Queues, c.want); i < 0 || len(w.Queues) > 3 || len(w.Ports) != 1 {
			t.Errorf("a watchdog of ports %v: %+v, want among them %+v", c.ports, w.Queues, c.want)
		}
	}
	before.Keep(s) // it has seen none
	if before[q].Detected != 2 {
		t.Errorf("kept %+v", before[q])
	}
}

// The time that a queue was paused includes the pause in force.
func TestPauseTotal(t *testing.T) {
	s := router(t, nil)
	arrive(s, 1000, 1, pause(3))
	got := TakeSwitch(s, nil).Ports[1]
	if got.Pause[3] != (Pause{Count: 1, Start: 1000}) || got.Pause[3].Total(got.Paused[3], 1700) != 700 {
		t.Errorf("in force: %+v, %d in all at 1700", got.Pause[3], got.Pause[3].Total(true, 1700))
	}
	over := Pause{Count: 2, Time: 900, Start: 1000, Last: 700}
	if over.Total(false, 5000) != 900 {
		t.Errorf("after it: %d in all, want 900", over.Total(false, 5000))
	}
}

// journal reads events as a script.
type journal struct {
	*testing.T
	*Journal
}

func newJournal(t *testing.T) journal { return journal{t, NewJournal([]string{"a", "b"})} }

// declare is the events of a declared deadlock: priority group a:3 is XOFF and waits in
// queue b:3.
func (j journal) declare(xoff, at unit.Time) {
	j.Read([]event.Event{{At: xoff, Type: event.XOFF, Port: 0, Priority: 3}, {
		At: at, Type: event.Deadlock, Port: 0, Priority: 3, Out: 1, OutPriority: 3, OnLoop: true,
		Label: itsyhdr.TLV{Kind: itsyhdr.KindLabel, Seq: 4}, Trigger: unit.NodePort{Node: 7, Port: 1},
	}})
}

func (j journal) wantOver(want ...unit.Time) {
	j.Helper()
	findings := j.Deadlocks().Findings
	if len(findings) != len(want) {
		j.Fatalf("%d findings, want %d", len(findings), len(want))
	}
	for i, f := range findings {
		if f.Over != want[i] {
			j.Errorf("finding %d is over at %d, want %d", i, f.Over, want[i])
		}
	}
}

func TestJournalOfDeadlock(t *testing.T) {
	j := newJournal(t)
	wantJSON(t, j.Deadlocks(), `{"declared":0,"findings":[],"actions":[]}`)
	j.declare(1000, 3_000_000)
	wantJSON(t, j.Deadlocks(), `{"declared":1,"findings":[{"at_ns":3000000,"priority_group":{"port":"a","priority":3},"queue":{"port":"b","priority":3},`+
		`"label":{"kind":"label","initiator":"","seq":4,"trigger":"","hops":0,"period":0,"flags":0},"initial_trigger":"7.1","on_loop":true,"over_ns":0,"causes":[]}],"actions":[]}`)
	j.Read([]event.Event{{At: 4e6, Type: event.Resumed, Out: 1, OutPriority: 4}, {At: 4e6, Type: event.XON, Port: 1, Priority: 3}})
	j.wantOver(0) // another queue, another priority group
	j.Read([]event.Event{{At: 5e6, Type: event.Expired, Out: 1, OutPriority: 3}})
	j.wantOver(5e6)
	j.declare(6e6, 7e6)
	j.Read([]event.Event{{At: 8e6, Type: event.XON, Port: 0, Priority: 3}})
	j.wantOver(5e6, 8e6)
	h := j.History()
	if h.Deadlocks != 2 || h.Detection.Counts != [11]uint64{2: 1, 3: 1} || h.Detection.Sum != 0.002999+0.001 {
		t.Errorf("%d deadlocks, detected after %+v; want 2, one within 1 ms and one within 3 ms", h.Deadlocks, h.Detection)
	}
}

// A journal keeps the latest findings only.
func TestJournalIsBounded(t *testing.T) {
	j := newJournal(t)
	for i := range unit.Time(findingsMax + 10) {
		j.declare(i, i)
	}
	d := j.Deadlocks()
	if d.Declared != findingsMax+10 || len(d.Findings) != findingsMax || d.Findings[0].At != 10 {
		t.Errorf("%d declared, %d kept, the first of %d", d.Declared, len(d.Findings), d.Findings[0].At)
	}
}

// What lasts is not pushed out by what is over.
func TestJournalKeepsWhatLasts(t *testing.T) {
	j := newJournal(t)
	j.Read([]event.Event{{At: 1, Type: event.Deadlock, Port: 1, Priority: 3, Out: 0, OutPriority: 3}})
	for i := range unit.Time(findingsMax + 10) {
		j.declare(2*i, 2*i)
		j.Read([]event.Event{{At: 2*i + 1, Type: event.Resumed, Out: 1, OutPriority: 3}})
	}
	if f := j.Deadlocks().Findings[0]; f.At != 1 || f.Over != 0 {
		t.Errorf("the first is %+v, want that of 1, which lasts", f)
	}
}

// A queue is in force as long as one of its deadlocks lasts, and once.
func TestInForce(t *testing.T) {
	j := newJournal(t)
	wantJSON(t, j.History().InForce, `[]`)
	j.declare(1000, 2000)
	j.declare(3000, 4000)
	wantJSON(t, j.History().InForce, `[{"port":"b","priority":3}]`)
	j.Read([]event.Event{{At: 5000, Type: event.Resumed, Out: 1, OutPriority: 3}})
	wantJSON(t, j.History().InForce, `[]`)
}

// The trigger of a finding is the switch's own; what the label named does not stand
// beside it.
func TestOneTrigger(t *testing.T) {
	j := newJournal(t)
	j.Read([]event.Event{{
		At: 1, Type: event.Deadlock, Priority: 3, Out: 1, OutPriority: 3, Trigger: unit.NodePort{Node: 7, Port: 1},
		Label: itsyhdr.TLV{Kind: itsyhdr.KindLabel, Trigger: unit.NodePort{Node: 8, Port: 2}},
	}})
	if f := j.Deadlocks().Findings[0]; f.Trigger != "7.1" || f.Label.Trigger != "" {
		t.Errorf("trigger %q, the label's %q; want 7.1 and none", f.Trigger, f.Label.Trigger)
	}
}

// TestCauses: a finding has the causes that were named for it, each with its flows; of two
// diagnoses the last.
func TestCauses(t *testing.T) {
	j := newJournal(t)
	j.declare(1000, 2000)
	name := func(at unit.Time, rank uint8, kind detect.CauseType, flow detect.FlowID, in unit.Port) {
		j.Read([]event.Event{{
			At: at, Type: event.Cause, Port: 0, Priority: 3, Out: 1, OutPriority: 3, Cause: kind, Rank: rank, Confidence: 70 + rank,
			Flow: flow, Trigger: unit.NodePort{Node: 7, Port: 1}, In: in, OnLoop: rank == 1, Together: rank == 2,
		}})
	}
	name(2500, 1, detect.CauseHost, 0, unit.NoPort)
	name(3000, 1, detect.CauseContention, 0xa, 4)
	name(3000, 1, detect.CauseContention, 0xb, 4)
	name(3000, 2, detect.CauseHost, 0, unit.NoPort)
	wantJSON(t, j.Deadlocks().Findings[0].Causes, `[{"type":"contention","at":"7.1","in":"7.4","on_loop":true,"together":false,"confidence":71,"flows":["0000000a","0000000b"]},`+
		`{"type":"host","at":"7.1","in":"","on_loop":false,"together":true,"confidence":72,"flows":[]}]`)
	j.Read([]event.Event{{At: 4000, Type: event.Cause, Port: 1, Priority: 3, Out: 0, OutPriority: 3, Cause: detect.CauseHost, Rank: 1}}) // of no finding
	if n := len(j.Deadlocks().Findings[0].Causes); n != 2 {
		t.Errorf("%d causes after one of another finding, want 2", n)
	}
}

// TestActionsInEffect: an action is there from the action that begins it to the one that ends
// it, and once however often it is begun; what ends at once is none.
func TestMeasuresInForce(t *testing.T) {
	j := newJournal(t)
	all := func() (names []string) {
		for _, m := range j.Deadlocks().Actions {
			names = append(names, m.Action)
		}
		return names
	}
	act := func(a detect.Action, in, out unit.Port, flow detect.FlowID, bytes int32) {
		j.Read([]event.Event{{At: 5, Type: event.Acted, Action: a, Port: in, Priority: 3, Out: out, OutPriority: 3, Flow: flow, Bytes: bytes}})
	}
	for _, c := range []struct {
		begin, end detect.Action
		in, out    unit.Port // of what begins
		inEnd      unit.Port // of what ends, which has the same queue
		flow       detect.FlowID
	}{
		{detect.ActionIgnore, detect.ActionHonour, unit.NoPort, 1, unit.NoPort, 0},
		{detect.ActionLossy, detect.ActionHonour, unit.NoPort, 1, unit.NoPort, 0},
		{detect.ActionDiscard, detect.ActionAdmit, unit.NoPort, 1, unit.NoPort, 0},
		{detect.ActionFlush, detect.ActionAdmit, unit.NoPort, 1, unit.NoPort, 0},
		{detect.ActionRestrict, detect.ActionFree, 0, 1, unit.NoPort, 0},
		{detect.ActionExtra, detect.ActionExtraOver, 0, unit.NoPort, 0, 0},
		{detect.ActionAvoid, detect.ActionAllow, 0, 1, 0, 0},
		{detect.ActionPolice, detect.ActionUnpolice, 0, unit.NoPort, 0, 0xf},
		{detect.ActionLossyTurn, detect.ActionLosslessTurn, 0, 1, 0, 0},
		{detect.ActionContain, detect.ActionRelease, unit.NoPort, 1, unit.NoPort, 0},
	} {
		act(c.begin, c.in, c.out, c.flow, 1)
		act(c.begin, c.in, c.out, c.flow, 2)
		if m := j.Deadlocks().Actions; len(m) != 1 || m[0].Bytes != 2 || m[0].Why == "" || m[0].Until == "" {
			t.Errorf("%v, begun twice: in force are %+v", c.begin, m)
		}
		other := c.flow
		if other != 0 {
			other++
		}
		switch { // what is about something else ends nothing
		case c.flow != 0:
			act(c.end, c.inEnd, c.out, other, 0)
		case c.out != unit.NoPort:
			act(c.end, c.inEnd, 0, 0, 0)
		default:
			act(c.end, 1, c.out, 0, 0)
		}
		if n := len(all()); n != 1 {
			t.Errorf("%v of something else left %v", c.end, all())
		}
		act(c.end, c.inEnd, c.out, c.flow, 0)
		if n := len(all()); n != 0 {
			t.Errorf("%v left %v", c.end, all())
		}
	}
	act(detect.ActionDrop, 0, 1, 0, 9)
	act(detect.ActionForce, 0, 1, 0, 9)
	act(detect.ActionRestrict, 0, 1, 0, 0)
	act(detect.ActionRestrict, 1, 1, 0, 0) // the same queue, to another group
	wantJSON(t, j.Deadlocks().Actions, `[{"since_ns":5,"action":"restrict","why":"frames of the loop alone leave","until":"the loop has moved on",`+
		`"priority_group":{"port":"b","priority":3},"queue":{"port":"b","priority":3},"flow":"","bytes":0}]`)
	for i := range actionsMax + 5 {
		act(detect.ActionPolice, 0, unit.NoPort, detect.FlowID(i+1), 1)
	}
	if n := len(all()); n != actionsMax {
		t.Errorf("%d actions are kept, want %d", n, actionsMax)
	}
}

func TestHistory(t *testing.T) {
	j := newJournal(t)
	j.Read([]event.Event{
		{Type: event.Acted, Action: detect.ActionDrop},
		{Type: event.Acted, Action: detect.ActionDrop},
		{Type: event.Acted, Action: detect.ActionAvoid},
		{Type: event.Refused, Refusal: detect.RefusedPortDown},
		{Type: event.LinkDown, Port: 1},
		{Type: event.LinkUp, Port: 1},
		{Type: event.Rerouted, Out: 1},
	})
	h := j.History()
	wantJSON(t, []any{h.Actions, h.Refusals, h.LinkDowns, h.Rerouted}, `[{"avoid":1,"drop":2},{"port down":1},{"b":1},1]`)
	h.Actions["drop"] = 9
	if j.History().Actions["drop"] != 2 {
		t.Error("who gets a history can change it")
	}
}
