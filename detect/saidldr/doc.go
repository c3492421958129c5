// Package saidldr is the PFC deadlock detection and recovery (DLDR) that SAI, the
// Switch Abstraction Interface, asks of a switch chip: a timer for each lossless queue,
// and nothing else. A queue that is XOFF for longer than the detection interval is
// assumed to be in a deadlock. Then, for the recovery interval, it honours no pause and
// all its packets are dropped, those that wait and those that come; and it is normal
// again, without a look at whether that helped.
//
//	 paused      resumed  paused                        still paused: the next pause frame
//	---+-----------+--------+-------------------+---------------+--------------> time
//	   |  not long enough   | detection         | recovery      |
//	                                            Report, Flush   Flush ends
//
// The words are those of SAI's headers, inc/saiswitch.h and inc/saiport.h:
// SAI_SWITCH_ATTR_PFC_TC_DLD_INTERVAL ("in XOFF state for more than this duration"),
// SAI_PORT_ATTR_PFC_TC_DLR_INTERVAL ("will run for this amount of time and then normal
// state will resume"; a deadlock that is still there is detected again after the
// detection interval) and SAI_SWITCH_ATTR_PFC_DLR_PACKET_ACTION, by default drop, of
// "buffered and incoming packets on queue". SAI has no default intervals. Here they are
// those of `pfcwd start_default`, which SONiC hands to the chip where its watchdog is the
// chip's (doc/pfcwd/pfc_hardware_recovery_hld.md): 200 ms each.
//
// Read in this order: Config, New, Pause and Resume, Tick; all in saidldr.go.
//
// Invariants:
//   - a queue is detected only if one pause, or several with no gap, was in force for all
//     of the detection interval;
//   - a queue in recovery is restored when the recovery interval is over, whatever came;
//   - the state is one time and one bit for each queue.
//
// What it gets wrong, because a timer is all it has: it knows neither bytes nor loops,
// so an empty queue in front of a host that pauses is a deadlock too, and so is every
// victim; a pause that flickers is none, though nothing may get through; the queues of a
// loop time out one after another, and each is emptied though the first may have been
// enough; and the same flows may close the loop again once the queues are back.
//
// Where it differs from a chip: the timer is exact, where a chip counts in steps of 1, 10
// or 100 ms (SAI_PORT_ATTR_PFC_TC_DLD_TIMER_INTERVAL).
//
// What it does not do: it sends nothing and hears no labels, and it has no action forward.
package saidldr
