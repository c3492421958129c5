package itsypaper

import (
	"testing"

	"softswitch/detect"
)

// BenchmarkFrame is what a frame through an uncongested port costs.
func BenchmarkFrame(tb *testing.B) {
	s := &stub{ports: 64, lossless: 1<<3 | 1<<4}
	d := New(s, s)
	b0, q := detect.PG{Port: 7, Priority: 3}, detect.Queue{Port: 5, Priority: 3}
	for tb.Loop() {
		d.Enqueue(0, b0, q, 0, 1)
		d.Empty(0, q)
	}
}
