package stat

import "testing"

// TestAdd: what has the same name and type is added, and nothing else.
func TestAdd(t *testing.T) {
	type inner struct{ N int }
	type more struct {
		A, Other int
		B        uint64
		C        string
		D        float64
		In       inner
		List     [2]uint64
	}
	type sum struct {
		A    int
		B    uint64
		C    int
		D    float64
		In   inner
		Mine int
		List [2]uint64
	}
	s := sum{A: 1, B: 2, C: 3, D: 4, In: inner{5}, Mine: 6, List: [2]uint64{7, 8}}
	Add(&s, &more{A: 10, Other: 20, B: 30, C: "x", D: 40, In: inner{50}, List: [2]uint64{70, 80}})
	if want := (sum{A: 11, B: 32, C: 3, D: 4, In: inner{55}, Mine: 6, List: [2]uint64{77, 88}}); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}
