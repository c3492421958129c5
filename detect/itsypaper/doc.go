// Package itsypaper is ITSY to the letter: "ITSY: Initial Trigger-Based PFC
// Deadlock Detection in the Data Plane" (Wu, Ng), sections III-A to III-D, as a
// detector of one switch. Where the text leaves a choice, the choice and its
// reason stand in docs/decisions/itsypaper.md. Where the text is wrong it is
// followed all the same: this package is the yardstick, not the remedy.
//
//	            downstream                 this switch                  upstream
//
//	  pause with {S,P,Seq}    port p: store {S,P,Seq}      next pause of i carries it
//	  or a message       ---->   traffic[p] = xi_p    ---> (Label), or a message goes
//	                             & pausing  = delta_p      out of i if i pauses already
//
//	lap 1  an initiator's id comes home to p, P in xi_p     causality loop
//	lap 2  the check finds r_p = 0 and the same id stored   deadlock, reported
//	       at every port that it reaches
//
// Labels travel against the traffic: from the switch that pauses to the one that
// is paused. A generic initiator is the initial trigger itself (trigger.go) or a
// middle switch, which sees one trigger's id at two ports (receive.go).
//
// Read in this order: detector.go (the events), state.go (all that is stored),
// label.go (the id and its form on the wire), trigger.go, receive.go, check.go.
//
// Invariants:
//   - traffic row: the bit (i, e) is set by a frame of i queued in e and cleared
//     only when e holds no lossless frame at all;
//   - latest stored: a port stores the label that reached it last, until the
//     pause there ends by a resume frame or by expiry;
//   - latest episode: an initiator's port answers to one Seq only, its newest;
//   - once an episode: one Seq of one port is reported at most once while the
//     port keeps pausing;
//   - bounded: one event asks for at most two messages per port; a label that a
//     port has sent on is not sent on again when it comes round, as far as a short
//     memory goes; a message crosses at most HopLimit links; a switch sends at most
//     16 messages per port in a millisecond.
//
// The last invariant is the only liberty taken with the text, in which a label
// whose initiator is off the loop circulates for ever, and doubles with every lap
// where two loops share a port. Everything else that the text gets wrong stays:
// bits instead of bytes, a bit that outlives its bytes, priorities ignored, the
// trigger decided by one packet, a label forgotten when its trigger resumes, equal
// reports taken for continuity, one label a port, nothing sent twice.
//
// What it does not do: it breaks no deadlock, and it repeats no lost label.
package itsypaper
