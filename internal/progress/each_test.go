package progress

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
)

// TestEach: everything is done once, however many workers there are.
func TestEach(t *testing.T) {
	for _, workers := range []int{1, 3, 200} {
		var calls [100]atomic.Int32
		if err := Each(context.Background(), io.Discard, "calls", len(calls), workers, func(i int) error {
			calls[i].Add(1)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Errorf("%d workers: %d was done %d times", workers, i, n)
			}
		}
	}
}

// TestEachEnds: an error ends it, and so does its context.
func TestEachEnds(t *testing.T) {
	fault := errors.New("fault")
	calls := 0
	err := Each(context.Background(), io.Discard, "calls", 100, 1, func(i int) error {
		if calls++; i == 3 {
			return fault
		}
		return nil
	})
	if !errors.Is(err, fault) || calls != 4 {
		t.Errorf("%v after %d calls, want %v after 4", err, calls, fault)
	}
	ctx, end := context.WithCancel(context.Background())
	err = Each(ctx, io.Discard, "calls", 100, 1, func(int) error {
		end()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}
