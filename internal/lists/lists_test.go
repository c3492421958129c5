package lists

import (
	"slices"
	"strconv"
	"strings"
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

func TestOnce(t *testing.T) {
	words := func(text string) []string { return strings.Fields(text) }
	if got := Once([]string{"b a b", "", "c a"}, words); !slices.Equal(got, []string{"b", "a", "c"}) {
		t.Errorf("got %q, want each once, in order", got)
	}
	if got := Once([]string{""}, words); got != nil {
		t.Errorf("got %#v, want nil", got)
	}
}

func TestSum(t *testing.T) {
	square := func(n int) int64 { return int64(n * n) }
	if got, none := Sum([]int{3, -1, 2}, square), Sum([]int{}, square); got != 14 || none != 0 {
		t.Errorf("got %d, and %d of none; want 14 and 0", got, none)
	}
}

func TestWhere(t *testing.T) {
	odd := func(n int) bool { return n%2 == 1 }
	all := []int{3, 2, 1}
	if got := Where(all, odd); !slices.Equal(got, []int{3, 1}) || !slices.Equal(all, []int{3, 2, 1}) {
		t.Errorf("got %d of %d, want the odd ones in order, and all as they were", got, all)
	}
	if got := Where([]int{2}, odd); got != nil {
		t.Errorf("got %#v, want nil", got)
	}
}
