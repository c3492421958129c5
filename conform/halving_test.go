package conform

import (
	"testing"

	"softswitch/internal/stat"
	"softswitch/internal/testkit"
)

// ask plays a search with a question, and returns what it found and how often it asked.
func ask(h halving, question func(n int) bool) (lo, hi, times int) {
	var asked []answer
	for {
		n, over, lo, hi := h.next(asked)
		if over {
			return lo, hi, len(asked)
		}
		asked = append(asked, answer{n, question(n)})
	}
}

// Wherever a threshold lies, and wherever the search begins, it is found to one, in few questions.
func TestHalving(t *testing.T) {
	rand := stat.Rand(testkit.Seed(t))
	for range 1000 {
		least, first := 1+rand.Below(5000), 1+rand.Below(5000)
		lo, hi, times := ask(halving{first: first, most: 1 << 16, confirm: 3}, func(n int) bool { return n >= least })
		if hi != least || lo != least-1 || times > 40 {
			t.Fatalf("%d from %d: between %d and %d after %d questions", least, first, lo, hi, times)
		}
	}
	if lo, hi, _ := ask(halving{first: 10, most: 1000, confirm: 3}, func(int) bool { return false }); lo != 1000 || hi != 0 {
		t.Errorf("never: between %d and %d", lo, hi)
	}
	// A no to the largest number contradicts every yes before it, and is asked for again.
	once := true
	lo, hi, times := ask(halving{first: 900, most: 1000, confirm: 3}, func(n int) bool {
		wrong := n == 1000 && once
		once = once && !wrong
		return n >= 950 && !wrong
	})
	if hi != 950 || lo != 949 || once {
		t.Errorf("after one wrong no: between %d and %d after %d questions", lo, hi, times)
	}
}

// An answer that is wrong now and then does not keep the search from its end, nor from near the threshold.
func TestHalvingNoisy(t *testing.T) {
	rand := stat.Rand(testkit.Seed(t))
	far := 0
	for range 300 {
		lo, hi, times := ask(halving{first: 30, most: 1 << 12, confirm: 3}, func(n int) bool { return (n >= 700) != (rand.Below(50) == 0) })
		if times > askMost {
			t.Fatalf("%d questions", times)
		}
		if lo < 600 || hi > 800 {
			far++
		}
	}
	if far > 60 {
		t.Errorf("%d of 300 searches ended far from the threshold", far)
	}
}
