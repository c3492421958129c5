package shard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Whole is all parts of a run.
type Whole struct {
	Command string
	Items   int
	inputs  map[string]json.RawMessage
	names   []string // by part
	results []json.RawMessage
}

// Join reads the files of all parts of one run, in any order. The error names the file that
// is not of the same run as the first or is there twice, or the parts that are missing.
func Join(files []string) (*Whole, error) {
	var all []*File // by part
	var first *File
	names := map[int]string{}
	for _, name := range files {
		f, err := Read(name)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first, all = f, make([]*File, f.Of)
		}
		if why := f.differs(first); why != "" {
			return nil, fmt.Errorf("%s: %s in %s", name, why, files[0])
		}
		if all[f.Shard-1] != nil {
			return nil, fmt.Errorf("%s: shard %d of %d, as %s is", name, f.Shard, f.Of, names[f.Shard])
		}
		all[f.Shard-1], names[f.Shard] = f, name
	}
	if first == nil {
		return nil, fmt.Errorf("no shards")
	}
	var missing []int
	w := &Whole{Command: first.Command, Items: first.Items, inputs: first.Inputs}
	for i, f := range all {
		if f == nil {
			missing = append(missing, i+1)
			continue
		}
		w.results, w.names = append(w.results, f.Result), append(w.names, names[i+1])
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("shards missing, of %d: %s", first.Of, Ranges(missing))
	}
	return w, nil
}

// differs is in what f is of another run than g, such as `seed 8, and 7`, "" if in nothing.
func (f *File) differs(g *File) string {
	for _, k := range []struct {
		what string
		f, g any
	}{
		{"command", f.Command, g.Command},
		{"softswitch", f.Program, g.Program},
		{"shards", f.Of, g.Of},
		{"items", f.Items, g.Items},
	} {
		if k.f != k.g {
			return fmt.Sprintf("%s %v, and %v", k.what, k.f, k.g)
		}
	}
	keys := maps.Clone(f.Inputs)
	maps.Copy(keys, g.Inputs)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if a, b := compact(f.Inputs[key]), compact(g.Inputs[key]); a != b {
			return fmt.Sprintf("%s %s, and %s", key, a, b)
		}
	}
	return ""
}

// compact is a value without spaces between its parts, "nothing" if there is none.
func compact(v json.RawMessage) string {
	if v == nil {
		return "nothing"
	}
	var b bytes.Buffer
	json.Compact(&b, v) // it has been decoded before
	return b.String()
}

// Inputs decodes the inputs.
func (w *Whole) Inputs(to any) error {
	if err := decode(encoded(w.inputs), to); err != nil {
		return fmt.Errorf("%s: inputs: %w", w.names[0], err)
	}
	return nil
}

// Results decodes the result of each part, in their order.
func Results[T any](w *Whole) ([]T, error) {
	results := make([]T, len(w.results))
	for i := range results {
		if err := decode(w.results[i], &results[i]); err != nil {
			return nil, fmt.Errorf("%s: result: %w", w.names[i], err)
		}
	}
	return results, nil
}

// Records returns the results of the items, in their order, of parts whose results are arrays
// of T with one element for each item.
func Records[T any](w *Whole) ([]T, error) {
	parts, err := Results[[]T](w)
	if err != nil {
		return nil, err
	}
	all := make([]T, w.Items)
	for i, part := range parts {
		p := Part{i + 1, len(parts)}
		if want := p.Count(w.Items); len(part) != want {
			return nil, fmt.Errorf("%s: %d results; want %d", w.names[i], len(part), want)
		}
		for k := range part {
			all[p.Item(k)] = part[k]
		}
	}
	return all, nil
}

// Ranges writes rising numbers as Slurm takes them: "1-3,7".
func Ranges(numbers []int) string {
	var words []string
	for i := 0; i < len(numbers); {
		k := i
		for k+1 < len(numbers) && numbers[k+1] == numbers[k]+1 {
			k++
		}
		word := fmt.Sprint(numbers[i])
		if k > i {
			word += fmt.Sprintf("-%d", numbers[k])
		}
		words = append(words, word)
		i = k + 1
	}
	return strings.Join(words, ",")
}
