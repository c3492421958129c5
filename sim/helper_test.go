package sim

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"testing"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/detect/itsypaper"
	"softswitch/event"
	"softswitch/scenario"
)

var detectors = map[string]detect.Factory{"none": detect.NewNone, "itsypaper": itsypaper.New, "itsy": itsy.New}

// plan compiles a scenario that is written down in a test.
func plan(t testing.TB, text string) *scenario.Plan {
	t.Helper()
	s, err := scenario.Parse("test", []byte(text), scenario.Known{Detectors: []string{"itsypaper", "itsy"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tracer hashes the lines of a trace.
type tracer struct {
	sum   hash.Hash
	line  []byte
	lines int
}

func newTracer() *tracer { return &tracer{sum: sha256.New()} }

func (t *tracer) event(n event.Node, e event.Event) {
	t.line = n.Append(t.line[:0], e)
	t.sum.Write(t.line)
	t.lines++
}

// outcome is all that a run says: its trace and its verdict.
type outcome struct {
	trace, verdict string
	lines          int
	frames, events uint64
}

// String leaves out the verdict, of which it says the sum.
func (o outcome) String() string {
	return fmt.Sprintf("%d lines %.8s, verdict %.4x, %d frames, %d events", o.lines, o.trace, sha256.Sum256([]byte(o.verdict)), o.frames, o.events)
}

// run plays a plan with seed; order is that in which the machines are made.
func run(t testing.TB, p *scenario.Plan, seed uint64, order []int) outcome {
	t.Helper()
	tr := newTracer()
	w, err := assemble(p, Options{Seed: seed, Detectors: detectors, Events: tr.event}, partsOf(p, order))
	if err != nil {
		t.Fatal(err)
	}
	return outcomeOf(t, w, tr)
}

// partitioned plays a plan in some partitions.
func partitioned(t testing.TB, p *scenario.Plan, seed uint64, partitions int, each func(int, func(int))) outcome {
	t.Helper()
	tr := newTracer()
	w, err := New(p, Options{Seed: seed, Detectors: detectors, Events: tr.event, Partitions: partitions, Each: each})
	if err != nil {
		t.Fatal(err)
	}
	if p.Links[0].Delay > 0 && len(w.partitions) != min(partitions, p.Fabric.Switches()) {
		t.Fatalf("%d partitions, want %d", len(w.partitions), partitions)
	}
	return outcomeOf(t, w, tr)
}

// outcomeOf plays a world to its end.
func outcomeOf(t testing.TB, w *World, tr *tracer) outcome {
	t.Helper()
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{trace: fmt.Sprintf("%x", tr.sum.Sum(nil)), verdict: string(text), lines: tr.lines}
	o.frames, o.events = w.Frames()
	return o
}

// pair is two switches with a host each, at 1 Gbit/s with 10 us of delay. A flow of
// priority 3 runs from h1 to h2 at 400 Mbit/s; more is further keys.
func pair(more string) string {
	return `
name: pair
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [s1--h1, s1--s2, s2--h2]
  rate: 1Gbit/s
  delay: 10us
flows:
  - {name: A, from: h1, to: h2, rate: 400Mbit/s, frame: 1000}
duration: 20ms
` + more
}

// ring is four switches with two hosts each, whose flows go three links round
// against what the shortest way would be: pauses run round it, and close it.
// Wires jitter and lose control frames.
const ring = `
name: ring
topology:
  ring: {switches: 4, hosts_per_switch: 2}
  rate: 1Gbit/s
  delay: 2us
  jitter: 3us
  control_loss_per_mille: 20
buffer: {static_th: 20000, xon_offset: 20000, xoff: 60000}
pfc: {lossless: [3], quanta: 400, refresh: 60us}
routes:
  - {at: s1, to: s4, ports: [s2]}
  - {at: s2, to: s1, ports: [s3]}
  - {at: s3, to: s2, ports: [s4]}
  - {at: s4, to: s3, ports: [s1]}
  - {at: s2, to: s4, ports: [s3]}
  - {at: s3, to: s1, ports: [s4]}
  - {at: s4, to: s2, ports: [s1]}
  - {at: s1, to: s3, ports: [s2]}
flows:
  - {name: A, from: h1-0, to: h4-0, rate: line, start: 100us}
  - {name: B, from: h2-0, to: h1-0, rate: line, start: 110us}
  - {name: C, from: h3-0, to: h2-0, rate: line, start: 120us}
  - {name: D, from: h4-0, to: h3-0, rate: line, start: 130us}
  - {name: E, from: h1-1, to: h2-1, rate: 300Mbit/s, priority: 0}
duration: 4ms
`
