package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/safefile"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
)

// Show plays a plan in virtual time and writes a page that shows the run and needs nothing
// else. An error says why the run cannot be shown.
type Show func(plan *scenario.Plan, opt sim.Options, page io.Writer) (*verdict.Verdict, error)

// replay is the page that shows the first run of a row.
type replay struct {
	Link    string  // of the page, from that of the comparison; empty if there is none
	Outcome Outcome // of this run alone
	Why     string  // there is none; empty if there is one, or the row has no figures
}

// RunAndShow is Run, and then plays every pair that has figures once more with the first seed, for
// show. The pages are in a folder beside html, the page of the comparison: that of
// comparison.html is comparison-replays. It is there when all of them are; else what was
// there before stays. Errors name the flag --replays.
func (m *Matrix) RunAndShow(ctx context.Context, html string, show Show) (c *Comparison, err error) {
	if m.World.Name != "sim" {
		return nil, fmt.Errorf("--replays: only simulated runs can be replayed; valid with --world sim, and this is %q", m.World.Name)
	}
	if html == "" {
		return nil, errors.New("--replays: the replays stand beside the page of the comparison; valid with --html FILE")
	}
	dir, err := newReplayDir(html)
	if err != nil {
		return nil, fmt.Errorf("--replays: %w", err)
	}
	defer func() { err = errors.Join(err, dir.discard()) }()
	if c, err = m.Run(ctx); err != nil {
		return nil, err
	}
	if err := m.replay(ctx, c, dir, show); err != nil {
		return nil, err
	}
	if err := dir.keep(); err != nil {
		return nil, fmt.Errorf("--replays: %w", err)
	}
	return c, nil
}

// replay writes the pages of c into dir.
func (m *Matrix) replay(ctx context.Context, c *Comparison, dir *replayDir, show Show) error {
	c.replays = make([]replay, len(c.Rows))
	files := replayFiles(m.Scenarios)
	var played []int
	for i := range c.Rows {
		if c.Rows[i].Figures != nil {
			played = append(played, i)
		}
	}
	return m.each(ctx, len(played), 0, len(played), func(ctx context.Context, n int) (string, error) {
		at, sys := played[n]/len(m.Systems), m.Systems[played[n]%len(m.Systems)]
		what := fmt.Sprintf("replay of %s  %s", m.Scenarios[at].Name, sys.Name)
		r := &c.replays[played[n]]
		page, v, err := showPair(ctx, &m.Scenarios[at], sys, m.First, show)
		if err := ctx.Err(); err != nil {
			return "", err
		}
		if err != nil {
			r.Why = err.Error()
			return what + "  none: " + r.Why, nil
		}
		file := files[at] + "--" + sys.Name + ".html"
		if err := safefile.WriteFile(filepath.Join(dir.made, file), page, 0o644); err != nil {
			return "", fmt.Errorf("--replays: %w", err)
		}
		r.Link, r.Outcome = dir.link(file), outcomeOf(v)
		return fmt.Sprintf("%s  %s, %d kB", what, r.Outcome, (len(page)+999)/1000), nil
	})
}

// showPair is the page of a pair, and the verdict on its run.
func showPair(ctx context.Context, src *Source, sys System, seed uint64, show Show) ([]byte, *verdict.Verdict, error) {
	plan, err := planOf(src, sys)
	if err != nil {
		return nil, nil, err
	}
	var page bytes.Buffer
	v, err := show(plan, simOptions(ctx, plan.Scenario, seed), &page)
	return page.Bytes(), v, err
}

// outcomeOf is the outcome of a single run.
func outcomeOf(v *verdict.Verdict) Outcome {
	r := Row{Figures: &Figures{Runs: 1, Sums: verdict.SumsOf([]*verdict.Verdict{v})}}
	return r.Outcome()
}

// replaysByRow is empty if no replays were asked for.
func (c *Comparison) replaysByRow() map[*Row]replay {
	all := map[*Row]replay{}
	for i := range c.replays {
		all[&c.Rows[i]] = c.replays[i]
	}
	return all
}

// notReplayed tells each reason once, with the scenarios that it holds for.
func (c *Comparison) notReplayed() []string {
	var because reasons
	for i, r := range c.replays {
		if r.Why != "" {
			because.add(r.Why, c.Rows[i].Scenario)
		}
	}
	return lists.Map(because.all, func(why string) string { return strings.Join(because.where[why], ", ") + ": " + why })
}

// reasons are why something is not, in the order in which they are met, with the scenarios that each holds for.
type reasons struct {
	all   []string
	where map[string][]string
}

func (r *reasons) add(why, scenario string) {
	if r.where == nil {
		r.where = map[string][]string{}
	}
	if r.where[why] == nil {
		r.all = append(r.all, why)
	}
	if !slices.Contains(r.where[why], scenario) {
		r.where[why] = append(r.where[why], scenario)
	}
}

// nameMost is the most bytes of a scenario's name that are in a file's name.
const nameMost = 100

// replayFiles are how the names of the files of these scenarios begin, each another: of a
// scenario in a file the file's name alone, with what is not usual in names made a dash.
func replayFiles(scenarios []Source) (names []string) {
	for _, s := range scenarios {
		plain := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
				return r
			}
			return '-'
		}, filepath.Base(s.Name))
		plain = plain[:min(len(plain), nameMost)]
		name := plain
		for n := 2; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s-%d", plain, n)
		}
		names = append(names, name)
	}
	return names
}

// replayDir is a folder of replays while it is made: under another name, beside it.
type replayDir struct{ path, made string }

// newReplayDir makes the folder for the replays of the page html. It refuses to take the
// place of anything but such a folder.
func newReplayDir(html string) (*replayDir, error) {
	d := &replayDir{path: strings.TrimSuffix(html, filepath.Ext(html)) + "-replays"}
	if info, err := os.Stat(html); err == nil && info.IsDir() {
		return nil, fmt.Errorf("--html %s: it is a folder; valid: a file", html)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := safefile.MkdirAll(filepath.Dir(d.path), 0o755); err != nil {
		return nil, err
	}
	var err error
	if d.made, err = os.MkdirTemp(filepath.Dir(d.path), filepath.Base(d.path)+".*"); err != nil {
		return nil, err
	}
	if err := os.Chmod(d.made, 0o755); err != nil {
		return nil, errors.Join(err, d.discard())
	}
	return d, nil
}

// check makes sure that nothing is lost if the folder takes its place.
func (d *replayDir) check() error {
	info, err := os.Lstat(d.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is in the way: it is no folder; move it, or choose another name with --html", d.path)
	}
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !isReplay(e.Name()) {
			return fmt.Errorf("%s would be replaced, but contains %q, which is not a replay; move it, or choose another name with --html", d.path, e.Name())
		}
	}
	return nil
}

// isReplay reports whether a file is called as one is that replay writes.
func isReplay(file string) bool {
	return slices.ContainsFunc(Systems(), func(s System) bool { return strings.HasSuffix(file, "--"+s.Name+".html") })
}

// keep puts the folder in its place, instead of an older one.
func (d *replayDir) keep() error {
	if err := d.check(); err != nil {
		return err
	}
	if err := os.RemoveAll(d.path); err != nil {
		return err
	}
	return os.Rename(d.made, d.path)
}

// discard removes the folder, unless it was kept.
func (d *replayDir) discard() error { return os.RemoveAll(d.made) }

// link leads to a file of the folder from the page beside it.
func (d *replayDir) link(file string) string {
	return "./" + url.PathEscape(filepath.Base(d.path)) + "/" + url.PathEscape(file)
}
