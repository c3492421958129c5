package itsy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/detect/itsy/model"
	"softswitch/internal/testkit"
)

// mutant is a fault that is put into the detector on purpose: a statement of a method is
// another, or none.
type mutant struct {
	name         string
	file, method string
	was, is      string
	unchecked    bool   // of the detector that checks nothing
	also         string // the name of another one that is alive beside it
	long         bool   // takes more than a second: played with -prove only
	fabric       model.Fabric
	bounds       model.Bounds
	want         string // what is found; "": it is not played alone
}

const (
	falseAlarm = "declared, and there is no such deadlock"
	missed     = "a deadlock that is never declared"
	slow       = "a deadlock that labels and checks have not found"
)

var mutants = []mutant{
	{
		name: "no check", file: "check.go", method: "sendCheck",
		was:    `d.sendOn(c, i, p, p, c.lab[p].id())`,
		is:     `d.declare(now, c, i, p, c.lab[p])`,
		fabric: model.Ring(3), bounds: model.Bounds{Fills: 1, Units: 2, Failures: 1, Forgiving: true}, want: falseAlarm,
	},
	{
		name: "a check is home at any queue", file: "check.go", method: "check",
		was: `if d.strong(c, i, proved.And(c.having(id, flagProof)).And(via.Set())) == via {
			d.declare(now, c, i, via, c.lab[via])
		}`,
		is: `if p := d.strong(c, i, proved.And(c.having(id, flagProof))); p != unit.NoPort {
			d.declare(now, c, i, p, c.lab[p])
		}`,
		long:   true,
		fabric: model.Flooded(3), bounds: model.Bounds{Fills: 1, Units: 2, Failures: 1}, want: falseAlarm,
	},
	{
		name: "F stays where a priority group waits by too little", file: "publish.go", method: "published",
		was: `if !d.stays(c, i, c.having(best, f)) {
			break
		}`,
		unchecked: true,
		fabric:    model.Branch(2), bounds: model.Bounds{Fills: 1, Units: 2}, want: falseAlarm,
	},
	{
		name: "a label that comes home by too little proves", file: "home.go", method: "proves",
		was:       `return d.stays(c, i, proved)`,
		is:        `return !proved.Empty()`,
		unchecked: true,
		fabric:    model.Branch(2), bounds: model.Bounds{Fills: 1, Units: 2}, want: falseAlarm,
	},
	{
		name: "labels outlive XON", file: "state.go", method: "forget",
		was:    `n.own, n.min, n.tries = 0, 0, 0`,
		fabric: model.Ring(2), bounds: model.Bounds{Fills: 2, Units: 2, Timers: 1, Losses: 1}, want: falseAlarm,
	},
	{
		name: "resumes are ignored", file: "detector.go", method: "Resume",
		was:    `c.out[q.Port].resumed(now)`,
		is:     `return`,
		fabric: model.Ring(2), bounds: model.Bounds{Fills: 1, Units: 2, Refreshes: 1, Expiries: 1, Losses: 2, Timers: 1}, want: falseAlarm,
	},
	{
		name: "any label is passed on", file: "publish.go", method: "published",
		was: `if l := c.lab[p]; best.less(l) && d.view.Held(b, c.queue(p)) > 0 {
			best = l
		}`,
		is: `if l := c.lab[p]; !l.isNone() && d.view.Held(b, c.queue(p)) > 0 {
			best = l
		}`,
		fabric: model.Ring(3), bounds: model.Bounds{Fills: 1, Units: 2, Prompt: true}, want: slow,
	},
	{
		name: "no label is passed on", file: "publish.go", method: "published",
		was: `if best == own {
		return own
	}`,
		is:     `return own`,
		fabric: model.Ring(3), bounds: model.Bounds{Fills: 1, Units: 2, Prompt: true}, want: slow,
	},
	{
		name: "no new label for a new wait", file: "detector.go", method: "waits",
		was:    `d.mint(c, i, p)`,
		fabric: model.Ring(2), bounds: model.Bounds{Fills: 1, Units: 2, Prompt: true}, want: slow,
	},
	{
		name: "a verification ends where it begins", file: "verify.go", method: "verify",
		was:    `s.parent = root`,
		is:     `s.id = label{}`,
		fabric: model.Shortcut(3), bounds: model.Bounds{Fills: 1, Units: 2}, want: missed,
	},
	{
		name: "who is not stuck is not looked for", file: "verify.go", method: "asked",
		was:    `d.recheck(s)`,
		fabric: model.Branch(2), bounds: model.Bounds{Fills: 1, Units: 2, Timers: 1}, want: falseAlarm,
	},
	{
		name: "grants free nobody", file: "verify.go", method: "asked",
		was: `s.part(c).free.Add(p)`,
	},
	{
		name: "a walk passes everyone", file: "verify.go", method: "walk",
		was:    `s.flags |= slotFailed`,
		is:     `d.walkOn(c, s, i, via)`,
		also:   "grants free nobody", // each alone is caught by the other
		fabric: model.Branch(2), bounds: model.Bounds{Fills: 1, Units: 2, Timers: 1}, want: falseAlarm,
	},
	{
		name: "a deadlock is never over for who declared it", file: "timer.go", method: "fireDone",
		was:    `d.revive(now, c, i)`,
		is:     `d.wait(now, c, i, holdHops)`,
		fabric: model.Ring(2), bounds: model.Bounds{Fills: 1, Units: 2, Refreshes: 1, Expiries: 1, Losses: 2, Timers: 1}, want: missed,
	},
	{
		name: "a resume frees only who published the label", file: "detector.go", method: "Resume",
		was: `c.freed.Add(i)`,
		is: `if stale.Has(i) {
			c.freed.Add(i)
		}`,
		fabric: model.Ring(2), bounds: model.Bounds{Fills: 1, Units: 2, Refreshes: 1, Expiries: 1, Losses: 2, Timers: 1}, want: missed,
	},
	{
		name: "a resume where a deadlock was declared counts only by its label", file: "detector.go", method: "Resume",
		was: `d.revive(now, c, i)`,
		is: `if stale.Has(i) {
			d.revive(now, c, i)
		}`,
		long:   true,
		fabric: model.Flooded(3), bounds: model.Bounds{Fills: 1, Units: 2, Failures: 1}, want: missed,
	},
	{
		name: "a lapsed pause takes no label away", file: "publish.go", method: "Label",
		was:    `c.forget(i)`,
		long:   true,
		fabric: model.Ring(2), bounds: model.Bounds{Fills: 2, Units: 2, Lapses: 1, Refreshes: 1, Expiries: 1, Losses: 1}, want: missed,
	},
}

// TestMutants: each fault that is put into the detector on purpose is found. The mutants are
// built once, all into one program, in which the environment says which of them is alive.
func TestMutants(t *testing.T) {
	if alive := os.Getenv("MUTANT"); alive != "" {
		playMutant(alive)
		return
	}
	testkit.Need(t, "go")
	program := buildMutants(t)
	for _, m := range mutants {
		if m.want == "" || m.long && !*prove {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			run := exec.Command(program, "-test.run", "^TestMutants$")
			run.Env = append(os.Environ(), "MUTANT="+m.name, "ALSO="+m.also)
			said, err := run.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			if found, _, _ := strings.Cut(string(said), "\n"); found != m.want {
				t.Errorf("found %q, want %q", found, m.want)
			}
			t.Logf("\n%s", said)
		})
	}
}

func playMutant(alive string) {
	for _, m := range mutants {
		if m.name != alive {
			continue
		}
		make := newMachine
		if m.unchecked {
			make = newUncheckedMachine
		}
		r := model.Explore(m.fabric, m.bounds, make)
		if r.Trouble == nil {
			fmt.Printf("nothing in %d states\n", r.States)
			return
		}
		fmt.Printf("%s\n%s\n", r.Trouble.What, strings.Join(r.Trouble.Story, "\n"))
	}
}

// mutatedFile is a file of the program: it asks who is alive.
const mutatedFile = `package itsy

import "os"

var alive, also = os.Getenv("MUTANT"), os.Getenv("ALSO")

func mutated(name string) bool { return name == alive || name == also }
`

// buildMutants builds this package's test with the mutants in it.
func buildMutants(t *testing.T) (program string) {
	t.Helper()
	texts := map[string]string{"mutated.go": mutatedFile}
	for _, m := range mutants {
		if texts[m.file] == "" {
			text, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			texts[m.file] = string(text)
		}
		texts[m.file] = m.put(t, texts[m.file])
	}
	for _, name := range simulating(t) { // without them no simulator is built on the mutants
		texts[name] = ""
	}
	return testkit.BuildOverlaid(t, texts)
}

// simulating are the files of the tests of package itsy_test, which simulate scenarios.
func simulating(t *testing.T) (files []string) {
	t.Helper()
	names, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		here, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains("\n"+string(text), "\npackage itsy_test\n") {
			files = append(files, here)
		}
	}
	return files
}

// put is text with the mutant in it.
func (m *mutant) put(t *testing.T, text string) string {
	t.Helper()
	from := strings.Index(text, ") "+m.method+"(")
	if from < 0 {
		t.Fatalf("%s: %s has no method %s", m.name, m.file, m.method)
	}
	to := from + strings.Index(text[from:], "\n}\n")
	body := text[from:to]
	if n := strings.Count(body, m.was); n != 1 {
		t.Fatalf("%s: %q is %d times in %s of %s, want once", m.name, m.was, n, m.method, m.file)
	}
	return text[:from] + strings.Replace(body, m.was, fmt.Sprintf("if mutated(%q) {\n\t%s\n\t} else {\n\t%s\n\t}", m.name, m.is, m.was), 1) + text[to:]
}
