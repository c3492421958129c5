package scenario

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

var known = Known{Detectors: []string{"itsypaper", "itsy"}, Responses: []string{"drop"}}

// TestFaults reads each testdata/*.yaml and compares all its faults, and those
// of its compilation, with the golden file beside it.
func TestFaults(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.yaml")
	if len(files) == 0 {
		t.Fatal("no files in testdata")
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Parse(filepath.Base(f), data, known)
			if err == nil {
				_, err = Compile(s)
			}
			if err == nil {
				t.Fatal("no fault")
			}
			golden := strings.TrimSuffix(f, ".yaml") + ".golden"
			if *rewrite {
				if err := os.WriteFile(golden, []byte(err.Error()+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, readErr := os.ReadFile(golden)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if got := err.Error() + "\n"; got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, dir := range []string{"testdata", "../scenarios"} {
		files, _ := filepath.Glob(dir + "/*.yaml")
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("fuzz.yaml", data, known)
		if err != nil || len(s.Fabric.Nodes) > 200 {
			return
		}
		p, err := Compile(s)
		if err != nil {
			return
		}
		checkPlan(t, p)
	})
}
