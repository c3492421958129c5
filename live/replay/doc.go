// Package replay is the recording of a live node: every call of its machine, in the
// order in which they were made under the node's lock, and every event that resulted.
// Repeating the calls must give the same events, because a machine depends on nothing
// else. So a fault that showed up once can be examined as often as you like.
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
// where v is an unsigned varint, t the time in nanoseconds since the last entry that
// has one, also a v, and p a port, one byte:
//
//	L  p, v slots                                    Lend, of at most this many slots
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
// Of a received frame the first Keep bytes are kept, of what a machine reads to its end all. What
// lies further a router copies into an ICMP error, and nothing depends on it.
//
// Read in this order: Header and Encoder (encode.go), decode.go, Play (play.go),
// request.go.
//
// Invariants:
//   - complete: an Encoder gets everything that a machine can know, so a recording can
//     be played without the links and the clock that it was made with;
//   - bounded: for a damaged file Play returns an error; it does not panic, or use more
//     memory than the file's length justifies;
//   - first difference: Play stops there, because later differences follow from it.
//
// What it does not do: it opens no file and reads no clock; package live/record makes the
// recordings.
package replay
