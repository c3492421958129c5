package conform

import "slices"

// halving finds the least number for which the answer to a question is yes, where it is no below: doubled
// until yes, halved until no, then in between, down to step.
type halving struct {
	first, most int // the number to begin with, and the largest
	// step is how near to a number is near enough; nil: 1.
	step func(n int) int
	// confirm is how often both answers are wanted, and a no to the largest number.
	confirm int
}

// answer is what was answered for a number.
type answer struct {
	n   int
	yes bool
}

// askMost bounds how often halving asks.
const askMost = 100

// next is the number to be asked after these answers; over says that they are enough. lo is the largest
// number with no, 0 if there is none, and hi the least with yes, 0 if there is none. Of two answers that
// contradict each other the later one counts.
func (h halving) next(asked []answer) (n int, over bool, lo, hi int) {
	var no, yes []int
	for _, a := range asked {
		if a.yes {
			no = slices.DeleteFunc(no, func(m int) bool { return m >= a.n })
			yes = append(yes, a.n)
		} else {
			yes = slices.DeleteFunc(yes, func(m int) bool { return m <= a.n })
			no = append(no, a.n)
		}
	}
	if len(no) > 0 {
		lo = slices.Max(no)
	}
	if len(yes) > 0 {
		hi = slices.Min(yes)
	}
	step := 1
	if h.step != nil {
		step = h.step(hi)
	}
	often := func(all []int, n int) bool {
		return len(slices.DeleteFunc(slices.Clone(all), func(m int) bool { return m != n })) >= h.confirm
	}
	switch {
	case len(asked) == 0:
		return min(h.first, h.most), false, lo, hi
	case len(asked) >= askMost:
		return 0, true, lo, hi
	case hi == 0:
		return min(max(h.first, 2*lo), h.most), lo >= h.most && often(no, lo), lo, hi
	case hi-lo > step && lo == 0:
		return hi / 2, false, lo, hi
	case hi-lo > step:
		return lo + (hi-lo)/2, false, lo, hi
	case !often(yes, hi):
		return hi, false, lo, hi
	case lo > 0 && !often(no, lo):
		return lo, false, lo, hi
	}
	return 0, true, lo, hi
}
