package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckOutputs: what cannot be written is refused before anything is done, and nothing is made or
// changed by asking.
func TestCheckOutputs(t *testing.T) {
	dir := t.TempDir()
	in, old := filepath.Join(dir, "in.yaml"), filepath.Join(dir, "old.html")
	for _, f := range []string{in, old} {
		if err := os.WriteFile(f, []byte(f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := func(flag, name string) Output { return Output{Flag: flag, File: name} }
	fresh := filepath.Join(dir, "new.html")
	for _, c := range []struct {
		outs []Output
		want string // of the error; "" for none
	}{
		{[]Output{{Flag: "html"}, {Flag: "markdown"}}, ""},
		{[]Output{file("html", fresh), file("markdown", old)}, ""},
		{[]Output{file("html", "/dev/null"), file("markdown", "/dev/null")}, ""},
		{[]Output{file("html", dir)}, "--html " + dir + ": a directory: name a file"},
		{[]Output{file("html", fresh), file("markdown", filepath.Join(dir, "no", "x.md"))}, "there is no directory " + filepath.Join(dir, "no")},
		{[]Output{{"html", filepath.Join(dir, "a", "b", "x.html"), true}}, ""},
		{[]Output{{"html", filepath.Join(in, "b", "x.html"), true}}, in + " is not a directory"},
		{[]Output{file("out", filepath.Join(in, "x"))}, in + " is not a directory"},
		{[]Output{file("out", in)}, in + " is read: name another file"},
		{[]Output{file("html", fresh), file("markdown", filepath.Join(dir, ".", "new.html"))}, "--html is written there"},
	} {
		err := CheckOutputs([]string{in}, c.outs...)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.outs, err, c.want)
		}
	}
	for _, c := range []struct{ dir, want string }{
		{dir, ""},
		{filepath.Join(dir, "a", "b"), ""},
		{in, "is not a directory"},
		{filepath.Join(in, "a"), in + " is not a directory"},
	} {
		if err := CheckDir("out", c.dir); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.dir, err, c.want)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("asking left %v, %v", files, err)
	}
	if os.Getuid() == 0 {
		return // who may write everywhere
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if err := CheckOutputs(nil, file("html", fresh)); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("in a directory without the right to write: %v", err)
	}
}
