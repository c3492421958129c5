package strictyaml

import "testing"

// TestCut: keys are kept as they are written, whichever way that is.
func TestCut(t *testing.T) {
	block := `# A file.
name: x   # its name
list: [a,
       b]
# about c

c:
  - {d: 1}
  # inside
  - e: |
      text

# the end
last: 1
...
`
	for _, c := range []struct {
		data string
		keys []string
		want string
	}{
		{block, []string{"list"}, "list: [a,\n       b]\n"},
		{block, []string{"last", "name"}, "name: x   # its name\nlast: 1\n"},
		{block, []string{"c"}, "c:\n  - {d: 1}\n  # inside\n  - e: |\n      text\n"},
		{block, []string{"none"}, ""},
		{"{a: {x: 1}, b: [1, 2], c: 3}\n", []string{"b", "a"}, "a: {x: 1}\nb: [1, 2]\n"},
		{"a: 1", []string{"a"}, "a: 1\n"},
		{"", []string{"a"}, ""},
	} {
		if got := Cut([]byte(c.data), c.keys...); got != c.want {
			t.Errorf("%q of %q: %q, want %q", c.keys, c.data, got, c.want)
		}
	}
}
