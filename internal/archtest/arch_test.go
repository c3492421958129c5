// Package archtest holds the house rules that a compiler does not check, as tests:
// which package may import which, and what the pure packages must not do.
package archtest

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "softswitch"

// layers, lowest first. A package imports only lower layers, or a package of its
// own folder. pure packages are deterministic: see TestPure.
var layers = []struct {
	pure bool
	dirs []string
}{
	{true, []string{"unit"}},
	{true, []string{"pfcframe", "itsyhdr", "detect/clcm", "internal/ether", "internal/strictyaml", "internal/schema", "internal/graph", "internal/pacer"}},
	{true, []string{"buffer", "topo"}},
	{false, []string{"link", "internal/timer", "internal/control"}},
	{true, []string{"detect"}},
	{true, []string{"event", "detect/respond"}},
	{false, []string{"event/eventlog"}},
	{true, []string{"dataplane"}},
	{true, []string{"host", "oracle"}},
	{true, []string{"host/nic"}},
	{true, []string{"scenario/config"}},
	{true, []string{"scenario", "scenarios", "event/replay", "view/wireshark"}},
	{false, []string{"live", "netns-lab", "internal/decode", "view/observe"}},
	{true, []string{"sim"}},
	{false, []string{"lab", "view/metrics", "compare", "internal/bench"}},
	{false, []string{"view/ui"}},
	{false, []string{"cmd/softswitch"}},
}

// strangers must not know each other, whatever their layers.
var strangers = [][2]string{{"pfcframe", "itsyhdr"}, {"link", "buffer"}, {"oracle", "dataplane"}}

// bannedImports of pure packages. Of net only netip, of io only io itself.
var bannedImports = []string{"net", "os", "sync", "sync/atomic", "math/rand", "math/rand/v2", "crypto/rand", "context", "syscall", "unsafe", "log"}

// allowedImports are exceptions with their reasons.
var allowedImports = map[string]string{
	"buffer unsafe":                 "size of a structure",
	"detect/deadlockbreaker unsafe": "size of a structure",
	"detect/itsy unsafe":            "size of a structure",
	"detect/itsypaper unsafe":       "size of a structure",
	"detect/loopbreaker unsafe":     "size of a structure",
	"detect/stall unsafe":         "size of a structure",
	"detect/watchdog unsafe":        "size of a structure",
	"sim math/rand/v2":              "streams made from the seed",
	"sim/fuzz math/rand/v2":         "cases made from the seed",
}

// bannedNames of package time: what reads a clock or starts a timer.
var bannedNames = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

func load(t *testing.T) []*packages.Package {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedFiles | packages.NeedDeps,
	}, module+"/...")
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

// layerOf is the layer of a package of this module, by its folder or a folder
// above it.
func layerOf(dir string) (layer int, folder string) {
	for d := dir; d != "."; d = path.Dir(d) {
		for i, l := range layers {
			if slices.Contains(l.dirs, d) {
				return i, d
			}
		}
	}
	return -1, ""
}

func dirOf(importPath string) (string, bool) { return strings.CutPrefix(importPath, module+"/") }

func TestLayers(t *testing.T) {
	for _, p := range load(t) {
		dir, _ := dirOf(p.PkgPath)
		if strings.HasPrefix(dir, "internal/archtest") || strings.HasPrefix(dir, "internal/test") {
			continue
		}
		own, folder := layerOf(dir)
		if own < 0 {
			t.Errorf("package %s is in no layer: add it to layers", dir)
			continue
		}
		for imp := range p.Imports {
			to, ok := dirOf(imp)
			if !ok {
				continue
			}
			if strings.HasPrefix(to, "internal/test") {
				t.Errorf("package %s imports %s, which is for tests", dir, to)
			}
			if l, f := layerOf(to); f != folder && l >= own {
				t.Errorf("package %s imports %s: layer %d imports layer %d", dir, to, own, l)
			}
			for _, s := range strangers {
				if s == [2]string{dir, to} || s == [2]string{to, dir} {
					t.Errorf("package %s imports %s: they are not to know each other", dir, to)
				}
			}
		}
	}
}

// TestPure keeps the core deterministic: its packages read no clock, start no
// goroutine, take no lock, use no channel, range over no map and draw no random
// number, so that a simulation gives the same result each time and everywhere.
func TestPure(t *testing.T) {
	for _, p := range load(t) {
		dir, _ := dirOf(p.PkgPath)
		l, _ := layerOf(dir)
		if l < 0 || !layers[l].pure {
			continue
		}
		for _, f := range p.Syntax {
			checkPure(t, p, dir, f)
		}
	}
}

func checkPure(t *testing.T, p *packages.Package, dir string, f *ast.File) {
	bad := func(n ast.Node, what string) { t.Errorf("%s: %s in a pure package", p.Fset.Position(n.Pos()), what) }
	for _, imp := range f.Imports {
		name, _ := strconv.Unquote(imp.Path.Value)
		if slices.Contains(bannedImports, name) && allowedImports[dir+" "+name] == "" {
			bad(imp, "import of "+name)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			bad(n, "a goroutine")
		case *ast.ChanType:
			bad(n, "a channel")
		case *ast.RangeStmt:
			if _, isMap := p.TypesInfo.TypeOf(n.X).Underlying().(*types.Map); isMap {
				bad(n, "a range over a map")
			}
		case *ast.SelectorExpr:
			if obj := p.TypesInfo.Uses[n.Sel]; obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "time" && slices.Contains(bannedNames, obj.Name()) {
				bad(n, "time."+obj.Name())
			}
		}
		return true
	})
}

// TestAlarm proves that the rules can fail: each canary breaks one of them.
func TestAlarm(t *testing.T) {
	if l, _ := layerOf("cmd/softswitch"); l != len(layers)-1 {
		t.Errorf("layerOf(cmd/softswitch) = %d", l)
	}
	if l, f := layerOf("detect/itsypaper"); f != "detect" || !layers[l].pure {
		t.Errorf("layerOf(detect/itsypaper) = %d, %q", l, f)
	}
	if l, _ := layerOf("nowhere"); l != -1 {
		t.Errorf("layerOf(nowhere) = %d", l)
	}
	low, _ := layerOf("buffer")
	high, _ := layerOf("live")
	if low >= high {
		t.Errorf("buffer (%d) is not below live (%d)", low, high)
	}
}
