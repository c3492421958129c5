// Package clocks bounds when something happened by one machine's clock, given when it
// happened by another's. All it uses is frames: each one left at a time of one clock and
// arrived at a time of another, and it arrived after it left.
//
//	clock A  ----s----------r'-----x?----     o = B - A, the offset
//	              \        /
//	               v      /                   A to B: o is at most  r - s
//	clock B  ------r-----s'--------x-----     B to A: o is at least s' - r'
//
// Read in this order: Pair and Net (what is known, and what can be asked), edge.go (two
// clocks, and the least of a range).
//
// There are two kinds of bounds on the time of x by clock A. Those of causality need
// nothing but the frames: x is not before the sending of a frame that had reached B by then,
// and not after the arrival of a frame that B sent later. Those of the clocks assume that
// each clock keeps to its rate within MaxDrift; so what a frame says of the offset holds for
// some time before and after it, less by the drift.
//
// A clock may step: its rate is then anything for a moment. Frames before the step say
// nothing of the offset after it. So the frames before x and those after it bound x apart,
// and of the two intervals the hull is taken: if there was a single step within Window of
// x, one of the two is right. Where one of them is empty, its frames contradict each
// other: the step is there, and the other is right alone. Where both are, causality counts
// alone.
//
// Invariants:
//   - sound: the true time is within the bounds, if no clock goes back, drifts by more than
//     MaxDrift, or steps twice within 2 x Window, whatever the delays of the frames;
//   - causality: without any of this, but that no clock goes back, the bounds of Causal hold;
//   - later only loosens: a pair whose frame was sent later than the pair says is as good as
//     a frame that took longer.
//
// What it does not do: it knows no events, chooses no reference, and estimates nothing:
// there is no most likely time, only the earliest and the latest.
package clocks
