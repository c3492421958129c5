package verdict

import (
	"reflect"
	"strings"
	"testing"
)

// paid is a verdict in which frames of four of five flows were dropped on purpose.
func paid() *Verdict {
	return &Verdict{
		Detections: []Detection{
			{Judged: "false", Causes: []FoundCause{{Type: "contention", Flows: []string{"other"}}}},
			{TruePositive: true, Causes: []FoundCause{
				{Type: "contention", Flows: []string{"likeliest"}},
				{Type: "host", Node: "slow", Together: true},
				{Type: "link", Flows: []string{"other"}},
				{Type: "contention", Flows: []string{"other"}, Together: true},
			}},
		},
		Flows: []FlowResult{
			{Name: "likeliest", To: "a", Response: 3, OverRate: 30, Received: 67},
			{Name: "to-slow", To: "slow", OverRate: 8},
			{Name: "other", To: "b", Response: 1, Received: 9999},
			{Name: "unharmed", To: "b", Received: 5, Lost: 4, IncompleteARP: 4},
			{Name: "more", To: "c", Response: 123, Received: 877},
		},
	}
}

// TestDroppedOf: a flow is named by the likeliest cause of a true declaration, or together with it,
// or as one to a host that is; what is dropped for another reason does not count.
func TestDroppedOf(t *testing.T) {
	v := paid()
	v.countDropped()
	want := []DroppedOf{{"likeliest", true, 33, 100}, {"to-slow", true, 8, 8}, {"other", false, 1, 10000}, {"more", false, 123, 1000}}
	if !reflect.DeepEqual(v.DroppedOf, want) {
		t.Errorf("got %+v, want %+v", v.DroppedOf, want)
	}
	if named, others := v.dropped(true), v.dropped(false); named != 41 || others != 124 {
		t.Errorf("%d of named, %d of others; want 41, 124", named, others)
	}
	const text = `dropped of  flows that a cause names 41: likeliest 33 (33.0 %), to-slow 8 (100.0 %)
dropped of  flows that no cause names 124: more 123 (12.3 %), other 1 (<0.1 %)
`
	var b table
	v.writeDropped(&b)
	if b.String() != text {
		t.Errorf("got\n%s\nwant\n%s", b.String(), text)
	}
	for i := range v.Detections {
		v.Detections[i].TruePositive = false
	}
	if v.countDropped(); v.DroppedOf[0].Named {
		t.Error("a declaration that is not true names a flow")
	}
}

// TestDroppedOfFew: of many flows the table has those with most, and counts the rest.
func TestDroppedOfFew(t *testing.T) {
	v := &Verdict{}
	for i := range 9 {
		v.Flows = append(v.Flows, FlowResult{Name: string(rune('A' + i)), Response: int64(i), Received: 100})
	}
	v.countDropped()
	var b table
	v.writeDropped(&b)
	if got := strings.Join(strings.Fields(b.String()), " "); !strings.HasSuffix(got, "36: I 8 (7.4 %), H 7 (6.5 %), G 6 (5.6 %), F 5 (4.7 %), and 4 more") {
		t.Error(got)
	}
}

// TestDroppedOfHonestRun: what a run dropped on purpose is told of its flow, and summed over runs.
func TestDroppedOfHonestRun(t *testing.T) {
	_, v := honestRun(t)
	want := []DroppedOf{{"A", false, 5, 9005}}
	if !reflect.DeepEqual(v.DroppedOf, want) {
		t.Errorf("got %+v, want %+v", v.DroppedOf, want)
	}
	if s := SumsOf([]*Verdict{v, v}); s.Count("dropped_of_others") != 10 || s.Count("dropped_of_named") != 0 {
		t.Errorf("summed %v of named, %v of others; want 0, 10", s["dropped_of_named"], s["dropped_of_others"])
	}
}
