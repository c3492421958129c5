package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

func TestFloor(t *testing.T) {
	testkit.NeedRoot(t)
	r, err := Floor(t.Context(), FloorOptions{Program: self(t), Laps: 20, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for _, times := range []Times{r.Spaced, r.BackToBack} {
		// Four wakings of a process cannot take less than a microsecond.
		if times.Min < 1000 || times.Min > times.Median || times.Median > times.P90 || times.P90 > times.Max {
			t.Errorf("times %+v", times)
		}
	}
	if r.Hops != 4 || r.Laps != 20 {
		t.Errorf("%d laps of %d hops", r.Laps, r.Hops)
	}
}

func TestFloorRefuses(t *testing.T) {
	if _, err := Floor(t.Context(), FloorOptions{}); err == nil || !strings.Contains(err.Error(), "0 laps; valid: 1 and more") {
		t.Errorf("no laps: %v", err)
	}
}

func TestInterruptedFloor(t *testing.T) {
	testkit.NeedRoot(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Floor(ctx, FloorOptions{Program: self(t), Laps: 1000, Progress: io.Discard}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestFloorOfBrokenRing has relays that end at once.
func TestFloorOfBrokenRing(t *testing.T) {
	testkit.NeedRoot(t)
	_, err := Floor(t.Context(), FloorOptions{Program: "/bin/false", Laps: 1, Progress: io.Discard})
	if err == nil || !strings.Contains(err.Error(), "relay1 ended (exit status 1)") {
		t.Errorf("relays that end: %v", err)
	}
}
