// Package archtest holds the house rules that a compiler does not check, as tests:
// which package may import which, what the pure packages must not do, that what stands
// beside the program of users is a program too, which it cannot link, and how comments begin.
//
//	ARCHITECTURE.md -> rooms ---.
//	rules_test.go --------------+-> check (one package) -> faults
//	all packages of the module -'
//
// Read in this order: rules_test.go (the rules), rooms_test.go (the rooms, which are the
// table in ARCHITECTURE.md), check_test.go (one package against the rules),
// alarm_test.go (a bad package for each rule), pages_test.go (the files that a page
// names), api_test.go (what another module imports).
package archtest

import (
	"go/ast"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"softswitch/internal/testkit"
)

const module = "softswitch"

// load reads the packages of the module from source, once, and what they import from
// the compiler's export data.
var load = sync.OnceValues(func() ([]*packages.Package, error) {
	return packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
	}, module+"/...")
})

func loaded(t *testing.T) []*packages.Package {
	t.Helper()
	testkit.Need(t, "go")
	pkgs, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 {
		t.Fatal("the module does not load")
	}
	if len(pkgs) < 15 {
		t.Fatalf("only %d packages were loaded", len(pkgs))
	}
	return pkgs
}

// TestRules checks every package of the module.
func TestRules(t *testing.T) {
	rules := newChecker(t)
	for _, p := range loaded(t) {
		dir, _ := strings.CutPrefix(p.PkgPath, module+"/")
		for _, fault := range rules.check(source{dir, p.Fset, p.Syntax, p.TypesInfo, p.Types}) {
			t.Error(fault)
		}
	}
}

// TestOneDoor: the file through which labs are changed is there, and does all that no other may.
func TestOneDoor(t *testing.T) {
	left := append(slices.Clone(doorMethods), doorRequests...)
	for _, p := range loaded(t) {
		for _, f := range p.Syntax {
			if !strings.HasSuffix(p.Fset.Position(f.Pos()).Filename, "/"+door) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					left = slices.DeleteFunc(left, func(m string) bool { return strings.HasSuffix(used(p.TypesInfo, sel), "."+m) })
				}
				return true
			})
		}
	}
	if len(left) > 0 {
		t.Errorf("%s does not order %q", door, left)
	}
}
