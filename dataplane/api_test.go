package dataplane

import (
	"reflect"
	"testing"

	"softswitch/detect"
)

// Whoever holds a switch may look and drive, and not act: what its detector may do, the
// detector alone is given. And it stays a type whose methods can be read at once.
func TestWhoeverHoldsASwitchMayNotAct(t *testing.T) {
	s := reflect.TypeFor[*Switch]()
	for _, of := range []reflect.Type{reflect.TypeFor[detect.View](), reflect.TypeFor[detect.Actions](), reflect.TypeFor[detect.Control]()} {
		if s.Implements(of) {
			t.Errorf("%v implements %v", s, of)
		}
	}
	for m := range reflect.TypeFor[detect.Control]().Methods() {
		if _, has := s.MethodByName(m.Name); has {
			t.Errorf("%v has the method %s of detect.Control", s, m.Name)
		}
	}
	if n := s.NumMethod(); n > 35 {
		t.Errorf("%v has %d exported methods, want at most 35", s, n)
	}
}
