// Package shpiner is the two systems of "Unlocking Credit Loop Deadlocks" (Shpiner, Zahavi,
// Zdornov, Anker, Kadosh): Loop Breaker (section 3.2) sends the loop's flows another way and
// pushes frames out in spite of the pause, Deadlock Breaker (section 3.3) makes room for the
// loop's frames, hop by hop.
//
//	queues --> Monitor --> suspects --> loopBreaker      --CLCM--> downstream
//	                               `--> deadlockBreaker  --CLCM--> downstream
//
// Read in this order: stall.go (which queues are suspected), clcm.go (the messages), system.go (what
// both systems have), loopbreaker.go and elect.go, deadlockbreaker.go, walk.go and release.go. The
// comment at the top of each system's first file has its steps and what always holds.
//
// What it does not do: it declares nothing that the paper's systems do not see, and names no
// initial trigger.
package shpiner
