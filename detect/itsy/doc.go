// Package itsy is the exact detector: it declares a PFC deadlock when there is one,
// and only then, after one trip of a label round it and a check, whatever the thresholds,
// with bytes of a priority group split over several queues, and with flooded frames.
//
// It keeps the seed of "ITSY: Initial Trigger-Based PFC Deadlock Detection in the
// Data Plane" (Wu, Ng): labels ride upstream on pause frames and prove a loop by
// coming home. What is different: bytes decide, not bits; labels are state that every
// pause frame repeats, not messages; they are ordered, so that of all that meet on a
// loop one survives; one trip is a proof as long as no link fails; and the initial
// trigger is a diagnosis that no decision depends on.
//
//	             downstream                     this switch                  upstream
//
//	labels   pause of p with label ---> lab[p]  -- priority group i holds bytes --> pause of i with the
//	                                               in p                     greatest label, or its own
//
//	         own label home, with proof: check
//	         own label home, without:    verify
//
//	check    check <---- still as when it published the label? <------- check
//
//	         own check home: deadlock
//
//	verify   query <---- asks every paused queue that holds bytes of i <---- query
//	         grant ----> frees it, and i if too little is left         ----> grant
//	         walk  <---- once all has been answered: still so?         <---- walk
//
// A priority group stays XOFF by a set of queues if it would not resume even if all that waits elsewhere
// in its switch had left, the bytes of others too (detect.View.Stays, the rule of the switch): with
// static thresholds, if more than XON of its bytes wait there. As long as these queues are paused
// what waits in them does not become less, so that it goes on staying. A priority group is blocked while it
// is XOFF and stays so by the paused queues that lead to switches, of all priorities. A blocked priority group
// has a label of its own, greater than all that the switch has seen, and a new one for every new wait. It
// publishes the greatest of that and the labels of the queues that it waits in. A label that is withdrawn where
// it came in may still go round a loop: then it gets a new one, too (isStale).
//
// Proof (flag F). A priority group's own label has F. A priority group that publishes another's keeps
// F if it would be blocked by those queues alone that had the label with F. So, by
// induction over time, everyone who published a label with F stays XOFF for as long as
// its owner does. If it comes home with F, to queues that keep the owner XOFF, all of
// them wait for each other for ever. The owner has to have been XOFF all the time, and
// its upstream paused, which it can tell by itself: XON, and a pause that may have
// lapsed, take all its labels away.
//
// Check. A link that fails ends a wait without a word from its priority group, and the label may
// have passed it before the loop was closed in front of the label. So a check follows,
// downstream, queue by queue: a priority group that still publishes the label with F, by a queue
// that keeps it XOFF, has had no new wait since, which would have got it a greater label.
// So all waited at the instant at which the label came home.
//
// Verification. Without F, as when the bytes that close a loop are split over two
// queues, the label's owner starts a diffusing computation (Dijkstra and Scholten,
// "Termination detection for diffusing computations", 1980). Queries go to every
// priority group that is waited for: where priority groups share a pool these are all behind paused queues
// in which bytes of the pool wait, of any priority. One that is not stuck grants, and a priority group that
// does not stay XOFF by the queues that have not been granted grants in its turn.
// When all is acknowledged, a walk over what is left checks that nothing has changed
// since: each priority group was as it is from before the first pass ended until after it
// ended, so at that instant all were stuck at once. A walk that comes back to the
// owner, by queues in which priority groups have bytes of their own all the way, proves that it is on
// a loop. Each stuck set has such a loop: a priority group that has nothing of its own in the set resumes.
//
// After a declaration. The priority group that declared counts as free from then on: priority groups that are
// stuck without it are stuck in another deadlock. It goes on publishing its label, now with flag D, and those
// that wait for it stay quiet. A label greater than its own ends this state, unless that is declared too:
// labels are minted only when something changes, and a loop that was opened and closed again is another
// deadlock.
//
// Lies. A switch that lies to its neighbours can at worst have declared what is a deadlock if
// its own pauses last for ever: the check, and what a verification asks, go from priority group to
// priority group, and each looks for itself. And it can hide deadlocks of which it is part. What it
// says does not outlive it: a label whose owner does not exist goes round a loop like any
// other, and flag D on it keeps all quiet; so a priority group that waits for what was declared verifies too,
// late and ever less often (trusting), and what it finds is declared under a greater label (declare). A
// deadlock that does exist is found at the priority group that declared it, which counts as free. A priority
// group whose verification has not ended begins the next one with one queue alone, if that keeps it XOFF
// (unanswered): a neighbour that answers nothing hides no loop that stands without it, but one that passes the
// owner's switch twice. What a neighbour could start without end is limited: verifications that it begins
// (mayAsk), checks of a label (mayCheck).
//
// Diagnosis. When a priority group goes XOFF it finds its initial trigger: a host, a priority group that
// others wait for, or itself; pauses hand it on beside the label. After a declaration a lap
// goes round the loop, downstream, and collects who holds it: hosts, flooded frames, flows
// that go all the way round, the flows that came last. Then a quest follows the flow for which
// most speaks to where it meets others that came with it.
//
// Read in this order: label.go (the label and its order), state.go (all that is
// stored), detector.go (the events), publish.go (what a priority group publishes), home.go
// (labels that come home), check.go (the second trip), timer.go (what a priority group
// does by itself), verify.go and slot.go (verification). Then the diagnosis: trigger.go
// (the initial trigger), newcomer.go (the flows that came last), lap.go (what a lap collects),
// quest.go (where newcomers meet), diagnose.go (both messages on their way, and the causes that
// are named), message.go (the two for readers of captures). docs/detection.md has the figures.
// Package model, below, goes through every interleaving of a few switches that run this
// detector (proof_test.go).
//
// Invariants:
//   - own facts: a declaration needs that the priority group is XOFF now, and stays so by
//     queues that are paused now; labels and messages by hosts are ignored;
//   - XOFF since: a label of the priority group is only taken for its own if it was minted in
//     the present XOFF, without a lapse of the pause since;
//   - FIFO: a resume, or a pause of a later period, leaves before an acknowledgement
//     that is sent after it became owed;
//   - never freed, always checked: a queue that was resumed once does not count again
//     in a verification, and no priority group counts that the walk has not checked;
//   - silence proves nothing: lost messages leave a verification without an end, and
//     nothing is declared by it;
//   - nobody is believed for ever: a blocked priority group that has not declared verifies again and
//     again, whatever it is told;
//   - no decision depends on a diagnosis: triggers, laps and quests are not read by what
//     declares.
//
// What it does not do: it breaks no deadlock. A frame is taken to leave in the priority in which it
// came. Two loops that hold each other by a pool are declared once; what will stand alone when the
// other is gone is declared then.
package itsy
