// Package congestion is what an end host does so that switches need not pause it: DCQCN
// and TIMELY, one small state machine per flow.
//
//	sender                         switch                       receiver
//	Reaction.Rate ---- frames ---> marks what meets a queue --> Notification.Marked
//	   ^                                                              |
//	   '-- Reaction.CNP <------- congestion notification packet <-----' at most one an interval
//
//	sender                                                      receiver
//	Timely.Rate ------ frames --------------------------------> acknowledges them
//	   ^                                                              |
//	   '-- Timely.Acked(round-trip time) <----------------------------'
//
// Read in this order: dcqcn.go (parameters and their profiles), reaction.go (the sender,
// and the receiver that notifies it), timely.go.
//
// Invariants:
//   - lazy: nobody has to run a timer. What its timers would have done by now is done, in
//     the order of their times, when a flow is asked or told something (Reaction.run); that
//     this comes late, early or often changes no rate;
//   - bounded: however long nobody asked, what there is to do ends where a tick would
//     change nothing more (Reaction.run);
//   - the same numbers everywhere: integers and fixed point, no float;
//   - bounds: a rate is at least the parameters' minimum and at most the line's rate;
//   - no allocation: a flow's state is a value, for an array of flows.
//
// What it does not do: it neither sends nor paces, and knows no frame. Who marks is the
// switch: package dataplane.
package congestion
