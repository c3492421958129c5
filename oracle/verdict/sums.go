package verdict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// Sum is what a figure comes to over several runs, an int or a Spread. Runs that have nothing to tell are
// not among its cells.
type Sum func(cells []any) any

// sum adds up; most is the greatest, 0 if there is none.
var (
	sum  = fold(func(n, c int) int { return n + c })
	most = fold(func(n, c int) int { return max(n, c) })
)

// fold takes one cell after another, beginning with 0.
func fold(with func(n, c int) int) Sum {
	return func(cells []any) any {
		n := 0
		for _, c := range cells {
			n = with(n, c.(int))
		}
		return n
	}
}

// runs counts those of which the figure is true, not 0, or not empty.
func runs(cells []any) any {
	return len(slices.DeleteFunc(cells, func(c any) bool { return reflect.ValueOf(c).IsZero() }))
}

// spread is how far the runs are spread.
func spread[T int | unit.Time](cells []any) any {
	return QuantilesOf(lists.Map(cells, func(c any) T { return c.(T) }))
}

// Sums are the figures of several runs by key, of all that have a Sum. Asking for another panics.
type Sums map[string]any

// SumsOf sums up runs, of which there may be none.
func SumsOf(runs []*Verdict) Sums {
	return sumsOf(runs, func(v *Verdict, f *Figure) any { return f.Of(v) })
}

// Together sums up sums, of spreads their medians. What counted runs counts sums then.
func Together(all []Sums) Sums {
	return sumsOf(all, func(s Sums, f *Figure) any {
		switch q := s[f.Key].(type) {
		case Quantiles:
			return when(q.Samples > 0, q.P50)
		case Spread[int]:
			return when(q.Samples > 0, q.P50)
		}
		return s[f.Key]
	})
}

// sumsOf sums up what cell has of each.
func sumsOf[T any](all []T, cell func(T, *Figure) any) Sums {
	s := Sums{}
	for _, f := range Summed() {
		cells := lists.Map(all, func(x T) any { return cell(x, &f) })
		s[f.Key] = f.Sum(lists.Where(cells, func(c any) bool { return c != nil }))
	}
	return s
}

// Count is the sum of a figure that counts something.
func (s Sums) Count(key string) int { return s[key].(int) }

// Times is the sum of a figure that is a time.
func (s Sums) Times(key string) Quantiles { return s[key].(Quantiles) }

// JSON is an object of the fields of a struct and the sums, in the order of keys; key:name is a key by
// another name. Figures that keys leave out come last.
func (s Sums) JSON(of any, keys string) ([]byte, error) {
	var fields map[string]json.RawMessage
	text, err := json.Marshal(of)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		return nil, err
	}
	order := strings.Fields(keys)
	for _, f := range Summed() {
		fields[f.Key], _ = json.Marshal(s[f.Key]) // a number, or a struct of numbers
		order = append(order, f.Key)
	}
	object := []byte("{")
	for _, k := range order {
		key, name, _ := strings.Cut(k, ":")
		if value, ok := fields[key]; ok {
			object = fmt.Appendf(object, "%q:%s,", cmp.Or(name, key), value)
			delete(fields, key)
		}
	}
	return append(object[:len(object)-1], '}'), nil
}

// ReadSums reads the sums of an object in which each has its figure's key.
func ReadSums(object []byte) (Sums, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return nil, err
	}
	s := SumsOf(nil)
	for _, f := range Summed() {
		sum := reflect.New(reflect.TypeOf(s[f.Key]))
		if err := json.Unmarshal(fields[f.Key], sum.Interface()); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Key, err)
		}
		s[f.Key] = sum.Elem().Interface()
	}
	return s, nil
}
