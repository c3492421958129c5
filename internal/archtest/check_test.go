package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source is a package that was parsed and type-checked.
type source struct {
	dir   string // below the module
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
	types *types.Package
}

// checker holds packages against the rules.
type checker struct{ rows []row }

// check lists what is wrong with p.
func (k checker) check(p source) (faults []string) {
	bad := func(n ast.Node, format string, args ...any) {
		faults = append(faults, fmt.Sprintf("%s: ", p.fset.Position(n.Pos()))+fmt.Sprintf(format, args...))
	}
	if k.rowOf(p.dir) == 0 {
		return []string{"package " + p.dir + " is in no room: add " + room(p.dir) + " to the table in ARCHITECTURE.md"}
	}
	if beside(p.dir) && p.types.Name() != "main" {
		faults = append(faults, "package "+p.dir+" is no program: what users have no use for is one beside "+users+", which so cannot link it")
	}
	for _, f := range p.files {
		for _, imp := range f.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			if to, ok := strings.CutPrefix(name, module+"/"); ok {
				if what := k.checkImport(p.dir, to); what != "" {
					bad(imp, "package %s imports %s%s", p.dir, to, what)
				}
			}
		}
		if k.pure(p.dir) {
			checkPure(p, f, bad)
		}
		if !forTests(p.dir) {
			checkFiles(p, f, bad)
			checkDoor(p, f, bad)
		}
		checkComments(f, bad)
	}
	return faults
}

// checkImport says what is wrong with an import within the module, "" for nothing.
func (k checker) checkImport(from, to string) string {
	if forTests(to) && !forTests(from) {
		return ", which is for tests"
	}
	if slices.Contains(strangers, [2]string{from, to}) || slices.Contains(strangers, [2]string{to, from}) {
		return ": they are not to know each other"
	}
	if a, b := k.rowOf(from), k.rowOf(to); room(from) != room(to) && b <= a && !forTests(from) {
		return fmt.Sprintf(": row %d imports row %d", a, b)
	}
	return ""
}

// checkPure keeps a file of the core deterministic: it reads no clock, starts no
// goroutine, takes no lock, uses no channel, goes through no map in the map's order
// and draws no random number, so that a simulation gives the same result each time
// and everywhere.
func checkPure(p source, f *ast.File, bad func(n ast.Node, format string, args ...any)) {
	for _, imp := range f.Imports {
		if name, _ := strconv.Unquote(imp.Path.Value); importBanned(p.dir, name) {
			bad(imp, "import of %s in a pure package", name)
		}
	}
	var sorted ast.Expr // the call within slices.Sorted
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			bad(n, "a goroutine in a pure package")
		case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
			bad(n, "a channel in a pure package")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				bad(n, "a channel in a pure package")
			}
		case *ast.RangeStmt:
			if what := unordered(p.info.TypeOf(n.X)); what != "" {
				bad(n, "a range over %s in a pure package", what)
			}
		case *ast.CallExpr:
			if name := used(p.info, n.Fun); name == "slices.Sorted" {
				if inner, ok := n.Args[0].(*ast.CallExpr); ok {
					sorted = inner.Fun
				}
			}
		case *ast.SelectorExpr:
			name := used(p.info, n)
			pkg, short, _ := strings.Cut(name, ".")
			if slices.Contains(bannedNames[pkg], short) && !(n == sorted && name == "maps.Keys") {
				bad(n, "%s in a pure package", name)
			}
		}
		return true
	})
}

// checkFiles has files made and opened for writing by package safefile alone.
func checkFiles(p source, f *ast.File, bad func(n ast.Node, format string, args ...any)) {
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			name := used(p.info, sel)
			pkg, short, _ := strings.Cut(name, ".")
			if pkg == "os" && slices.Contains(fileFunctions, short) && allowedFiles[p.dir+" "+name] == "" {
				bad(n, "%s: another user of the machine may say where that leads; use safefile.%s", name, short)
			}
		}
		return true
	})
}

// checkDoor has a lab changed in one file alone, and requests to nodes named in one package.
func checkDoor(p source, f *ast.File, bad func(n ast.Node, format string, args ...any)) {
	if room(p.dir) == "netns-lab" || p.dir == asker || p.dir == "live/hosting" { // agents and processes of nodes have requests of their own
		return
	}
	isDoor := p.dir+"/"+filepath.Base(p.fset.Position(f.Pos()).Filename) == door
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			name := used(p.info, n)
			order := isMethod(p.info, n.Sel) && slices.Contains(doorMethods, strings.TrimPrefix(name, module+"/netns-lab.")) ||
				slices.Contains(doorRequests, strings.TrimPrefix(name, module+"/"+asker+"."))
			if order && !isDoor {
				bad(n, "an order to a lab beside %s: %s", door, n.Sel.Name)
			}
		case *ast.CallExpr:
			if from := p.info.Uses[called(n.Fun)]; from == nil || from.Pkg() == nil || from.Pkg().Path() != module+"/internal/control" {
				return true
			}
			if i := slices.IndexFunc(n.Args, func(arg ast.Expr) bool {
				v := p.info.Types[arg].Value
				return v != nil && v.Kind() == constant.String
			}); i >= 0 {
				bad(n, "a request to a node is named beside %s: %v", asker, p.info.Types[n.Args[i]].Value)
			}
		}
		return true
	})
}

// checkComments has the comment of each exported identifier begin with its name and a verb.
func checkComments(f *ast.File, bad func(n ast.Node, format string, args ...any)) {
	check := func(name *ast.Ident, doc *ast.CommentGroup) {
		text := doc.Text() // "" if nothing or only a directive stands there
		if begins := commentBegins.FindStringSubmatch(text); text != "" && name.IsExported() && (begins == nil || begins[1] != name.Name) {
			bad(doc, "the comment of %s does not begin with its name and a verb in the present tense", name.Name)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			check(d.Name, d.Doc)
		case *ast.GenDecl:
			doc := d.Doc
			if d.Lparen.IsValid() {
				doc = nil // it is that of a group, and names nothing in it
			}
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					check(s.Name, cmp.Or(s.Doc, doc))
				case *ast.ValueSpec:
					check(s.Names[0], cmp.Or(s.Doc, doc))
				}
			}
		}
	}
}

// called is the name of what is called, nil if it has none.
func called(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return called(e.X)
	}
	return nil
}

func isMethod(info *types.Info, name *ast.Ident) bool {
	f, ok := info.Uses[name].(*types.Func)
	return ok && f.Signature().Recv() != nil
}

// used is the package and name of what an expression names, "" if that is of no
// package.
func used(info *types.Info, e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if obj := info.Uses[sel.Sel]; obj != nil && obj.Pkg() != nil {
		return obj.Pkg().Path() + "." + obj.Name()
	}
	return ""
}

// unordered says what t is if a range over it has an order of its own, or blocks.
func unordered(t types.Type) string {
	switch t := t.Underlying().(type) {
	case *types.Map:
		return "a map"
	case *types.Chan:
		return "a channel"
	case *types.Interface: // of a type parameter
		for i := range t.NumEmbeddeds() {
			if what := unorderedTerm(t.EmbeddedType(i)); what != "" {
				return what
			}
		}
	}
	return ""
}

func unorderedTerm(t types.Type) string {
	union, ok := t.(*types.Union)
	if !ok {
		return unordered(t)
	}
	for i := range union.Len() {
		if what := unordered(union.Term(i).Type()); what != "" {
			return what
		}
	}
	return ""
}
