// Package lists makes one list of another: names of nodes, ports of an answer, lines of a text,
// those of some that are so, and groups of what has something in common.
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

// Where returns the elements of from that is is true of, in order; nil if there is none.
func Where[S ~[]T, T any](from S, is func(T) bool) (to S) {
	for _, v := range from {
		if is(v) {
			to = append(to, v)
		}
	}
	return to
}
