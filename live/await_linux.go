package live

import (
	"context"
	"errors"
)

// errAllThere ends a watch.
var errAllThere = errors.New("all interfaces are there")

// Await waits until this network namespace has had all interfaces of these names. The error
// is that of ctx if that ends first.
func Await(ctx context.Context, names []string) error {
	watch, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	there := map[string]bool{}
	err := watchNetlink(watch, here, names, func(s LinkState) {
		if s.Index == 0 {
			return // it is missing, or is gone again: opening it says so
		}
		there[s.Name] = true
		if len(there) == len(names) {
			stop(errAllThere)
		}
	})
	if context.Cause(watch) == errAllThere {
		return nil
	}
	return err
}
