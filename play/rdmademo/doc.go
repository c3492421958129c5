// Package rdmademo demonstrates a deadlock of real RDMA programs: ib_write_bw in three guests, in a ring of
// three switches that locks. No program says a word, until the switches cure it and all of them end.
//
//	guest h1 --> s1 --> s2 --> s3 --> guest h3, and so on round the ring
//
// Invariants:
//   - the lab, with its guests, is gone when Play returns;
//   - a program that has not ended with 0 is a reason why it went wrong.
package rdmademo
