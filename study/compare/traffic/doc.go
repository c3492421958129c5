// Package traffic plays scenarios with other traffic than theirs: every lossless UDP flow as a
// reliable connection, with one congestion control after another, and with one response
// after another. So it shows which deadlocks congestion control keeps from forming, and what
// a response's losses cost an application that goes back to them (go-back-N).
//
//	scenario --Kind--> scenario --x seeds, starts moved--> sim --> Row --> Markdown, JSON
//
// Read in this order: kinds.go (what is changed), traffic.go (runs and rows), markdown.go.
//
// Invariants:
//   - the same rows for any number of workers;
//   - a seed moves the flows' starts by the same times for every kind.
//
// What it does not do: it plays no lab, and judges no detector (package compare does).
package traffic
