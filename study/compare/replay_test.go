package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
)

// names of the files of a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// shownMatrix is two rings with three systems, played with two seeds. With itsy there is a
// deadlock with seed 2 alone; tagger does not apply.
func shownMatrix() *Matrix {
	m := &Matrix{
		World: World{Name: "sim", Parallel: 2, Truth: badIsToBlame, Play: func(_ context.Context, p *scenario.Plan, seed uint64) (*Played, error) {
			if p.Scenario.Detector == "itsy" && seed == 2 {
				return &Played{Verdict: locked(9)}, nil
			}
			return &Played{Verdict: quiet()}, nil
		}},
		Scenarios: []Source{source("ring"), source("files/my ring.yaml")}, Runs: 2, First: 1,
	}
	for _, s := range Systems() {
		switch s.Name {
		case "none", "itsy", "tagger":
			m.Systems = append(m.Systems, s)
		}
	}
	return m
}

// showing is a Show that writes what it was given, and cannot show scenarios without a
// detector.
func showing(p *scenario.Plan, opt sim.Options, page io.Writer) (*verdict.Verdict, error) {
	if p.Scenario.Detector == "none" {
		return nil, errors.New("402 nodes: at most 400")
	}
	_, err := fmt.Fprintf(page, "%s, seed %d", p.Scenario.Detector, opt.Seed)
	return quiet(), err
}

// TestRunAndShow: there is a page of each pair that has figures and can be shown, to which
// its cell leads; the page says why there is none of the others.
func TestRunAndShow(t *testing.T) {
	dir := t.TempDir()
	html := filepath.Join(dir, "sub", "a b#1.html")
	for range 2 { // the second time in place of the first
		c, err := shownMatrix().RunAndShow(t.Context(), html, showing)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.WriteFiles(html, ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, filepath.Dir(html)); !slices.Equal(got, []string{"a b#1-replays", "a b#1.html"}) {
		t.Errorf("files %q", got)
	}
	replays := filepath.Join(filepath.Dir(html), "a b#1-replays")
	if got, want := names(t, replays), []string{"my-ring.yaml--itsy.html", "ring--itsy.html"}; !slices.Equal(got, want) {
		t.Errorf("replays %q, want %q", got, want)
	}
	if got, err := os.ReadFile(filepath.Join(replays, "ring--itsy.html")); err != nil || string(got) != "itsy, seed 1" {
		t.Errorf("a replay is %q, %v", got, err)
	}
	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<td class="found"><b><a href="./a%20b%231-replays/ring--itsy.html">found</a></b><small>first: clear</small>`,
		`href="./a%20b%231-replays/my-ring.yaml--itsy.html"`,
		`<td class="clear"><b>clear</b>`,
		"<li>ring, files/my ring.yaml: 402 nodes: at most 400</li>",
		"that of all 2 runs",
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("no %q in the page", want)
		}
	}
	if n := bytes.Count(page, []byte("<a ")); n != 2 {
		t.Errorf("%d links, want 2", n)
	}
}

// TestReplaysAreNotWritten: what is refused, or fails, changes nothing.
func TestReplaysAreNotWritten(t *testing.T) {
	for _, c := range []struct {
		name, want string
		prepare    func(t *testing.T, dir string, m *Matrix)
	}{
		{"live", `--replays: only simulated runs can be replayed; valid with --world sim, and this is "live"`, func(_ *testing.T, _ string, m *Matrix) { m.World.Name = "live" }},
		{"a file of somebody else", `contains "notes.txt", which is not a replay; move it, or`, func(t *testing.T, dir string, _ *Matrix) {
			put(t, filepath.Join(dir, "page-replays", "notes.txt"))
		}},
		{"a folder of somebody else", `contains "a--itsy.html", which is not a replay`, func(t *testing.T, dir string, _ *Matrix) {
			put(t, filepath.Join(dir, "page-replays", "a--itsy.html", "notes.txt"))
		}},
		{"no folder", "page-replays is in the way: it is no folder", func(t *testing.T, dir string, _ *Matrix) { put(t, filepath.Join(dir, "page-replays")) }},
		{"the page is a folder", "page.html: it is a folder; valid: a file", func(t *testing.T, dir string, _ *Matrix) {
			put(t, filepath.Join(dir, "page.html", "notes.txt"))
		}},
		{"interrupted", "context canceled", func(t *testing.T, dir string, m *Matrix) {
			put(t, filepath.Join(dir, "page-replays", "old--itsy.html"))
			m.World.Play = func(context.Context, *scenario.Plan, uint64) (*Played, error) { return nil, errors.New("not reached") }
			m.World.Truth = func(context.Context, *scenario.Scenario, uint64) (*Truth, error) {
				return nil, errors.New("not reached")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, m := t.TempDir(), shownMatrix()
			c.prepare(t, dir, m)
			before := tree(t, dir)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.name == "interrupted" {
				cancel()
			}
			_, err := m.RunAndShow(ctx, filepath.Join(dir, "page.html"), showing)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if got := tree(t, dir); !slices.Equal(got, before) {
				t.Errorf("files %q, before %q", got, before)
			}
		})
	}
	if _, err := shownMatrix().RunAndShow(t.Context(), "", showing); err == nil || !strings.Contains(err.Error(), "valid with --html FILE") {
		t.Errorf("without a page: %v", err)
	}
}

// put writes a file, with its folders.
func put(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("mine"), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// tree is all that is below a folder.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestReplayFiles: no two scenarios have files of one name, and none has a name that leads
// elsewhere.
func TestReplayFiles(t *testing.T) {
	long := strings.Repeat("x", 300) + ".yaml"
	got := replayFiles([]Source{{Name: "hu-fig4"}, {Name: "a/my.yaml"}, {Name: "../../b/my.yaml"}, {Name: "my ü%.yaml"}, {Name: "hu-fig4-2"}, {Name: "./hu-fig4"}, {Name: long}})
	want := []string{"hu-fig4", "my.yaml", "my.yaml-2", "my---.yaml", "hu-fig4-2", "hu-fig4-3", strings.Repeat("x", nameMost)}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
