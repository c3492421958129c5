package stat

import "reflect"

// Add adds to each whole number of the struct that sum points to the one of the same name and type in the
// struct that more points to, if there is one, and to structs in it likewise.
func Add(sum, more any) {
	s, m := reflect.ValueOf(sum).Elem(), reflect.ValueOf(more).Elem()
	for i := range s.NumField() {
		a, b := s.Field(i), m.FieldByName(s.Type().Field(i).Name)
		switch {
		case !b.IsValid() || a.Type() != b.Type():
		case a.CanInt():
			a.SetInt(a.Int() + b.Int())
		case a.CanUint():
			a.SetUint(a.Uint() + b.Uint())
		case a.Kind() == reflect.Struct:
			Add(a.Addr().Interface(), b.Addr().Interface())
		}
	}
}
