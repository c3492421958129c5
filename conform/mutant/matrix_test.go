package mutant_test

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"softswitch/conform"
	"softswitch/conform/mutant"
	"softswitch/dataplane"
	"softswitch/internal/testkit"
)

// writeMatrix of the environment has TestMatrix play every case with every defect, and write matrix.tsv: make
// mutants.
const writeMatrix = "MATRIX"

// wantedRows are the rows that a matrix has: no defect, then those of statements and frames by their numbers.
func wantedRows() []mutant.Row {
	var rows []mutant.Row
	for _, m := range statements {
		rows = append(rows, mutant.Row{Number: m.number, Name: m.name, Want: m.cases})
	}
	for _, d := range mutant.Defects() {
		rows = append(rows, mutant.Row{Number: d.Number, Name: d.Name, Want: d.Cases})
	}
	slices.SortStableFunc(rows, func(a, b mutant.Row) int { return cmp.Compare(a.Number, b.Number) })
	return append([]mutant.Row{{Name: noDefect}}, rows...)
}

// noDefect is the row of the switch as it is.
const noDefect = "no defect"

// TestMatrix: the matrix that is in the program has the defects and cases that there are, and in it each defect is
// caught by the cases that are there for it. With MATRIX=write it is played and written anew.
func TestMatrix(t *testing.T) {
	if os.Getenv(writeMatrix) == "write" {
		playMatrix(t)
		return
	}
	m, err := mutant.Read()
	if err != nil {
		t.Fatal(err)
	}
	const anew = "; make mutants writes it anew"
	var ids []string
	for _, c := range conform.Cases() {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(m.Cases, ids) {
		t.Errorf("matrix.tsv has the cases %v, want %v%s", m.Cases, ids, anew)
	}
	want := wantedRows()
	for i := range want {
		if i >= len(m.Defects) || m.Defects[i].Number != want[i].Number || m.Defects[i].Name != want[i].Name || !slices.Equal(m.Defects[i].Want, want[i].Want) {
			t.Errorf("matrix.tsv: row %d is not that of %d %s, %v%s", i+2, want[i].Number, want[i].Name, want[i].Want, anew)
		}
	}
	if len(m.Defects) > len(want) {
		t.Errorf("matrix.tsv has %d defects, want %d%s", len(m.Defects), len(want), anew)
	}
	for i := range m.Defects {
		r := &m.Defects[i]
		caught := m.Caught(r)
		for _, id := range r.Want {
			if slices.Contains(ids, id) && !slices.Contains(caught, id) {
				t.Errorf("%d %s: %s did not catch it", r.Number, r.Name, id)
			}
		}
		if r.Number == 0 && len(caught) > 0 {
			t.Errorf("without a defect %v fail", caught)
		}
	}
	if text, err := os.ReadFile("matrix.tsv"); err != nil || string(text) != m.Text() {
		t.Errorf("matrix.tsv does not come out as it was read: %v", err)
	}
}

// playMatrix plays every case by itself with every defect.
func playMatrix(t *testing.T) {
	testkit.Need(t, "go")
	program := buildMutants(t)
	m := mutant.Matrix{Defects: wantedRows()}
	for _, c := range conform.Cases() {
		m.Cases = append(m.Cases, c.ID)
	}
	byFrames := map[string]mutant.Defect{}
	for _, d := range mutant.Defects() {
		byFrames[d.Name] = d
	}
	var work sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i := range m.Defects {
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			r := &m.Defects[i]
			if d, ok := byFrames[r.Name]; ok {
				for _, id := range m.Cases {
					r.Results += letter(playCase(t, id, func(x dataplane.Machine) dataplane.Machine { return mutant.New(x, d) }).Result)
				}
			} else {
				r.Results = outcomes(t, program, r.Name, m.Cases)
			}
			t.Logf("%d %s: %v", r.Number, r.Name, m.Caught(r))
		})
	}
	work.Wait()
	if err := os.WriteFile("matrix.tsv", []byte(m.Text()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// letter is a result in a matrix.
func letter(r conform.Result) string { return string(r[0]) }

// outcomes are the letters of cases where a defect is alive. A case in which the program dies is an error: the
// defect made the switch panic.
func outcomes(t *testing.T, program, defect string, ids []string) (letters string) {
	for len(letters) < len(ids) {
		run := exec.Command(program, "-test.run", "^TestMutants$", "-test.v")
		run.Env = append(os.Environ(), alive+"="+defect, played+"="+strings.Join(ids[len(letters):], ","))
		said, err := run.CombinedOutput()
		was := len(letters)
		for line := range strings.Lines(string(said)) {
			if text, ok := strings.CutPrefix(line, outcomeMark); ok {
				var o conform.Outcome
				if err := json.Unmarshal([]byte(text), &o); err != nil {
					t.Errorf("%s: %v", defect, err)
				}
				letters += letter(o.Result)
			}
		}
		if len(letters) < len(ids) {
			if err == nil && len(letters) == was {
				t.Errorf("%s: %s has no outcome\n%s", defect, ids[was], said)
			}
			letters += "e"
		}
	}
	return letters
}
