package ui

import (
	"cmp"
	"slices"

	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// Bounds of how many states a simulated run is shown in: how many are evenly spaced, and how
// many there are at most in all.
const (
	evenStates = 600
	statesMax  = 1800
)

// instants plays a plan and returns when to take its states, in order: at even distances,
// whenever something is told, and when a pause or a label moves; of the last kind only those
// that are nearest to what is told. So time goes fast where nothing happens, and slowly
// where a deadlock forms, labels travel and a response acts.
func instants(plan *scenario.Plan, opt sim.Options, w *wiring) ([]unit.Time, error) {
	var told, moved []unit.Time
	m := newModel(w, nil, 0)
	note := func() {
		isTold, isMoved := m.happened()
		if isTold {
			told = append(told, m.now)
		}
		if isMoved {
			moved = append(moved, m.now)
		}
		m.tick = tick{labels: m.labels}
		clear(m.labels)
	}
	world, err := m.simulation(plan, opt, note)
	if err != nil {
		return nil, err
	}
	if _, err := world.Play(); err != nil {
		return nil, err
	}
	m.settle()
	note()
	return choose(told, moved, plan.Scenario.Duration), nil
}

// choose is the instants of a run of this duration, in order.
func choose(told, moved []unit.Time, duration unit.Time) []unit.Time {
	at := thin(told, (statesMax-evenStates)/2)
	for i := range unit.Time(evenStates) {
		at = append(at, duration*(i+1)/evenStates)
	}
	if room := statesMax - len(at); len(moved) > room {
		far := make(map[unit.Time]unit.Time, len(moved))
		for _, t := range moved {
			far[t] = distance(told, t)
		}
		moved = slices.Clone(moved)
		slices.SortStableFunc(moved, func(a, b unit.Time) int { return cmp.Compare(far[a], far[b]) })
		moved = moved[:room]
	}
	at = append(at, moved...)
	slices.Sort(at)
	return slices.Compact(at)
}

// thin is at most n of some times, evenly chosen.
func thin(times []unit.Time, n int) (some []unit.Time) {
	for i := range min(n, len(times)) {
		some = append(some, times[i*len(times)/min(n, len(times))])
	}
	return some
}

// distance is how far a time is from the nearest of some that are in order.
func distance(times []unit.Time, t unit.Time) unit.Time {
	i, _ := slices.BinarySearch(times, t)
	least := unit.Never
	if i < len(times) {
		least = times[i] - t
	}
	if i > 0 {
		least = min(least, t-times[i-1])
	}
	return least
}
