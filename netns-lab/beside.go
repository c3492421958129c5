package netnslab

import (
	"errors"
	"sync"
)

// besideMax is how many things are done at a time where the kernel makes each wait, for
// milliseconds, until no CPU uses what it takes away.
const besideMax = 64

// beside does n things side by side and returns all errors.
func beside(n int, do func(i int) error) error {
	errs := make([]error, n)
	var work sync.WaitGroup
	slots := make(chan struct{}, besideMax)
	for i := range n {
		slots <- struct{}{}
		work.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	work.Wait()
	return errors.Join(errs...)
}
