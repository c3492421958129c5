package sim

import (
	"testing"
	"unsafe"
)

// A port that straddles a third cache line is a slower simulator.
func TestPortFillsTwoCacheLines(t *testing.T) {
	if n := unsafe.Sizeof(port{}); n != 128 {
		t.Errorf("a port has %d bytes, want 128: change its padding", n)
	}
}
