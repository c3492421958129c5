package stat

import "reflect"

// Add adds to each whole number of the struct that sum points to the one of the same name and type in the
// struct that more points to, if there is one, and to structs and arrays in it likewise.
func Add(sum, more any) { add(reflect.ValueOf(sum).Elem(), reflect.ValueOf(more).Elem()) }

func add(s, m reflect.Value) {
	switch {
	case s.CanInt():
		s.SetInt(s.Int() + m.Int())
	case s.CanUint():
		s.SetUint(s.Uint() + m.Uint())
	case s.Kind() == reflect.Array:
		for i := range s.Len() {
			add(s.Index(i), m.Index(i))
		}
	case s.Kind() == reflect.Struct:
		for i := range s.NumField() {
			if f := m.FieldByName(s.Type().Field(i).Name); f.IsValid() && f.Type() == s.Field(i).Type() {
				add(s.Field(i), f)
			}
		}
	}
}
