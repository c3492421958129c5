package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// counted matches a number and a plural behind it in a format, such as "%d flows" and "%d lossless frames". What is
// the larger part of a comparison, "of %d runs" and "at most %d links", is no count of what there is.
var counted = regexp.MustCompile(`(?:\b([a-z]+) )?(%d (?:([a-z-]+) )?([a-z-]+s))\b`)

// notCounted are words that end in s and are no plurals of things, or are units; bounds are words before a number that
// is a name or the whole of which others are a part, and between a number and a word that is not what is counted.
var (
	notCounted = strings.Fields("is was has as its this bytes ns us ms s less lossless pauses goes repeats begins acts sends keeps does comes fails plays address flags times packets datagrams minutes")
	bounds     = strings.Fields("of than most to the all likeliest first through takes group port queue priority host user seed with in at by that")
	refusals   = strings.Fields("Errorf Faultf faultf faultAt panic fail broke bad Sscanf doubt wrong fault damaged ChangeError Fault")
)

// TestPlurals wants numbers of things to be written by unit.Count in what people read of a result: "1 flow" and not
// "1 flows". Errors name a value that is wrong and its bounds, and are left alone.
func TestPlurals(t *testing.T) {
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for at, text := range plurals(f) {
			t.Errorf("%s: %q: use unit.Count", files.Position(at), text)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPluralsAlarm shows what TestPlurals finds, and what not.
func TestPluralsAlarm(t *testing.T) {
	const source = `package p
var _ = fmt.Sprintf("%d flows, %d old links")
var _ = x.line("in " + "%d lossless frames" + " or")
var _ = fmt.Errorf("%d switches: a ring has 3 to %d hosts")
var _ = fmt.Sprintf("%d of %d runs, %d bytes, priority %d is")`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, text := range plurals(f) {
		got = append(got, text)
	}
	slices.Sort(got)
	if want := []string{"%d lossless frames", "%d old links"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// plurals are the counts of things that f formats itself, by place; errors and panics aside.
func plurals(f *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !slices.Contains(refusals, name(n.Fun))
		case *ast.CompositeLit:
			return n.Type == nil || !slices.Contains(refusals, name(n.Type))
		case *ast.BasicLit:
			for _, m := range counted.FindAllStringSubmatch(n.Value, -1) {
				if !slices.Contains(notCounted, m[4]) && !slices.Contains(bounds, m[1]) && !slices.Contains(bounds, m[3]) {
					found[n.Pos()] = m[2]
				}
			}
		}
		return true
	})
	return found
}

// name is the last part of the name of a function.
func name(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}
