// Package deadlockbreaker is Deadlock Breaker, of "Unlocking Credit Loop Deadlocks"
// (Shpiner, Zahavi, Zdornov, Anker, Kadosh), section 3.3: a message walks round a
// suspected loop and back to its start, and then once more, and on that second lap
// every switch makes room for the loop's frames, and for these alone, for some time.
//
//	     upstream                      this switch                      downstream
//
//	detection: path --> in    add (SPUID, out); out suspected,    out --> detection: path
//	                          and holds frames of in
//
//	with an own SPUID:        Report; from here on: release
//
//	release: path  --> in     Restrict(in, out), Extra(in)        out --> release: path
//	                          until the time is over                      index + 1
//
// Detection. A queue that package stall suspects sends, at once and in every period,
// a path that begins with itself. Whoever gets a path adds one of its suspected queues
// that hold frames of the port by which it came, a random one if there are several. A
// switch that finds itself in the path has found a loop: from its own hop on. What lies
// before is a way that leads into the loop.
//
// Release. The switch that found the loop is the first hop of the second lap. At each
// hop the egress lets only frames of the loop's ingress out, and the ingress bucket is
// given as much extra threshold as makes it resume, and an MTU more: Charged - XON + MTU. So no frame is lost
// and none is pushed: the pauses end, hop by hop. The paper leaves the time to the
// operator; here it is 32 hops (detect.View.Hop). Then both are taken back, and if the
// loop locks again, all of this begins again.
//
// Read in this order: detector.go (the state and the events), walk.go (the first lap),
// release.go (the second lap, and its end).
//
// Invariants:
//   - lossless: an action is room in the shared pool or an order among frames;
//     where the pool has too little, nothing is done;
//   - one release a bucket and queue: while one is in force, others change nothing;
//   - each ends: what was restricted is freed and extra thresholds end when their time is over;
//   - a nonce is released once: a release that was seen before is dropped, and counted by
//     the switch.
//
// What it does not do, as the paper does not. It does not remove the loop, which locks
// again while the flows last; it moves it on. It handles one loop through a bucket or a
// queue at a time. Every switch of a loop finds it by its own messages: those that do
// at nearly the same time all report it, though the release of the first has ended the
// deadlock when the others do. And the second lap trusts the first: a loop that was
// false, because what was seen hop by hop was never true at once, is released as well.
package deadlockbreaker
