// Package beside does things side by side, and keeps the error of each.
//
// What it does not do: it stops at no error, and shows nothing; packages errgroup and progress do.
package beside

import "golang.org/x/sync/errgroup"

// Each calls do for 0 to n-1, at most limit at a time (-1: all), and returns the errors when all are done.
func Each(limit, n int, do func(i int) error) []error {
	errs := make([]error, n)
	var group errgroup.Group
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	group.Wait()
	return errs
}
