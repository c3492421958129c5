// Package buffer is a switch's shared memory: frame slots, the accounts of its
// memory management unit (MMU), and the queues.
//
//	          Pool.Get          MMU.Admit            Queue.Push
//	wire ---> Frame ----------> charged to --------> waits in ------> wire, Pool.Put
//	                            PG (in, priority)    queue (out, priority)
//	                            |  ^                            |
//	                     XOFF --'  '-- XON <------- MMU.Release-'
//
//	bytes of a priority group, the names as SONiC's buffer profile has them
//
//	0        size              size+static_th         +xoff
//	|reserved|     shared       |XOFF   headroom       |drop
//	                        ^XON = max(xon, XOFF threshold - xon_offset)
//
// Read in this order: Frame, Pool, Queue, then config.go: Profile, Config; mmu.go: MMU; headroom.go and
// platform.go: what a link needs.
//
// Invariants:
//   - conservation: the bytes of a priority group are the bytes of the frames charged to
//     it; the shared use is the sum of what each priority group has above its reserved
//     minimum and below its headroom;
//   - bound: a priority group holds at most its XOFF threshold (reserved + shared share) + headroom + slack
//     bytes;
//   - hysteresis: XOFF and XON of a priority group alternate; one that holds more than its XON threshold is XOFF
//     when it refuses a frame;
//   - held: M(b, q) counts what waits in q, without frames that have begun to leave.
//
// What it does not do: it reads no frame, picks no queue, sends no pause. It
// reads no clock and takes no lock: one machine owns it.
package buffer
