// Package worlds plays scenarios in both worlds and compares what came of them: simulated,
// simulated with the timing of a live lab, and live.
//
//	scenario --> sim, once              --.
//	         --> sim, with lab.Timing   ---+--> a row of the table
//	         --> Live, as slow as it needs -'
//
// Invariant: a live run that is not valid counts for nothing.
//
// What it does not do: it builds no lab; it is given a function that plays a plan on one.
package worlds
