package lists

import (
	"slices"
	"testing"
)

func TestGroups(t *testing.T) {
	var g Groups[string, int]
	for i, key := range []string{"b", "a", "b", "c", "a"} {
		g.Add(key, i)
	}
	if !slices.Equal(g.Keys, []string{"b", "a", "c"}) || !slices.Equal(g.Of["b"], []int{0, 2}) || !slices.Equal(g.Of["a"], []int{1, 4}) {
		t.Errorf("got %+v", g)
	}
}
