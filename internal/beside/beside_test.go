package beside

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		odd := errors.New("odd")
		var now, most atomic.Int32
		errs := Each(3, 7, func(i int) error {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			if i%2 == 1 {
				return odd
			}
			return nil
		})
		if want := []error{nil, odd, nil, odd, nil, odd, nil}; !slices.Equal(errs, want) {
			t.Errorf("got %v, want %v", errs, want)
		}
		if most.Load() != 3 {
			t.Errorf("%d at a time, want 3", most.Load())
		}
	})
	if errs := Each(1, 0, nil); len(errs) != 0 {
		t.Errorf("of nothing: %v", errs)
	}
}
