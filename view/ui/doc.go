// Package ui is the live page: a fabric drawn in a browser, with its pauses, its
// buffers, the labels that travel and the loop of a deadlock, as it runs in a lab or as
// it was simulated.
//
//	a lab:  control sockets ("stats") --.
//	        event logs, as they grow  --+--> model --State--> Stream --SSE--> pages
//	        a simulation (instants)   --'      |                 ^
//	                                        oracle               | POST /act, with a token
//	                                      (the truth)            '-- fail, storm, restart ...
//
// Read in this order: state.go (what a page is told), wiring.go (the fabric and where it is drawn),
// model.go (events and counters to states), actions.go (what responses and detectors do), cause.go
// (why it locked), words.go (a state in one sentence), live.go, slow.go, tail.go, console.go and act.go
// (a running lab, and which of its instants are shown), simulate.go and instants.go (a simulated run,
// and when it is looked at), stream.go (history and pages), server.go (HTTP), page.go (a page that
// a command serves), file.go (a page that needs no server), show.go (runs told in acts), page/
// (what the browser runs).
//
// Directions: a link has two, 2l from its end A to its end B and 2l+1 back. The queue that
// transmits on a direction and the priority group that its frames are charged to at the far end are
// both named by that direction and a priority.
//
// Invariants:
//   - bounded: the history holds at most historyMax states and historyBytes bytes, a
//     page that does not read holds nothing but its connection, for at most writeTimeout,
//     filesMax files are made at once, and of the logs piecesMax pieces, or two of each, are
//     read ahead;
//   - read-only without the token: nothing but POST /act changes a lab, and no other site's page
//     reaches it (metrics.Guard);
//   - quiet: while no page is open, no node is asked anything but by an order;
//   - one door: what a page orders is done by an [Orders], as what a command does;
//   - whole: the state of a lab is that of a time up to which the logs of all switches are whole,
//     but of those that leave a question unanswered;
//   - a run is a run: its recording holds nothing of what the lab did after its end;
//   - the truth is the oracle's: the loop is lit whether a detector speaks or not.
//
// What it does not do: it decides nothing, it needs no other host than the one that it
// runs on, and it does not encrypt: beyond loopback, put something before it that does.
package ui
