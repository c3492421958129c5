package mutant_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/conform"
	"softswitch/conform/mutant"
	"softswitch/dataplane"
	"softswitch/internal/testkit"
	"softswitch/play"
)

// statement is a defect of the switch: a statement of a function is another, or none.
type statement struct {
	number         int // in the list of all
	name           string
	file, function string
	was, is        string
	cases          []string // that have to fail, each by itself
}

// What a child of the test is told by its environment: the defect that is alive, and the case to play.
const alive, played = "MUTANT", "CASES"

// TestMutants: each defect that is planted into the switch fails the cases that are there for it. Those of
// statements are built once, all into one program, in which the environment says which of them is alive.
func TestMutants(t *testing.T) {
	if os.Getenv(played) != "" {
		playOne(t)
		return
	}
	testkit.LongOnly(t) // another build of the switch, and each case of each defect
	testkit.Need(t, "go")
	program := buildMutants(t)
	for _, m := range statements {
		if len(m.cases) == 0 {
			continue // the other half of a defect of two statements
		}
		t.Run(fmt.Sprintf("%d %s", m.number, m.name), func(t *testing.T) {
			t.Parallel()
			for _, c := range m.cases {
				wantFail(t, c, outcome(t, program, m.name, c))
			}
		})
	}
	t.Run("no defect", func(t *testing.T) {
		t.Parallel()
		for _, c := range conform.Cases() {
			if o := outcome(t, program, "none", c.ID); o.Result != conform.Pass && o.Result != conform.Skipped {
				t.Errorf("%s: %s: %s", c.ID, o.Result, o.Reason)
			}
		}
	})
}

// TestDefects: each defect of frames fails the cases that are there for it.
func TestDefects(t *testing.T) {
	for _, d := range mutant.Defects() {
		t.Run(fmt.Sprintf("%d %s", d.Number, d.Name), func(t *testing.T) {
			t.Parallel()
			for _, c := range d.Cases {
				wantFail(t, c, playCase(t, c, func(m dataplane.Machine) dataplane.Machine { return mutant.New(m, d) }))
			}
		})
	}
}

func wantFail(t *testing.T, id string, o conform.Outcome) {
	t.Helper()
	if o.Result != conform.Fail {
		t.Errorf("%s: %s, want that it fails: %s", id, o.Result, o.Reason)
	}
	t.Logf("%s: %s: %s", id, o.Result, o.Reason)
}

// playCase plays one case by itself, with a new seed each time.
func playCase(t *testing.T, id string, wrap func(dataplane.Machine) dataplane.Machine) conform.Outcome {
	t.Helper()
	r, err := play.ConformSim(context.Background(), play.ConformOptions{
		Profile: play.ConformSelf(), Cases: []*conform.Case{conform.Find(id)}, Seed: testkit.Seed(t), Wrap: wrap,
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return r.Cases[0]
}

// playOne prints what becomes of the cases of the environment, each by itself, as JSON, a line each.
func playOne(t *testing.T) {
	for _, id := range strings.Split(os.Getenv(played), ",") {
		text, err := json.Marshal(playCase(t, id, nil))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%s%s\n", outcomeMark, text)
	}
}

const outcomeMark = "outcome: "

// outcome is what becomes of a case where a defect is alive.
func outcome(t *testing.T, program, defect, id string) (o conform.Outcome) {
	t.Helper()
	run := exec.Command(program, "-test.run", "^TestMutants$")
	run.Env = append(os.Environ(), alive+"="+defect, played+"="+id)
	said, err := run.CombinedOutput()
	_, text, ok := strings.Cut(string(said), outcomeMark)
	if text, _, _ = strings.Cut(text, "\n"); err != nil || !ok {
		t.Fatalf("%v\n%s", err, said)
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// mutatedFile is a file of a package with defects: it asks which is alive.
const mutatedFile = `package %s

import "os"

var alive = os.Getenv("MUTANT")

func mutated(name string) bool { return name == alive }
`

// root is the repository.
var root = filepath.Join("..", "..")

// TestStatements: each statement is still where its defect is planted. TestMutants plays them, in make long.
func TestStatements(t *testing.T) { mutatedTexts(t) }

// mutatedTexts is the files with all statements in them, by name.
func mutatedTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, m := range statements {
		folder := filepath.Dir(m.file)
		texts[filepath.Join(folder, "mutated.go")] = fmt.Sprintf(mutatedFile, filepath.Base(folder))
		if texts[m.file] == "" {
			text, err := os.ReadFile(filepath.Join(root, m.file))
			if err != nil {
				t.Fatal(err)
			}
			texts[m.file] = string(text)
		}
		texts[m.file] = m.put(t, texts[m.file])
	}
	return texts
}

// buildMutants builds this package's test with all statements in it.
func buildMutants(t *testing.T) (program string) {
	t.Helper()
	texts := map[string]string{}
	for name, text := range mutatedTexts(t) {
		texts[filepath.Join(root, name)] = text
	}
	return testkit.BuildOverlaid(t, texts)
}

// put is text with the defect in it.
func (m *statement) put(t *testing.T, text string) string {
	t.Helper()
	from := max(strings.Index(text, ") "+m.function+"("), strings.Index(text, "func "+m.function+"("))
	if from < 0 {
		t.Fatalf("%s: %s has no function %s", m.name, m.file, m.function)
	}
	to := from + strings.Index(text[from:], "\n}\n")
	body := text[from:to]
	if n := strings.Count(body, m.was); n != 1 {
		t.Fatalf("%s: %q is %d times in %s of %s, want once", m.name, m.was, n, m.function, m.file)
	}
	return text[:from] + strings.Replace(body, m.was, fmt.Sprintf("if mutated(%q) {\n\t%s\n\t} else {\n\t%s\n\t}", m.name, m.is, m.was), 1) + text[to:]
}
