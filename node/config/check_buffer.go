package config

import (
	"fmt"
	"math"

	"softswitch/internal/strictyaml"
)

// checkBuffer adds the faults of b, which is filled in, to d. It warns of an XON without
// effect.
//
// With an mtu above the usual one the headroom has to hold a frame of the usual one, and one of
// the longest frames, which the upstream is in the midst of when the pause comes.
func checkBuffer(d *strictyaml.Doc, b *Buffer, mtu int) (warnings []string) {
	checkHeadroom(d, b)
	if b.Slack != nil {
		d.Within("buffer.slack", *b.Slack, 0, mostBytes-min(*b.XOFF, mostBytes))
	}
	switch {
	case b.StaticTh != nil && b.DynamicTh != nil:
		d.Faultf("buffer.dynamic_th", "%d, and static_th is %d: use one of the two", *b.DynamicTh, *b.StaticTh)
	case b.StaticTh != nil:
		d.Within("buffer.static_th", *b.StaticTh, 0, max(b.Pool, 0))
	}
	if d.Faulty("buffer") {
		return nil
	}
	lowest, highest := b.thresholds()
	if *b.XON >= highest {
		d.Faultf("buffer.xon", "%d bytes, and a priority group pauses at %d: it would resume before it pauses; use 0 to %d", *b.XON, highest, highest-1)
		return nil
	}
	usual, longest := MaxFrame(DefaultMTU), MaxFrame(mtu)
	if mtu > DefaultMTU && *b.XOFF < usual+longest {
		d.Faultf("buffer.xoff", "%d bytes of headroom do not hold a frame of %d and one of %d, as the mtu is %d: use %d to %d", *b.XOFF, usual, longest, mtu, usual+longest, mostBytes)
		return nil
	}
	if least := lowest - *b.XONOffset; *b.XON > 0 && !b.XONCounts() {
		warnings = append(warnings, d.At("buffer.xon", fmt.Sprintf("%d bytes have no effect with these thresholds: a priority group resumes at XOFF threshold - xon_offset already, %d - %d = %d or more",
			*b.XON, lowest, *b.XONOffset, least)).String())
	}
	return warnings
}

// XONCounts reports whether a priority group may resume by XON, and not by XONOffset alone, in a b that is
// filled in.
func (b Buffer) XONCounts() bool {
	lowest, _ := b.thresholds()
	return *b.XON >= lowest-*b.XONOffset
}

// XOFFThreshold is at how many bytes a priority group pauses its upstream: with a dynamic threshold,
// one that is alone in the pool. Where dynamic_th is not valid it is the greatest number.
func (b Buffer) XOFFThreshold() int {
	if n := b.DynamicTh; n != nil && (*n < -8 || *n > 8) {
		return math.MaxInt
	}
	_, highest := b.thresholds()
	return highest
}

// thresholds returns the lowest and the highest XOFF threshold of a priority group in bytes. A
// static one is always size + static_th. A dynamic one follows the free shared bytes:
// down to size in a full pool, and up to where one priority group alone fills the pool: held =
// alpha x (pool - held), that is alpha/(1+alpha) of the pool.
func (b *Buffer) thresholds() (lowest, highest int) {
	if b.StaticTh != nil {
		return b.Size + *b.StaticTh, b.Size + *b.StaticTh
	}
	up, down := 1, 1 // alpha = up/down
	if n := *b.DynamicTh; n >= 0 {
		up = 1 << n
	} else {
		down = 1 << -n
	}
	return b.Size, b.Size + int(int64(b.Pool)*int64(up)/int64(up+down))
}
