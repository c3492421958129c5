package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// world finds packages for the type checker: those of the module and what they import.
type world map[string]*types.Package

func newWorld(pkgs []*packages.Package) world {
	w := world{"unsafe": types.Unsafe}
	for _, p := range pkgs {
		for path, imp := range p.Imports {
			if imp.Types != nil {
				w[path] = imp.Types
			}
		}
	}
	for _, p := range pkgs {
		w[p.PkgPath] = p.Types
	}
	return w
}

// Import implements types.Importer.
func (w world) Import(path string) (*types.Package, error) {
	if p := w[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("nothing in the module imports %s", path)
}

// compile is a package of one file in dir.
func (w world) compile(t *testing.T, dir, name string, text any) source {
	t.Helper()
	src := source{dir: dir, fset: token.NewFileSet(), info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}}
	f, err := parser.ParseFile(src.fset, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	src.files = []*ast.File{f}
	if src.types, err = (&types.Config{Importer: w}).Check(module+"/"+dir, src.fset, src.files, src.info); err != nil {
		t.Fatal(err)
	}
	return src
}

// TestAlarm proves that each rule can fail: a package that breaks it.
func TestAlarm(t *testing.T) {
	rules, world := newChecker(t), newWorld(loaded(t))
	for _, c := range []struct{ what, dir, text, want string }{
		{"goroutine", "buffer", `func f() { go f() }`, "a goroutine"},
		{"channel", "buffer", `var c chan int`, "a channel"},
		{"send", "buffer", `func f(c testing.TB) { c.Context().Done(); <-c.Context().Done() }`, "a channel"},
		{"select", "buffer", `func f() { select {} }`, "a channel"},
		{"channel range", "buffer", `func f(c testing.TB) { for range c.Context().Done() {} }`, "a range over a channel"},
		{"map range", "buffer", `func f(m map[int]int) { for range m {} }`, "a range over a map"},
		{"named map range", "buffer", `type t map[int]int; func f(m t) { for range m {} }`, "a range over a map"},
		{"generic map range", "buffer", `func f[M ~map[int]int](m M) { for range m {} }`, "a range over a map"},
		{"maps.Keys", "buffer", `func f(m map[int]int) { for range maps.Keys(m) {} }`, "maps.Keys"},
		{"maps.Values", "buffer", `func f(m map[int]int) { for range maps.Values(m) {} }`, "maps.Values"},
		{"maps.All", "buffer", `func f(m map[int]int) { for range maps.All(m) {} }`, "maps.All"},
		{"maps.Keys of a name", "buffer", `func f(m map[int]int) { keys := maps.Keys(m); _ = keys }`, "maps.Keys"},
		{"collected", "buffer", `func f(m map[int]int) []int { return slices.Collect(maps.Keys(m)) }`, "maps.Keys"},
		{"sorted values", "buffer", `func f(m map[int]int) []int { return slices.Sorted(maps.Values(m)) }`, "maps.Values"},
		{"reflect MapRange", "buffer", `func f(v reflect.Value) { v.MapRange() }`, "reflect.MapRange"},
		{"reflect MapKeys", "buffer", `func f(v reflect.Value) { v.MapKeys() }`, "reflect.MapKeys"},
		{"reflect Seq", "buffer", `func f(v reflect.Value) { for range v.Seq() {} }`, "reflect.Seq"},
		{"clock", "buffer", `func f() { time.Now() }`, "time.Now"},
		{"clock as a value", "detect/itsy", `var now = time.Now`, "time.Now"},
		{"timer", "sim", `func f() { time.NewTimer(0) }`, "time.NewTimer"},
		{"lock", "buffer", `var m sync.Mutex`, "import of sync"},
		{"atomic", "buffer", `var m atomic.Bool`, "import of sync/atomic"},
		{"random number", "detect/itsy", `var n = rand.Int()`, "import of math/rand/v2"},
		{"below a banned import", "host", `var c http.Client`, "import of net/http"},
		{"another's exception", "pfcframe", `var n unsafe.Pointer`, "import of unsafe"},
		{"higher row", "buffer", `var s dataplane.Switch`, "buffer imports dataplane: row"},
		{"same row", "detect", `var f topo.Fabric`, "detect imports topo: row"},
		{"higher row, from deep below", "link/gso", `var p respond.Policy; var s scenario.Scenario`, "link/gso imports scenario: row"},
		{"a pure package of a room that is not", "link/auth", `var m sync.Mutex`, "import of sync"},
		{"strangers", "oracle", `var s dataplane.Switch`, "not to know each other"},
		{"strangers the other way", "itsyhdr", `var f pfcframe.Frame`, "not to know each other"},
		{"test package", "live", `var r = testkit.Seed`, "which is for tests"},
		{"test package of a folder", "live", `var s detecttest.Switch`, "which is for tests"},
		{"a file", "lab", `func f() { os.Create("x") }`, "use safefile.Create"},
		{"a file as a value", "live/node", `var write = os.WriteFile`, "use safefile.WriteFile"},
		{"another's exception to files", "live/node", `func f() { os.OpenFile("x", 0, 0) }`, "use safefile.OpenFile"},
		{"an instrument that can be imported", "cmd/figures", `var n int`, "is no program"},
		{"a link set beside the door", "view/ui", `func f(st *netnslab.State) { st.Fail(st.Links[0]) }`, "an order to a lab beside lab/orders.go: Fail"},
		{"a method beside the door", "lab", `var kill = (*netnslab.State).Kill`, "an order to a lab beside lab/orders.go: Kill"},
		{"a request beside the door", "play", `var stop = client.Stop`, "an order to a lab beside lab/orders.go: Stop"},
		{"a named request", "play", `func f(e control.Endpoint) { e.Call("start", nil, nil) }`, `a request to a node is named beside node/client: "start"`},
		{"a named request by its path", "view/ui", `func f(path string) { control.Call(path, "act", nil, nil) }`, `a request to a node is named beside node/client: "act"`},
		{"a request by a constant", "lab", `const do = "stats"; func f() { control.Get[int](control.Endpoint{}, do, nil) }`, `a request to a node is named beside node/client: "stats"`},
		{"a comment without the name", "unit", "// Gives one.\nfunc One() int { return 1 }", "the comment of One"},
		{"a comment of another name", "unit", "// Two is one.\nvar One = 1", "the comment of One"},
		{"a comment without a verb", "unit", "// Options of a run.\ntype Options int", "the comment of Options"},
		{"a comment with a colon", "unit", "const (\n// One: it is one.\nOne = 1\n)", "the comment of One"},
		{"a comment of a method", "internal/testkit", "type t int\n// Give one.\nfunc (t) Give() {}", "the comment of Give"},
		{"no room", "nowhere/below", `var n int`, "add nowhere to the table"},
	} {
		t.Run(c.what, func(t *testing.T) {
			faults := rules.check(world.compile(t, c.dir, "canary.go", withImports(c.text)))
			if len(faults) == 0 || !strings.Contains(strings.Join(faults, "\n"), c.want) {
				t.Errorf("%s\nfaults %q, want %q among them", c.text, faults, c.want)
			}
		})
	}
}

// usable are the packages that canaries use, by the name in them.
var usable = map[string]string{
	"testing": "testing", "maps": "maps", "slices": "slices", "reflect": "reflect", "time": "time", "sync": "sync", "atomic": "sync/atomic",
	"rand": "math/rand/v2", "os": "os", "http": "net/http", "unsafe": "unsafe", "netip": "net/netip", "dataplane": module + "/dataplane",
	"respond": module + "/detect/respond", "pfcframe": module + "/pfcframe", "testkit": module + "/internal/testkit",
	"client": module + "/node/client", "control": module + "/internal/control", "netnslab": module + "/netns-lab",
	"detecttest": module + "/detect/detecttest", "unit": module + "/unit", "scenario": module + "/scenario", "topo": module + "/topo",
}

// withImports is a file with the declarations text, which imports what it uses.
func withImports(text string) string {
	imports := ""
	for name, path := range usable {
		if strings.Contains(text, name+".") {
			imports += fmt.Sprintf("import %q\n", path)
		}
	}
	return "package canary\n" + imports + text
}

// TestNoFalseAlarm takes what is allowed: the loops of a pure package, its imports, and
// the detector that others begin from.
func TestNoFalseAlarm(t *testing.T) {
	rules, world := newChecker(t), newWorld(loaded(t))
	skeleton, err := os.ReadFile("../../examples/detector/patience.go")
	if err != nil {
		t.Fatal(err)
	}
	if faults := rules.check(world.compile(t, "detect/patience", "patience.go", skeleton)); len(faults) > 0 {
		t.Errorf("examples/detector: faults %q, want none", faults)
	}
	for _, c := range []struct{ dir, text string }{
		{"buffer", `func f(m map[int]int) { for range slices.Sorted(maps.Keys(m)) {} }`},
		{"buffer", `func f(set unit.PortSet) { for ; !set.Empty(); set.Pop() {} }`},
		{"buffer", `func f(n int, s []int) { for range n {}; for range s {} }`},
		{"buffer", `func f(m map[int]int) map[int]int { clear(m); return maps.Clone(m) }`},
		{"buffer", `func f[S ~[]int](s S) { for range s {} }`},
		{"buffer", `var a netip.Addr; var d time.Duration; var n unsafe.Pointer`},
		{"detect/itsy", `var s unit.PortSet; var n unsafe.Pointer`},
		{"live", `func f(m map[int]int) { for range m { go f(m) } }`},
		{"link/impair", `var n = rand.New(nil)`},
		{"sim", `var s scenario.Scenario`},
		{"link", `var m sync.Mutex`},
		{"event/follow", `func f() { go f() }`},
		{"lab", `func f() { os.Open("x"); os.OpenFile("x", 0, 0) }`},
		{"unit", "// One gives one.\nfunc One() int { return 1 }\n// two: it is two.\nfunc two() {}\nvar Three = 3"},
		{"unit", "// The A is\n// one.\ntype A int\n// Bs are, in a way, two.\ntype Bs int"},
		{"unit", "// Numbers.\nconst (\nOne = 1\n// Two\n// may be two.\nTwo = 2\n)"},
		{"view/ui", `func f(st *netnslab.State, e control.Endpoint) { st.Remove(nil); client.Keys(e) }`},
	} {
		if faults := rules.check(world.compile(t, c.dir, "canary.go", withImports(c.text))); len(faults) > 0 {
			t.Errorf("%s: %s\nfaults %q, want none", c.dir, c.text, faults)
		}
	}
}
