package clocks

import (
	"math/bits"

	"softswitch/unit"
)

// table finds the least of a range of numbers: its row k has at i the least of the 1<<k
// numbers from i on (a sparse table).
type table [][]unit.Time

// newTable takes time and memory n log n, once for each edge and direction.
func newTable(v []unit.Time) table {
	t := table{v}
	for k := 1; 1<<k <= len(v); k++ {
		last, half := t[k-1], 1<<(k-1)
		row := make([]unit.Time, len(v)-1<<k+1)
		for i := range row {
			row[i] = min(last[i], last[i+half])
		}
		t = append(t, row)
	}
	return t
}

// least is the least of the numbers from i to before j, which must not be none: that of two rows of a
// power of two, which may overlap.
func (t table) least(i, j int) unit.Time {
	k := bits.Len(uint(j-i)) - 1
	return min(t[k][i], t[k][j-1<<k])
}
