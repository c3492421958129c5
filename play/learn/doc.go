// Package learn is a course of half an hour, from one pause to a ring that is cured: six steps, each with
// a prediction, a run in virtual time, a drawing, and a question. Answers are held against the run.
//
//	steps/*.yaml --simulate--> Run --Question.Right--> which choice is right
//	Steps -------> Course.Take: text, questions and answers, by a terminal
//	         '---> WritePage:   the same as a page of docs, with a sheet for teachers
//
// Read in this order: steps.go (the course), run.go (what a step plays), take.go (on a terminal), page.go.
//
// Invariant: no answer is right because it is written here: Right looks at a run, and a test plays all.
//
// What it does not do: it keeps no score beyond its end, and needs no lab.
package learn
