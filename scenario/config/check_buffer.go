package config

import (
	"fmt"

	"softswitch/internal/strictyaml"
)

// checkBuffer adds what is wrong with b, which is filled, to d, and warns of a headroom
// that loses frames.
func checkBuffer(d *strictyaml.Doc, b *Buffer) (warnings []string) {
	const most = 1 << 30
	ok := within(d, "buffer.pool", "bytes", b.Pool, 1, most)
	ok = within(d, "buffer.size", "bytes", b.Size, 1, most) && ok
	ok = within(d, "buffer.xon", "bytes", *b.XON, 0, most) && ok
	ok = within(d, "buffer.xon_offset", "bytes", *b.XONOffset, 0, most) && ok
	ok = within(d, "buffer.xoff", "bytes", *b.XOFF, 0, most) && ok
	ok = within(d, "buffer.lossy_queue", "bytes", *b.LossyQueue, 0, most) && ok
	switch {
	case b.StaticTh != nil && b.DynamicTh != nil:
		d.Faultf("buffer.dynamic_th", "%d, and static_th is %d: use one of the two", *b.DynamicTh, *b.StaticTh)
		return nil
	case b.StaticTh != nil:
		ok = within(d, "buffer.static_th", "bytes", *b.StaticTh, 0, max(b.Pool, 0)) && ok
	default:
		ok = within(d, "buffer.dynamic_th", "exponent", *b.DynamicTh, -7, 3) && ok
	}
	if !ok {
		return nil
	}
	highest := b.highestThreshold()
	if *b.XON > highest {
		d.Faultf("buffer.xon", "%d bytes, above the XOFF threshold of %d: a bucket would resume before it pauses; use 0 to %d", *b.XON, highest, highest)
		return nil
	}
	if *b.XOFF < maxFrame {
		warnings = append(warnings, d.At("buffer.xoff", fmt.Sprintf("%d bytes of headroom do not hold a frame of %d: lossless frames can be lost before the upstream is told to stop", *b.XOFF, maxFrame)).String())
	}
	return warnings
}

// highestThreshold is the highest XOFF threshold of a bucket in bytes. A static one is
// size + static_th. A dynamic one follows the free shared bytes; it is highest where a
// bucket alone fills the pool: held = alpha x (pool - held), so alpha/(1+alpha) of the
// pool.
func (b *Buffer) highestThreshold() int {
	if b.StaticTh != nil {
		return b.Size + *b.StaticTh
	}
	up, down := 1, 1 // alpha = up/down
	if n := *b.DynamicTh; n >= 0 {
		up = 1 << n
	} else {
		down = 1 << -n
	}
	return b.Size + int(int64(b.Pool)*int64(up)/int64(up+down))
}
