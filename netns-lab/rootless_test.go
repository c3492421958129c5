package netnslab

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"
)

// A command that ctx kept from beginning has no status, and one that it ended has.
func TestOutcome(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Rootless(ctx, nil, []string{"true"}, Stdio{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Rootless when ctx has ended: %v, want %v", err, context.Canceled)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sleep", "60")
	if status, err := outcome(ctx, cmd, cmd.Run()); status != 128+9 || err != nil {
		t.Errorf("of a command that ctx ended: %d, %v", status, err)
	}
	cmd = exec.CommandContext(t.Context(), "sh", "-c", "exit 3")
	if status, err := outcome(t.Context(), cmd, cmd.Run()); status != 3 || err != nil {
		t.Errorf("of exit 3: %d, %v", status, err)
	}
}
