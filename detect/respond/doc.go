// Package respond acts on declared deadlocks: it breaks them, and handles their
// initial triggers so that they do not come back. It works for any detector that names
// a loop, live and simulated: New wraps the detector, and neither the detector nor the
// switch knows of it.
//
//	switch --- events ---> responder --- events ---> detector
//	   ^                    |   ^                       |
//	   |   Control, Send    |   '------ Report ---------|
//	   '--------------------'                           |
//	   '----------- Report, Repause, Send, Trace -------'
//
// A finding says that priority group b waits for queue q and that the wait comes round. The steps
// for one deadlock; claim, trigger, found, seal, bubble and reserve are messages:
//
//	claim     an election probe. It goes downstream, from q round the loop and home to b:
//	          everyone still waits, and no other switch acts. Where a priority group waits in several
//	          queues it tries the fullest first, and comes back if it finds no way home.
//	trigger   is flooded to the switch that has the initial trigger, which acts if it has
//	          itself paused another one for it. A host that
//	          pauses is not listened to any more, and its queue is made lossy; where
//	          a switch is congested, the flows that came in from hosts there are
//	          policed. Both end after a quiet time. The answer, found, comes back.
//	seal      isolates the loop. A second lap, by the way of the claim: every queue of the
//	          loop sends frames of the loop alone. Nothing new comes onto it until they have moved on.
//	break     drop:   frames of b in q, until b is at its XON threshold
//	          force:  as many, sent in spite of the pause. The next hop is asked for
//	                  room first, which it makes by an extra threshold (reserve), in steps
//	          bubble: a third lap. Each priority group gets an extra threshold and resumes
//	          A queue is released when no frame of the loop waits there, and extra
//	          thresholds end then; both, in any case, after a limited time.
//	turn      of the policy "cure": the turn that was declared, from b to q, is made
//	          lossy before the break, and of triggers hosts alone are handled. The switches of
//	          the loop watch their turns from then on, in all priorities. One by which a priority group
//	          of a switch begins to wait for switches is made lossy too, and frames are
//	          dropped until the priority group resumes: before a loop can close. A turn is lossless
//	          again when for a time it would have held nobody up; the watch ends some time
//	          after the last one
//	support   where the trigger is handled each priority group is given room as by a bubble, after a
//	          drop or a force too, as far as there is reserve; and keeps it as long as
//	          a flow is policed. So the loop does not close again.
//	hold      the priority group takes no further action for a while. A deadlock that is
//	          declared meanwhile waits.
//
// The trigger comes before the break: as long as the deadlock stands, the frames of
// those who caused it wait where they can be counted.
//
// Claims are ordered by who sent them. Of two that meet in a priority group, the greater goes
// on; the owner of the smaller waits for the hold-down, and looks again. So a deadlock
// that two switches declare is broken by one.
//
// Read in this order: policy.go, respond.go (the wrapper), attempt.go (the steps
// above), claim.go (the first lap), breaking.go, isolate.go (the seal, extra thresholds),
// search.go (who has the trigger), cure.go (what is done about it), turns.go (lossy turns).
//
// Invariants:
//   - nothing destructive without a claim that came home, here or, of what is watched, lately;
//   - everything is taken back: an extra threshold, a restriction, a policer, a lossy queue and a
//     lossy turn each have a time at which they end;
//   - not inside the detector: a finding is noted, and acted on at the next Tick;
//   - nothing that a host sends is believed;
//   - a second fact: what is isolated, lent, policed or made lossy because of a message rests on what
//     this switch sees of its own queues as well;
//   - every action that was wanted and not taken is refused with its reason.
//
// What it does not do: it detects nothing, and changes no route. A lap is a check of
// each hop at the time it passes, not a proof that all waited at once: that is the
// detector's. The reserve of a switch is its shared pool. Flows are told apart by the
// hash of their 5-tuple.
package respond
