// Package replay is the recording of a live node: every call of its machine, in
// the order in which they were made under the node's lock, and every event that
// came of them. To repeat the calls must give the same events, because a machine
// depends on nothing else: this is how a fault that showed once can be looked at
// as often as one likes.
//
//	live node --calls--> Encoder --bytes--> file --Play--> a new machine
//	               events '                   '--events--> the same?
//
// A recording is
//
//	8   "SSWREC\r\n"
//	2   version, big-endian: Version
//	v+  header: its length, and a Header as JSON
//	    entries, each a letter and what it says below
//
// where v is an unsigned varint, t the time since the last entry that has one, in
// nanoseconds, a v too, and p a port, one byte:
//
//	L  p, v slots                                    Lend, of so many slots at most
//	R  t, p, v n, n x (v length, v kept, kept bytes) Receive
//	T  t, p, v room, v n, v next - now + 1, 0: never Transmit and what it returned
//	S  t, p, v n                                     Sent
//	K  t, p, 0 or 1                                  SetLink
//	M  p, 6 bytes                                    SetMAC
//	Q  t, v length, JSON                             Request, of a host
//	E  v length, lines                               the events that Work returned, as in
//	                                                 the node's log, if there were any
//	Z  0: the node ended; 1: the recorder had no room
//
// Of a received frame the first Keep bytes are kept, beyond which no machine looks.
//
// Read in this order: Header and Encoder (encode.go), decode.go, Play (play.go),
// request.go.
//
// Invariants:
//   - complete: what an Encoder was told is all that a machine can know, so a
//     recording needs neither the links nor the clock that it was made with;
//   - bounded: a damaged file makes Play return an error, not use memory that its
//     length does not explain, and not panic;
//   - first difference: Play stops there, since all that follows follows from it.
//
// What it does not do: it opens no file and reads no clock; package live/record makes the
// recordings.
package replay
