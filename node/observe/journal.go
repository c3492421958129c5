package observe

import (
	"maps"
	"slices"
	"sync"

	"softswitch/detect"
	"softswitch/event"
	"softswitch/unit"
)

// Deadlocks are what a switch's detector has declared.
type Deadlocks struct {
	Declared uint64    `json:"declared"` // since the switch started
	Findings []Finding `json:"findings"` // the latest, oldest first
	// Actions are the actions in effect, oldest first.
	Actions []Action `json:"actions"`
}

// Finding is a declared deadlock. Its label does not include an initial trigger: the
// one in a label is only the opinion of the last switch that forwarded it.
type Finding struct {
	At      unit.Time `json:"at_ns"`
	PG      Place     `json:"priority_group"`
	Queue   Place     `json:"queue"`
	Label   *Label    `json:"label"`           // nil if the detector has no labels
	Trigger string    `json:"initial_trigger"` // "node.port" of it, "" if it is not known
	OnLoop  bool      `json:"on_loop"`
	// Over is when the priority group resumed or the pause of the queue ended; 0 while neither
	// has happened: then the deadlock lasts.
	Over unit.Time `json:"over_ns"`
	// Causes are why it formed according to the detector, the likeliest first.
	Causes []Cause `json:"causes"`
}

// Cause is a detect.Cause.
type Cause struct {
	Type string `json:"type"`
	// At is "node.port" of the egress port that tells it, and In that of the ingress port of
	// the turn; "" for none.
	At         string   `json:"at"`
	In         string   `json:"in"`
	OnLoop     bool     `json:"on_loop"`
	Together   bool     `json:"together"`   // with the one before it
	Confidence int      `json:"confidence"` // in per cent
	Flows      []string `json:"flows"`      // hashes, as in event logs
}

// Action is an action that is in effect: it was begun and has not been ended.
type Action struct {
	Since  unit.Time `json:"since_ns"`
	Action string    `json:"action"`
	Why    string    `json:"why"`
	Until  string    `json:"until"`
	PG     *Place    `json:"priority_group"` // what comes in there; nil for all
	Queue  *Place    `json:"queue"`          // what leaves there; nil for all
	Flow   string    `json:"flow"`           // hash, "" for all
	Bytes  int       `json:"bytes"`          // bytes, of "police" kbit/s; 0 for none
}

// Place is a queue or a priority group.
type Place struct {
	Port     string `json:"port"`
	Priority int    `json:"priority"`
}

// Bounds of what a Journal keeps: of findings, those that are over are dropped first; of actions
// in effect, the oldest.
const (
	findingsMax = 64
	actionsMax  = 1024
)

// DetectionBounds are the upper bounds of the buckets of History.Detection, in
// seconds.
var DetectionBounds = [...]float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3}

// History is the totals of a switch's events.
type History struct {
	Deadlocks uint64            `json:"deadlocks"`
	InForce   []Place           `json:"in_force"` // queues of declared deadlocks that last
	Actions   map[string]uint64 `json:"actions"`  // actions taken, by name
	Refusals  map[string]uint64 `json:"refusals"` // actions not taken, by reason
	LinkDowns map[string]uint64 `json:"link_downs"`
	Rerouted  uint64            `json:"rerouted"` // route groups that switched to their backup
	// Detection is a histogram of the time from the priority group's XOFF to the declaration:
	// Counts by DetectionBounds, Sum in seconds.
	Detection Histogram `json:"detection"`
}

// Histogram counts values: Counts[i] are those up to the i-th bound and above the one
// before; the last has no bound.
type Histogram struct {
	Counts [len(DetectionBounds) + 1]uint64 `json:"counts"`
	Sum    float64                          `json:"sum"`
}

// Journal reads a switch's events and keeps their totals. It is safe for concurrent
// use. NewJournal makes one.
type Journal struct {
	ports []string

	mu       sync.Mutex
	findings []finding               // guarded by mu
	actions  []event.Event           // guarded by mu: those that began the actions in effect, oldest first
	history  History                 // guarded by mu
	xoff     map[detect.PG]unit.Time // guarded by mu: since when priority groups are XOFF
}

// finding is a Finding and its place.
type finding struct {
	Finding
	pg        detect.PG
	queue     detect.Queue
	diagnosed unit.Time // the time of Causes
}

// NewJournal makes the journal of a switch with these port names.
func NewJournal(ports []string) *Journal {
	return &Journal{
		ports: ports, xoff: map[detect.PG]unit.Time{},
		history: History{Actions: map[string]uint64{}, Refusals: map[string]uint64{}, LinkDowns: map[string]uint64{}},
	}
}

// Read adds events, in order. It does not keep the slice.
func (j *Journal) Read(events []event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range events {
		j.read(&events[i])
	}
}

func (j *Journal) read(e *event.Event) {
	b, q := detect.PG{Port: e.Port, Priority: e.Priority}, detect.Queue{Port: e.Out, Priority: e.OutPriority}
	switch e.Type {
	case event.XOFF:
		j.xoff[b] = e.At
	case event.XON:
		delete(j.xoff, b)
		j.over(e.At, func(f *finding) bool { return f.pg == b })
	case event.Resumed, event.Expired:
		j.over(e.At, func(f *finding) bool { return f.queue == q })
	case event.Deadlock:
		j.declared(e, b, q)
	case event.Cause:
		j.caused(e, b, q)
	case event.Acted:
		j.history.Actions[e.Action.String()]++
		j.acted(e)
	case event.Refused:
		j.history.Refusals[e.Refusal.String()]++
	case event.LinkDown:
		j.history.LinkDowns[j.ports[e.Port]]++
	case event.Rerouted:
		j.history.Rerouted++
	}
}

// over marks the findings that fit as ended.
func (j *Journal) over(at unit.Time, fits func(*finding) bool) {
	for i := range j.findings {
		if f := &j.findings[i]; f.Over == 0 && fits(f) {
			f.Over = at
		}
	}
}

func (j *Journal) declared(e *event.Event, b detect.PG, q detect.Queue) {
	j.history.Deadlocks++
	if since, ok := j.xoff[b]; ok {
		j.history.Detection.add(float64(e.At-since) / float64(unit.Second))
	}
	f := finding{
		Finding: Finding{At: e.At, OnLoop: e.OnLoop, PG: Place{j.ports[b.Port], int(b.Priority)}, Queue: Place{j.ports[q.Port], int(q.Priority)}},
		pg:      b, queue: q,
	}
	f.Label, f.Trigger = takeLabel(e.Label), nodePort(e.Trigger)
	if f.Label != nil {
		f.Label.Trigger = ""
	}
	if len(j.findings) == findingsMax {
		oldest := max(0, slices.IndexFunc(j.findings, func(f finding) bool { return f.Over != 0 }))
		j.findings = slices.Delete(j.findings, oldest, oldest+1)
	}
	j.findings = append(j.findings, f)
}

// caused adds a cause, or one more flow of the last one, to the finding that it is about.
func (j *Journal) caused(e *event.Event, b detect.PG, q detect.Queue) {
	for i := len(j.findings) - 1; i >= 0; i-- {
		f := &j.findings[i]
		if f.pg != b || f.queue != q {
			continue
		}
		switch rank := int(e.Rank); {
		case rank == 1 && (len(f.Causes) != 1 || f.diagnosed != e.At): // another diagnosis
			f.Causes, f.diagnosed = nil, e.At
			fallthrough
		case rank == len(f.Causes)+1:
			c := Cause{Type: e.Cause.String(), At: nodePort(e.Trigger), OnLoop: e.OnLoop, Together: e.Together, Confidence: int(e.Confidence), Flows: []string{}}
			if e.In != unit.NoPort {
				c.In = nodePort(unit.NodePort{Node: e.Trigger.Node, Port: e.In})
			}
			f.Causes = append(f.Causes, c)
		}
		if n := len(f.Causes); n > 0 && e.Flow != 0 {
			c := &f.Causes[n-1]
			c.Flows = append(c.Flows, e.Flow.String())
		}
		return
	}
}

// acted begins and ends actions.
func (j *Journal) acted(e *event.Event) {
	anyPG := e.Port == unit.NoPort || e.Action == detect.ActionRestrict // a queue is restricted to one
	end := func(a detect.Action) {
		j.actions = slices.DeleteFunc(j.actions, func(m event.Event) bool {
			return m.Action == a && (e.Out == unit.NoPort || m.Out == e.Out && m.OutPriority == e.OutPriority) &&
				(anyPG || m.Port == e.Port && m.Priority == e.Priority) && (e.Flow == 0 || m.Flow == e.Flow)
		})
	}
	for _, a := range e.Action.Ends() {
		end(a)
	}
	if !e.Action.Lasts() {
		return
	}
	end(e.Action) // it begins again
	if len(j.actions) == actionsMax {
		j.actions = slices.Delete(j.actions, 0, 1)
	}
	j.actions = append(j.actions, *e)
}

func (h *Histogram) add(v float64) {
	i, _ := slices.BinarySearch(DetectionBounds[:], v)
	h.Counts[i]++
	h.Sum += v
}

// Deadlocks returns what has been declared so far.
func (j *Journal) Deadlocks() Deadlocks {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := Deadlocks{Declared: j.history.Deadlocks, Findings: []Finding{}, Actions: []Action{}}
	for _, f := range j.findings {
		f.Causes = append([]Cause{}, f.Causes...)
		for i := range f.Causes {
			f.Causes[i].Flows = slices.Clone(f.Causes[i].Flows)
		}
		d.Findings = append(d.Findings, f.Finding)
	}
	for i := range j.actions {
		e := &j.actions[i]
		m := Action{
			Since: e.At, Action: e.Action.String(), Why: e.Action.Why(), Until: e.Action.Until(), Bytes: int(e.Bytes),
			PG: j.place(e.Port, e.Priority), Queue: j.place(e.Out, e.OutPriority),
		}
		if e.Flow != 0 {
			m.Flow = e.Flow.String()
		}
		d.Actions = append(d.Actions, m)
	}
	return d
}

func (j *Journal) place(p unit.Port, c unit.Priority) *Place {
	if p == unit.NoPort {
		return nil
	}
	return &Place{j.ports[p], int(c)}
}

// History returns a copy of the totals so far.
func (j *Journal) History() History {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.history
	h.Actions, h.Refusals, h.LinkDowns = maps.Clone(h.Actions), maps.Clone(h.Refusals), maps.Clone(h.LinkDowns)
	h.InForce = []Place{}
	for i := range j.findings {
		if f := &j.findings[i]; f.Over == 0 && !slices.Contains(h.InForce, f.Queue) {
			h.InForce = append(h.InForce, f.Queue)
		}
	}
	return h
}
