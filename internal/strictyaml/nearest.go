package strictyaml

import (
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
)

// DidYouMean is ` (did you mean "x"?)` for the choices nearest to name, at most
// three, or "" if none is near.
func DidYouMean(name string, choices []string) string {
	near := Nearest(name, choices, 3)
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(lists.Map(near, strconv.Quote), " or ") + "?)"
}

// Nearest returns at most n of the choices whose edit distance from name is at
// most a third of its length, and at least 2, nearest first.
func Nearest(name string, choices []string, n int) []string {
	type scored struct {
		name string
		d    int
	}
	limit := max(len(name)/3, 2)
	var near []scored
	for _, c := range choices {
		if len(c)-len(name) > limit || len(name)-len(c) > limit {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d <= limit && d < len(name) {
			near = append(near, scored{c, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.d - b.d })
	return lists.Map(near[:min(n, len(near))], func(s scored) string { return s.name })
}

// distance is the Levenshtein distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
