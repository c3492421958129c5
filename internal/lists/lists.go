// Package lists makes one list of another: names of nodes, ports of an answer, lines of a text,
// those of some that are so, and groups of what has something in common; and a sum of one.
//
// What it does not do: it sorts and searches nothing; package slices does.
package lists

// Map returns f of each element of from, in order; nil if there is none.
func Map[S ~[]T, T, R any](from S, f func(T) R) (to []R) {
	for _, v := range from {
		to = append(to, f(v))
	}
	return to
}

// Once returns what f lists of the elements of from, each at its first place alone; nil if there is none.
func Once[S ~[]T, T any, R comparable](from S, f func(T) []R) (to []R) {
	known := map[R]bool{}
	for _, v := range from {
		for _, r := range f(v) {
			if !known[r] {
				known[r] = true
				to = append(to, r)
			}
		}
	}
	return to
}

// Sum returns the sum of f of each element of from, 0 if there is none.
func Sum[S ~[]T, T any, N int | int64 | uint64 | float64](from S, f func(T) N) (sum N) {
	for _, v := range from {
		sum += f(v)
	}
	return sum
}

// Where returns the elements of from that is is true of, in order; nil if there is none.
func Where[S ~[]T, T any](from S, is func(T) bool) (to S) {
	for _, v := range from {
		if is(v) {
			to = append(to, v)
		}
	}
	return to
}
