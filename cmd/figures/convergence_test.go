package main

import (
	"testing"

	"softswitch/internal/testkit"
)

// With DCQCN four connections come to equal shares, and nobody pauses them: what the figure shows.
func TestConvergence(t *testing.T) {
	testkit.Docs(t)
	v, err := playControl("dcqcn", nil)
	if err != nil {
		t.Fatal(err)
	}
	none, err := playControl("none", nil)
	if err != nil {
		t.Fatal(err)
	}
	if j := jain(v); j < 0.98 || v.PFC.XOFF*100 > none.PFC.XOFF {
		t.Errorf("Jain's index %.3f, %d pauses; without control %d", j, v.PFC.XOFF, none.PFC.XOFF)
	}
}
