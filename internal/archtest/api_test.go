package archtest

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// public are the packages that a detector in another module imports: to be one, to be
// played, and to be judged.
var public = []string{"detect", "itsyhdr", "unit", "scenario", "sim", "oracle", "oracle/verdict", "event"}

// forUs are exported names that only this module has a use for.
var forUs = map[string]string{
	"scenario.Format":   "the reference of the file, for gen docs",
	"scenario.ParseSet": "--set of the commands",
}

// TestPublicAPI: what the public packages export names no type that another module
// cannot import.
func TestPublicAPI(t *testing.T) {
	found := 0
	for _, p := range loaded(t) {
		if dir, _ := strings.CutPrefix(p.PkgPath, module+"/"); slices.Contains(public, dir) {
			found++
			for _, fault := range hidden(p.Types) {
				name, _, _ := strings.Cut(strings.TrimPrefix(fault, module+"/"), " ")
				if forUs[name] == "" {
					t.Error(fault)
				}
			}
		}
	}
	if found != len(public) {
		t.Errorf("%d of %d public packages were found", found, len(public))
	}
}

// TestPublicAlarm: each way to export a hidden type is seen, and what is not exported
// is not.
func TestPublicAlarm(t *testing.T) {
	world := newWorld(loaded(t))
	for text, want := range map[string]int{
		"var A ether.ARP":                                         1,
		"func F(m ether.ARP) {}":                                  1,
		"func F() []ether.ARP { return nil }":                     1,
		"type T struct{ M map[int]ether.ARP }":                    1,
		"type T struct{}; func (T) M(ether.ARP) {}":               1,
		"type T interface{ M() ether.ARP }":                       1,
		"type T = ether.ARP":                                      1,
		"var a ether.ARP":                                         0,
		"func F() { var m ether.ARP; _ = m }":                     0,
		"type T struct{ m ether.ARP }":                            0,
		"type t struct{ M ether.ARP }; func (t) N() {}":           0,
		"type T struct{}; func (T) m(ether.ARP) {}":               0,
		"type T struct{ Next *T }; func (t T) M() T { return t }": 0,
	} {
		src := world.compile(t, "canary", "canary.go", "package canary\nimport \"softswitch/internal/ether\"\nvar _ ether.ARP\n"+text)
		if got := hidden(src.types); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}

// hidden lists the exported names of a package in whose type one of an internal package
// stands.
func hidden(p *types.Package) (faults []string) {
	v := visitor{pkg: p, seen: map[types.Type]bool{}}
	for _, name := range p.Scope().Names() {
		if obj := p.Scope().Lookup(name); obj.Exported() {
			v.at = name
			v.visit(obj.Type())
		}
	}
	return v.faults
}

type visitor struct {
	pkg    *types.Package
	at     string
	seen   map[types.Type]bool
	faults []string
}

func (v *visitor) visit(t types.Type) {
	if v.seen[t] {
		return
	}
	switch t := t.(type) {
	case *types.Alias:
		v.visit(types.Unalias(t))
	case *types.Named:
		v.named(t)
	case *types.Struct:
		v.seen[t] = true
		for f := range t.Fields() {
			if f.Exported() {
				v.visit(f.Type())
			}
		}
	case *types.Interface:
		v.seen[t] = true
		for m := range t.Methods() {
			v.visit(m.Type())
		}
	case *types.Signature:
		v.tuple(t.Params())
		v.tuple(t.Results())
	case *types.Map:
		v.visit(t.Key())
		v.visit(t.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		v.visit(t.Elem())
	}
}

// named looks into types of the package itself; those of others it only names.
func (v *visitor) named(t *types.Named) {
	of := t.Obj().Pkg()
	if of != nil && strings.HasPrefix(of.Path(), module+"/internal/") {
		v.faults = append(v.faults, fmt.Sprintf("%s.%s names %s, which another module cannot import", v.pkg.Path(), v.at, t))
	}
	if of != v.pkg {
		return
	}
	v.seen[t] = true
	v.visit(t.Underlying())
	for m := range t.Methods() {
		if m.Exported() {
			v.visit(m.Type())
		}
	}
}

func (v *visitor) tuple(t *types.Tuple) {
	for x := range t.Variables() {
		v.visit(x.Type())
	}
}
