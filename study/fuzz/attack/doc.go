// Package attack plays cases in which strangers on links, and hosts, put control frames on the
// wires: forged, replayed, reflected and mutated ones. Each case is played with strict links and
// with links that authenticate nothing, with a detector and a response, and held against the
// oracle.
//
//	fuzz.New(seed, index, fuzz.Attack) --> Case --auth: strict--> Run --.
//	                                        '-----auth: off------> Run --+--> Report
//
// Read in this order: play.go (a case, and what went wrong in it), report.go (many cases).
//
// Invariants:
//   - the same case: both runs have the same fabric, traffic, wires and attacks;
//   - founded: an action of a response is founded once a deadlock was declared rightly in the
//     run; before that, it was taken on somebody's false word.
//
// What it does not do: it makes no attack (package fuzz does), and nobody in it has a key. What
// somebody with a key can do is in docs/security.md.
package attack
