package lists

import (
	"slices"
	"strconv"
	"testing"
)

func TestMap(t *testing.T) {
	if got := Map([]int{3, 1, 2}, strconv.Itoa); !slices.Equal(got, []string{"3", "1", "2"}) {
		t.Errorf("got %q, want the texts in order", got)
	}
	for _, empty := range [][]int{nil, {}} {
		if got := Map(empty, strconv.Itoa); got != nil {
			t.Errorf("of %#v: %#v, want nil, which is null in JSON", empty, got)
		}
	}
}
