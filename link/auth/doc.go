// Package auth authenticates what two switches say to each other on a link: pauses, the
// labels on them, and messages. Each control frame carries a tag of 8 octets: the low 16 bits
// of a counter, and 48 bits of an AES-CMAC over the frame, the whole counter and a key of the
// link. A receiver believes a frame if the code is right and its counter above the last.
//
//	frame ──Sign──▶ tag ~~~ link ~~~▶ Open ──▶ Believed, or why not
//
//	hello: challenge (a nonce) ──▶        a far end that knows no counter, or has met a frame
//	       ◀── answer (the nonce)         that it cannot believe, asks for it
//	       ◀── notice (the last counter)  if a challenge is older than what was believed
//
// The split of the tag is that of AUTOSAR SecOC (a truncated freshness value beside a truncated
// code); the code is that of RFC 4493. docs/format/auth.md has the octets and a worked example.
//
// Read in this order: Mode, Config and Verdict (auth.go), Sign and Open (tag.go), hello.go
// (how the ends learn each other's counter), keys.go (the file of keys), cmac.go (the code), witness.go (who
// judges captures).
//
// Invariants:
//   - no guess: a frame is believed by its code and counter alone; a guess succeeds with 2^-48;
//   - no replay: a counter is believed once. After a restart nothing is believed before the far
//     end has answered a nonce of this life;
//   - no lock-out: an end that cannot believe asks, again and again until it is answered; once
//     it is, its far end says again what it has to say. Loss costs time, not the link;
//   - no reflection: a frame that bears this end's own address is not the far end's;
//   - no allocation, but in New; no clock: now comes in;
//   - no secret leaves: errors, logs and strings name links, never keys.
//
// It encrypts nothing, and protects no data frame: that is MACsec's (docs/macsec.md). What an end
// that has the key says is believed: docs/security.md has what lies can do.
package auth
