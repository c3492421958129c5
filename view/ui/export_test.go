package ui

import (
	"context"
	"time"
)

// SetPatience sets for how long a client may take nothing, of a server that does not serve yet.
func (s *Server) SetPatience(d time.Duration) { s.patience = d }

// AwaitNoPage returns when no page is open, or with ctx's error.
func (s *Stream) AwaitNoPage(ctx context.Context) error {
	return s.await(ctx, func() bool { return s.pages == 0 })
}
