// Package worlds plays scenarios in both worlds and compares the results: simulated,
// simulated with the timing of a live lab, and live.
//
//	scenario --> sim, once              --.
//	         --> sim, with lab.Timing   ---+--> a row of the table
//	         --> Live, as slow as it needs -'
//
// Invariant: a live run that is not valid does not count.
//
// What it does not do: it builds no lab; its caller provides a function that plays a
// plan on one.
package worlds
