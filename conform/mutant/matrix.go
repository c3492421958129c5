package mutant

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// What became of each case with each defect: written by make mutants.
//
//go:embed matrix.tsv
var matrixText string

// Matrix is what becomes of cases with planted defects.
type Matrix struct {
	Format string `json:"format"` // "conform-mutants/1"
	// Cases are the IDs of those that were played, each by itself, on the switch of softswitch conform self.
	Cases   []string `json:"cases"`
	Defects []Row    `json:"defects"`
}

// Row is a defect, and what became of the cases.
type Row struct {
	// Number is that of the defect in the list of all: two that are alike have one. 0 is no defect.
	Number int    `json:"number"`
	Name   string `json:"name"`
	// Want are the cases that are there for it.
	Want []string `json:"want"`
	// Results are of each case a letter: one of the results', "p" for pass.
	Results string `json:"results"`
}

// Caught are the cases that failed.
func (m *Matrix) Caught(r *Row) (ids []string) {
	for i, id := range m.Cases {
		if r.Results[i] == 'f' {
			ids = append(ids, id)
		}
	}
	return ids
}

// Read is the matrix as it was written last.
func Read() (*Matrix, error) { return parse(matrixText) }

func parse(text string) (*Matrix, error) {
	m := &Matrix{Format: "conform-mutants/1"}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if n == 0 {
			m.Cases = strings.Fields(cells[len(cells)-1])
			continue
		}
		if len(cells) != 4 || len(cells[3]) != len(m.Cases) {
			return nil, fmt.Errorf("matrix.tsv:%d: %q: want number, name, cases and a letter for each of %d cases", n+1, line, len(m.Cases))
		}
		number, err := strconv.Atoi(cells[0])
		if err != nil {
			return nil, fmt.Errorf("matrix.tsv:%d: %w", n+1, err)
		}
		m.Defects = append(m.Defects, Row{number, cells[1], strings.Fields(cells[2]), cells[3]})
	}
	return m, nil
}

// Text is m as Read reads it.
func (m *Matrix) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "number\tdefect\tcases for it\t%s\n", strings.Join(m.Cases, " "))
	for _, r := range m.Defects {
		fmt.Fprintf(&b, "%d\t%s\t%s\t%s\n", r.Number, r.Name, strings.Join(r.Want, " "), r.Results)
	}
	return b.String()
}

// WriteText writes a row for each defect: a column a case, by groups, and the cases that are there for it.
func (m *Matrix) WriteText(w io.Writer) error {
	wide := len("no defect")
	for i := range m.Defects {
		wide = max(wide, len([]rune(m.Defects[i].Name)))
	}
	var b strings.Builder
	head := func(digit func(id string) string) {
		fmt.Fprintf(&b, "%2s  %-*s ", "", wide, "")
		m.columns(&b, digit)
		b.WriteString("\n")
	}
	head(func(id string) string { return id[:1] })
	head(func(id string) string { return id[1:2] })
	head(func(id string) string { return id[2:] })
	for i := range m.Defects {
		r := &m.Defects[i]
		fmt.Fprintf(&b, "%2d  %-*s ", r.Number, wide, r.Name)
		k := 0
		m.columns(&b, func(string) string {
			letter := r.Results[k : k+1]
			k++
			if letter == "p" {
				return "."
			}
			return strings.ToUpper(letter)
		})
		fmt.Fprintf(&b, "  %s\n", strings.Join(r.Want, " "))
	}
	b.WriteString("\nF: the case fails, and so finds the defect; .: it passes; U: undecided; S: skipped; E: error.\nLast in a row: the cases that are there for the defect.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// columns writes a letter for each case, with a space before each group.
func (m *Matrix) columns(b *strings.Builder, letter func(id string) string) {
	group := ""
	for _, id := range m.Cases {
		if id[:1] != group {
			group = id[:1]
			b.WriteString(" ")
		}
		b.WriteString(letter(id))
	}
}
