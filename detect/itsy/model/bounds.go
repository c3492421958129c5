package model

import "fmt"

// Bounds are the limits of what may happen in a fabric. What has no bound here happens as often as it
// can, at any time and in any order.
type Bounds struct {
	// Fills is how often each priority group goes XOFF, and Units how many units it holds at most: 2 or
	// 3.
	Fills, Units uint8

	// How often these happen, in all of the fabric, at most 15 times each: a detector acts by
	// itself; a pause is repeated; a frame between switches is lost; the repetition of a pause
	// is so late that it may lapse; a pause runs out; a link fails; a switch takes the
	// verifications that it is part of for given up.
	Timers, Refreshes, Losses, Lapses, Expiries, Failures, Ages uint8

	Heals bool // links that failed come up again
	// Queued: what a switch sends waits in its port, and a pause is built when it leaves. Without
	// it frames wait on the wire only.
	Queued bool
	// Prompt: every deadlock has to be declared by labels and checks alone, before a detector acts
	// by itself.
	Prompt bool
	// Forgiving: a declaration is late, not false, however long the deadlock has been over.
	Forgiving bool

	States int // with more of them than this the search is given up; 0: never
}

// budget is a bound of Bounds, by its place in what is spent.
type budget uint8

const (
	timers budget = 4 * iota
	refreshes
	losses
	lapses
	expiries
	failures
	ages
)

// check panics if b has bounds that do not fit their place.
func (b *Bounds) check() {
	if b.Units < xoff || b.Units > maxUnits {
		panic(fmt.Sprintf("model: %d units: want %d to %d", b.Units, xoff, maxUnits))
	}
	for of := timers; of <= ages; of += 4 {
		if n := b.limit(of); n > maxTimes {
			panic(fmt.Sprintf("model: %v: %d times: want at most %d", *b, n, maxTimes))
		}
	}
}

// maxTimes is how often anything may happen: what was spent of a bound has four bits.
const maxTimes = 15

// limit is how often what b bounds may happen.
func (b *Bounds) limit(of budget) uint8 {
	return [...]uint8{b.Timers, b.Refreshes, b.Losses, b.Lapses, b.Expiries, b.Failures, b.Ages}[of/4]
}

// breaks reports whether anything may happen that ends a deadlock.
func (b *Bounds) breaks() bool { return b.Failures > 0 || b.Expiries > 0 }

// price is the bound that a step counts for; ok is false if it may happen any number of times.
func (o op) price() (of budget, ok bool) {
	p := prices[o]
	return p.of, p.ok
}

var prices = [opDoom + 1]struct {
	of budget
	ok bool
}{opFire: {timers, true}, opRefresh: {refreshes, true}, opLapse: {lapses, true}, opExpire: {expiries, true}, opAge: {ages, true}}

// Result is what was found.
type Result struct {
	States, Steps int  // of the fabric, and from one to another
	Local         int  // states of single switches
	Complete      bool // all states within the bounds were seen

	Declared int // steps in which a deadlock was declared first
	Again    int // and those in which one was that had been declared
	Late     int // and those in which it was over, but was not when the detector began to check
	// Early are those in which it would have been one but for the period of a pause: the resume
	// after that and the next pause were both lost, which makes no difference that a detector
	// could see.
	Early int

	Deadlocked int // states with a deadlock in which nothing is on its way
	Waiting    int // and those in which it was not declared before the fabric was left alone

	Trouble *Trouble // the first one, on a shortest way; nil: there is none
}

// Trouble is a state that must not be, and how it arises.
type Trouble struct {
	What  string
	Story []string // a line for each step
}

// String is b for people: "2 fills of 2 units, 1 timer, 1 failure (heals)".
func (b Bounds) String() string {
	text := fmt.Sprintf("%s of %d units", count(b.Fills, "fill", "fills"), b.Units)
	for _, n := range [...]struct {
		is        uint8
		one, many string
	}{
		{b.Timers, "timer", "timers"},
		{b.Refreshes, "refresh", "refreshes"},
		{b.Losses, "loss", "losses"},
		{b.Lapses, "lapse", "lapses"},
		{b.Expiries, "expiry", "expiries"},
		{b.Failures, "failure", "failures"},
		{b.Ages, "age", "ages"},
	} {
		if n.is > 0 {
			text += ", " + count(n.is, n.one, n.many)
		}
	}
	for _, w := range [...]struct {
		is   bool
		word string
	}{{b.Heals, "heals"}, {b.Queued, "queued"}, {b.Prompt, "prompt"}, {b.Forgiving, "forgiving"}} {
		if w.is {
			text += ", " + w.word
		}
	}
	return text
}

func count(n uint8, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}
