package ui

import "context"

// AwaitNoPage returns when no page is open, or with ctx's error.
func (s *Stream) AwaitNoPage(ctx context.Context) error {
	return s.await(ctx, func() bool { return s.pages == 0 })
}
