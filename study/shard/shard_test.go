package shard

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// TestParts: each item is in one part, at every size.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 2000 {
		items, of := 1+rng.IntN(300), 1+rng.IntN(40)
		var all []int
		for number := range of {
			p := Part{Number: number + 1, Of: of}
			for i := range p.Count(items) {
				if item := p.Item(i); item%of != number {
					t.Fatalf("%d of %d items: part %+v has %d", i, items, p, item)
				}
				all = append(all, p.Item(i))
			}
		}
		slices.Sort(all)
		if len(all) != items || slices.ContainsFunc(all, func(i int) bool { return all[i] != i }) {
			t.Fatalf("%d items in %d parts: %v", items, of, all)
		}
	}
	var whole Part
	if !whole.Whole() || whole.Count(7) != 7 || whole.Item(3) != 3 || whole.String() != "" {
		t.Error("the zero part is not the whole")
	}
}

func TestFlag(t *testing.T) {
	var p Part
	for _, text := range []string{"1/1", "3/7", "100000/100000"} {
		if err := p.Set(text); err != nil || p.String() != text {
			t.Errorf("%s: %v, %v", text, p, err)
		}
	}
	for _, text := range []string{"", "3", "0/7", "8/7", "-1/7", "1/0", "1/100001", "a/b", "1/2/3", "1/ 2", "1/"} {
		if err := p.Set(text); err == nil || !strings.Contains(err.Error(), "such as 3/7") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

type inputs struct {
	Seed uint64 `json:"seed"`
	Mode string `json:"mode"`
}

const bigSeed = 1<<64 - 1

// write writes the shards of a run of so many items to the test's folder, and returns their
// names.
func write(t *testing.T, items, of int, in inputs) (names []string) {
	t.Helper()
	for i := range of {
		p := Part{Number: i + 1, Of: of}
		result := []string{}
		for k := range p.Count(items) {
			result = append(result, fmt.Sprintf("<%d>", p.Item(k)))
		}
		names = append(names, fmt.Sprintf("%s/%d-%d-%s.json", t.TempDir(), i+1, of, in.Mode))
		var b bytes.Buffer
		if err := New("test", p, items, in, result, true).WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(names[i], b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

func TestJoin(t *testing.T) {
	for _, c := range []struct{ items, of int }{{20, 7}, {3, 5}, {1, 1}} {
		names := write(t, c.items, c.of, inputs{bigSeed, "a"})
		slices.Reverse(names)
		w, err := Join(names)
		if err != nil {
			t.Fatal(err)
		}
		var in inputs
		if err := w.Inputs(&in); err != nil || in.Seed != bigSeed {
			t.Errorf("%v, %+v", err, in)
		}
		records, err := Records[string](w)
		if err != nil || len(records) != c.items {
			t.Fatalf("%v, %q", err, records)
		}
		for i, r := range records {
			if r != fmt.Sprintf("<%d>", i) {
				t.Errorf("record %d is %q", i, r)
			}
		}
	}
}

// TestJoinRefuses: what is not all of one run is not put together, and the error says where
// it is and what it is.
func TestJoinRefuses(t *testing.T) {
	good := write(t, 20, 3, inputs{bigSeed, "a"})
	edit := func(name string, edit func(string) string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		changed := edit(string(data))
		if changed == string(data) {
			t.Fatalf("%s: nothing to change", name)
		}
		name = t.TempDir() + "/changed.json"
		if err := os.WriteFile(name, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}

	for _, c := range []struct {
		what  string
		files []string
		want  string
	}{
		{"missing", []string{good[1]}, "shards missing, of 3: 1,3"},
		{"none", nil, "no shards"},
		{"twice", append(slices.Clone(good), good[1]), "shard 2 of 3, as " + good[1] + " is"},
		{"another seed", []string{good[0], write(t, 20, 3, inputs{bigSeed - 1, "a"})[1]}, "seed 18446744073709551614, and 18446744073709551615 in " + good[0]},
		{"another mode", []string{good[0], write(t, 20, 3, inputs{bigSeed, "b"})[1]}, `mode "b", and "a" in`},
		{"another number of items", []string{good[0], write(t, 21, 3, inputs{bigSeed, "a"})[1]}, "items 21, and 20 in"},
		{"another number of shards", []string{good[0], write(t, 20, 4, inputs{bigSeed, "a"})[1]}, "shards 4, and 3 in"},
		{"cut", []string{edit(good[0], func(s string) string { return s[:len(s)/2] })}, "not all of one: unexpected end of JSON input"},
		{"empty", []string{edit(good[0], func(string) string { return "" })}, "not all of one: unexpected end of JSON input"},
		{"two in one", []string{edit(good[0], func(s string) string { return s + s })}, "after top-level value"},
		{"an unknown key", []string{edit(good[0], func(s string) string { return strings.Replace(s, "items", "itemz", 1) })}, `unknown field "itemz"`},
		{"a changed result", []string{edit(good[0], func(s string) string { return strings.Replace(s, `18\u003e"`, `17\u003e"`, 1) })}, "changed since it was written"},
		{"another program", []string{good[0], edit(good[1], func(s string) string {
			f, err := Read(good[1])
			if err != nil {
				t.Fatal(err)
			}
			f.Program = "v9"
			f.SHA256 = f.sum()
			return string(encoded(f))
		})}, "softswitch v9, and (devel) sha256:"},
		{"no file", []string{"nix"}, "open nix"},
	} {
		w, err := Join(c.files)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", c.what, w, err, c.want)
		}
	}
	again := edit(good[0], func(s string) string { return strings.ReplaceAll(s, ",", ",\n  ") })
	if _, err := Join([]string{again, good[1], good[2]}); err != nil {
		t.Errorf("laid out in another way: %v", err)
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"": nil, "4": {4}, "1-3,7,9-10": {1, 2, 3, 7, 9, 10}} {
		if got := Ranges(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}
