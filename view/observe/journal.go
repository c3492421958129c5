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
}

// Finding is a declared deadlock. Its label does not include an initial trigger: the
// one in a label is only the opinion of the last switch that forwarded it.
type Finding struct {
	At      unit.Time `json:"at_ns"`
	Bucket  Place     `json:"bucket"`
	Queue   Place     `json:"queue"`
	Label   *Label    `json:"label"`   // nil if the detector has no labels
	Trigger string    `json:"trigger"` // "node.port" of the initial trigger, "" if it is not known
	OnLoop  bool      `json:"on_loop"`
	// Over is when the bucket resumed or the pause of the queue ended; 0 while neither
	// has happened: then the deadlock lasts.
	Over unit.Time `json:"over_ns"`
}

// Place is a queue or a bucket.
type Place struct {
	Port  string `json:"port"`
	Class int    `json:"priority"`
}

// findingsMax limits the findings that a Journal keeps: ended ones are dropped first.
const findingsMax = 64

// DetectionBounds are the upper bounds of the buckets of History.Detection, in
// seconds.
var DetectionBounds = [...]float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3}

// History is the totals of a switch's events.
type History struct {
	Deadlocks uint64            `json:"deadlocks"`
	InForce   []Place           `json:"in_force"` // queues of declared deadlocks that last
	Measures  map[string]uint64 `json:"measures"` // actions taken, by name
	Refusals  map[string]uint64 `json:"refusals"` // actions not taken, by reason
	LinkDowns map[string]uint64 `json:"link_downs"`
	Rerouted  uint64            `json:"rerouted"` // route groups that switched to their backup
	// Detection is a histogram of the time from the bucket's XOFF to the declaration:
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
	findings []finding                   // guarded by mu
	history  History                     // guarded by mu
	xoff     map[detect.Bucket]unit.Time // guarded by mu: since when buckets are XOFF
}

// finding is a Finding and its place.
type finding struct {
	Finding
	bucket detect.Bucket
	queue  detect.Queue
}

// NewJournal makes the journal of a switch with these port names.
func NewJournal(ports []string) *Journal {
	return &Journal{
		ports: ports, xoff: map[detect.Bucket]unit.Time{},
		history: History{Measures: map[string]uint64{}, Refusals: map[string]uint64{}, LinkDowns: map[string]uint64{}},
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
	b, q := detect.Bucket{Port: e.Port, Class: e.Class}, detect.Queue{Port: e.Out, Class: e.OutClass}
	switch e.Type {
	case event.XOFF:
		j.xoff[b] = e.At
	case event.XON:
		delete(j.xoff, b)
		j.over(e.At, func(f *finding) bool { return f.bucket == b })
	case event.Resumed, event.Expired:
		j.over(e.At, func(f *finding) bool { return f.queue == q })
	case event.Deadlock:
		j.declared(e, b, q)
	case event.Acted:
		j.history.Measures[e.Action.String()]++
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

func (j *Journal) declared(e *event.Event, b detect.Bucket, q detect.Queue) {
	j.history.Deadlocks++
	if since, ok := j.xoff[b]; ok {
		j.history.Detection.add(float64(e.At-since) / float64(unit.Second))
	}
	f := finding{
		Finding: Finding{At: e.At, OnLoop: e.OnLoop, Bucket: Place{j.ports[b.Port], int(b.Class)}, Queue: Place{j.ports[q.Port], int(q.Class)}},
		bucket:  b, queue: q,
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

func (h *Histogram) add(v float64) {
	i := 0
	for i < len(DetectionBounds) && v > DetectionBounds[i] {
		i++
	}
	h.Counts[i]++
	h.Sum += v
}

// Deadlocks returns what has been declared so far.
func (j *Journal) Deadlocks() Deadlocks {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := Deadlocks{Declared: j.history.Deadlocks, Findings: []Finding{}}
	for _, f := range j.findings {
		d.Findings = append(d.Findings, f.Finding)
	}
	return d
}

// History returns a copy of the totals so far.
func (j *Journal) History() History {
	j.mu.Lock()
	defer j.mu.Unlock()
	h := j.history
	h.Measures, h.Refusals, h.LinkDowns = maps.Clone(h.Measures), maps.Clone(h.Refusals), maps.Clone(h.LinkDowns)
	h.InForce = []Place{}
	for i := range j.findings {
		if f := &j.findings[i]; f.Over == 0 && !slices.Contains(h.InForce, f.Queue) {
			h.InForce = append(h.InForce, f.Queue)
		}
	}
	return h
}
