package play

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/conform"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/oracle"
	"softswitch/unit"
)

// Whether a ring locked, told from outside, is what the oracle says of it, which knows its buffers: of
// random rings, with all streams and with one less. That of softswitch itself locks in time.
func TestConformRings(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	var locked, open int
	for run := range testkit.Sized(8, 1000) {
		text := ringProfile(r)
		p, err := conform.Load("ring.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		id := pick(r, "D01", "D01", "D04")
		is, truth, o := playRing(t, p, id, r.Uint64())
		if is != truth || o.Result != conform.Pass {
			t.Errorf("run %d: %s: %s: %s: locked %t, and the oracle says %t\n%s", run, id, o.Result, o.Reason, is, truth, text)
		}
		if is {
			locked++
		} else {
			open++
		}
	}
	t.Logf("%d rings locked, %d did not", locked, open)
	if testkit.Long() && (locked == 0 || open == 0) {
		t.Errorf("%d rings locked, %d did not: want some of both", locked, open)
	}
	p := ConformSelf()
	p.Watchdog = nil
	for range testkit.Sized(3, 20) {
		if is, truth, _ := playRing(t, p, "D01", r.Uint64()); !is || !truth {
			t.Errorf("the ring of softswitch itself: locked %t, and the oracle says %t", is, truth)
		}
		if is, truth, o := playRing(t, p, "D04", r.Uint64()); is || truth || o.Result != conform.Pass {
			t.Errorf("one stream less: locked %t, and the oracle says %t: %s", is, truth, o.Reason)
		}
	}
}

// playRing plays a case of a ring that nothing frees, and tells whether it locked: by the case, and by
// the oracle.
func playRing(t *testing.T, p *conform.Profile, id string, seed uint64) (is, truth bool, o conform.Outcome) {
	t.Helper()
	n := len(p.Rings[0].Of)
	var nodes []oracle.Node
	var links []oracle.Link
	numbers := map[string]unit.NodeID{}
	for i := range n {
		name := fmt.Sprintf("%s-%d", p.Name, i+1)
		numbers[name] = unit.NodeID(i + 1)
		nodes = append(nodes, oracle.Node{ID: unit.NodeID(i + 1), Name: name, Ports: []string{"tester", "next", "last"}})
		links = append(links, oracle.Link{A: unit.NodePort{Node: unit.NodeID(i + 1), Port: ringNext}, B: unit.NodePort{Node: unit.NodeID((i+1)%n + 1), Port: ringLast}})
	}
	fabric, err := oracle.NewFabric(nodes, links)
	if err != nil {
		t.Fatal(err)
	}
	replay, seq := oracle.NewReplay(fabric), 0
	report, err := ConformSim(context.Background(), ConformOptions{
		Profile: p, Cases: []*conform.Case{conform.Find(id)}, Seed: seed,
		Events: func(machine string, e event.Event) {
			if of := numbers[machine]; of != 0 && err == nil {
				seq++
				err = replay.Add(oracle.Entry{Node: of, Seq: seq, Event: &e})
			}
		},
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o = report.Cases[0]
	is = id == "D04" && o.Result == conform.Fail
	for _, v := range o.Values {
		is = is || v.Name == "locked" && v.Lo == 1
	}
	return is, !replay.Stuck().Empty(), o
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// ringProfile is the profile of a ring of 3 to 5 switches, whose senders may be slower than its wires.
func ringProfile(r *rand.Rand) string {
	var b strings.Builder
	n, mbits := 3+r.IntN(3), pick(r, 50, 100, 200)
	fmt.Fprintf(&b, "name: ring\nspeed: %dMbit/s\nports:\n", mbits)
	names := []string{"a", "b", "c", "d", "e"}[:n]
	for _, name := range names {
		fmt.Fprintf(&b, "  - {name: %s, speed: %dMbit/s}\n", name, mbits*(3+r.IntN(8))/10)
	}
	xoff := 8000 + r.IntN(50_000)
	fmt.Fprintf(&b, "lossless: [3, 4]\nrings: [{kind: instances, of: [%s]}]\n", strings.Join(names, ", "))
	fmt.Fprintf(&b, "buffer: {xoff: %d, xon: %d, headroom: %d, delay: %dus}\n", xoff, xoff-1514-r.IntN(xoff/2), 20_000+r.IntN(20_000), r.IntN(100))
	fmt.Fprintf(&b, "pfc: {quanta: %d}\n", pick(r, 1000, 10000, 65535))
	return b.String()
}
