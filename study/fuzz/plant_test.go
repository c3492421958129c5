package fuzz

import (
	"slices"
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/host"
	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// onset plays a scenario file to its end, and returns when it first deadlocks.
func onset(t *testing.T, text []byte, seed uint64) (at unit.Time, ok bool) {
	t.Helper()
	s, err := scenario.Parse("x.yaml", text, scenario.Known{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(plan, sim.Options{Seed: seed, Detectors: map[string]detect.Factory{"none": detect.NewNone}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Play()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Intervals) == 0 {
		return 0, false
	}
	return r.Intervals[0].From, true
}

// without is the case without all of its plants.
func without(c *Case) *Case {
	for i := range c.Plants {
		c = c.Without(i + 1)
	}
	c.Plants = nil
	return c
}

// plantedSeed is a seed with which most cases are found soon, and soonSeeds are others with which
// those are that take longest: found by trying seeds from 1 on. Some take hundreds of plays.
const plantedSeed = 18

var soonSeeds = map[Planting]uint64{Planting(Slow): 7, Planting(Chatter): 16, Planting(EndedStorm): 7, Planting(Incast): 14}

// TestPlanted: one case of each planting. Its file deadlocks, without what was planted
// it does not, and the file says what that is.
func TestPlanted(t *testing.T) {
	rest := testkit.Seed(t) % 2 // half of them in turn
	for i, want := range Plantings {
		if !testkit.Long() && uint64(i)%2 == rest {
			continue
		}
		seed := uint64(plantedSeed)
		if soon := soonSeeds[want]; soon > 0 && !testkit.Long() {
			seed = soon
		}
		p := NewPlanted(seed, i)
		text := p.Text("none", "")
		at, dead := onset(t, text, p.Wires)
		if p.Planting != want || dead != p.Locked || at != p.Onset || dead == (want == Control) {
			t.Errorf("%s %d: planting %s, deadlock %t at %d; it says %t at %d", want, i, p.Planting, dead, at, p.Locked, p.Onset)
		}
		base := without(p.Case).Text("none", "")
		for _, wires := range []uint64{p.Wires, p.Wires ^ 1<<31}[:testkit.Sized(1, 2)] {
			if at, dead := onset(t, base, wires); dead {
				t.Errorf("%s: a deadlock at %d without what is planted, seed %d\n%s", want, at, wires, base)
			}
		}
		plants := 1
		switch want {
		case Two:
			plants = 2
		case Control:
			plants = 0
		}
		if len(p.Plants) != plants || strings.Count(string(text), "\n# planted: ")+strings.Count(string(text[:11]), "# planted: ") != plants {
			t.Errorf("%s: plants %+v\n%s", want, p.Plants, text)
		}
		if want != Control && !p.Sound() {
			t.Errorf("%s: it is not sound", want)
		}
		if i%4 != testkit.Sized(2, 1) { // of the others some take seconds to be made
			continue
		}
		if again := NewPlanted(seed, i).Text("none", ""); string(again) != string(text) {
			t.Errorf("%s: made twice, it differs", want)
		}
	}
}

// TestTwoPlants: of two plants, one is idle if the other alone locks and it alone does
// not. Otherwise both count.
func TestTwoPlants(t *testing.T) {
	idle := 0
	for _, i := range testkit.Sized([]int{42, 53}, []int{9, 20, 31, 42, 53, 64}) { // of 42 none is idle
		p := NewPlanted(4, i)
		if p.Planting != Two {
			t.Fatalf("case %d is planted with %s", i, p.Planting)
		}
		if !p.Locked {
			continue
		}
		_, first := onset(t, p.Without(2).Text("none", ""), p.Wires)
		_, second := onset(t, p.Without(1).Text("none", ""), p.Wires)
		if got, want := [2]bool{p.Plants[0].Idle, p.Plants[1].Idle}, [2]bool{second && !first, first && !second}; got != want {
			t.Errorf("case %d: alone they lock %t, %t; idle %v", i, first, second, got)
		}
		if p.Plants[0].Idle || p.Plants[1].Idle {
			idle++
		}
	}
	if idle == 0 {
		t.Error("no plant is idle")
	}
}

// TestSound: what has lost its plant is not sound, and neither is what deadlocks by
// itself or cannot be played without its plant.
func TestSound(t *testing.T) {
	p := NewPlanted(3, slices.Index(Plantings, Planting(Slow)))
	if !p.Sound() {
		t.Fatal("a planted case is not sound")
	}
	if p.Without(1).Sound() {
		t.Error("it is sound without its plant")
	}
	always := p.clone()
	for i := range always.Events {
		always.Events[i].Plant = 0
	}
	if always.Sound() {
		t.Error("it is sound although it deadlocks by itself")
	}
	broken := p.clone()
	broken.Plants[0].instead = []Route{{At: "nobody", To: "nobody", Next: "nobody"}}
	if broken.Sound() {
		t.Error("it is sound although it cannot be played without its plant")
	}
	if _, how := p.locks(p.Wires, p.Duration); how != locked {
		t.Error("it does not deadlock")
	}
	ended := p.clone()
	ended.Plants[0].Kind = EndedStorm
	ended.Events[len(ended.Events)-1].For = p.Onset // over after the deadlock has begun
	ended.Events[len(ended.Events)-1].Plant = 1
	if ended.Sound() {
		t.Error("a storm is over after the deadlock is there, and it is sound")
	}
}

// TestRelief: a storm that stops the frames of one priority, and so leaves the whole link to
// a routing loop in another, is no cause that counts.
func TestRelief(t *testing.T) {
	c := &Case{
		Mode: Cause, Switches: []string{"s0", "a1", "a2", "a3", "b1", "b2"}, Hosts: []string{"h-s0", "h-a1", "h-a3", "h-b1", "h-b2"},
		Sched:    "{3: {type: strict}, 4: {type: strict}}",
		Lossless: []int{3, 4}, Threshold: 19730, XONOffset: 1057, Headroom: 14257, Quanta: 65535, Refresh: 1118464,
		Routes: []Route{{At: "b2", To: "b1", Next: "s0"}},
		Flows: []Flow{
			{From: "h-s0", To: "h-a3", Priority: 4, Stream: host.Stream{Frame: full, TTL: 64}},
			{From: "h-b2", To: "h-a3", Priority: 3, Stream: host.Stream{Rate: 1_600_000_000, Frame: full, TTL: 64}},
			{From: "h-a1", To: "h-b1", Priority: 3, Stream: host.Stream{Frame: full, TTL: 64}},
		},
		Events:   []Event{{At: 94000, Do: "storm", Node: "h-a3", Priority: 4, Plant: 1}},
		Plants:   []Plant{{Kind: Storm, Host: "h-a3"}},
		Duration: 146_000,
	}
	for _, s := range c.Switches {
		if s != "a2" {
			c.Links = append(c.Links, Link{A: s, B: "h-" + s, Rate: 10_000_000_000, Delay: 1600})
		}
	}
	for _, ends := range []arc{{"a1", "a2"}, {"a2", "a3"}, {"a3", "s0"}, {"b1", "b2"}, {"b2", "s0"}} {
		c.Links = append(c.Links, Link{A: ends.from, B: ends.to, Rate: 10_000_000_000, Delay: 1600})
	}
	_, with := c.locks(1, c.Duration)
	_, without := c.Without(1).locks(1, c.Duration)
	if with != locked || without != flowing {
		t.Fatalf("it ends with %d and without the storm with %d; want it to need the storm", with, without)
	}
	if !c.relieves() || c.Sound() {
		t.Error("the storm counts as a cause, although the same happens if nothing is sent to its host")
	}
	if c.press() {
		t.Error("pauses of priority 4 press a loop of priority 3")
	}
}
