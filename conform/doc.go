// Package conform tests PFC switches: what a switch (DUT, device under test) promises, what is sent to it,
// what came of that, and what is to be said of it.
//
//	Profile --Task--> Case.Next --> Script --> world: Tester and DUT, live or in virtual time
//	                     ^                         |
//	                     '------ Session <----- Record --> Case.Judge --> Verdict --> Report
//
// A case is data, not a program: a Script says what is sent when, a Record says what left and what came,
// each with its uncertainty, and the judge has nothing else. So one case is played on interfaces and in
// virtual time, and a record can be judged again without traffic.
//
// Read in this order: Profile (profile.go); Script, its streams, trains, receivers and acts (script.go);
// Record and what it can be asked (record.go), Span, Window and Count (span.go); Case and Task (case.go),
// Judge (judge.go); Session (session.go), Report (report.go). Tester (tester.go, transmit.go, receiver.go)
// is the machine that plays a script; control.go builds control frames, right and wrong ones, frame.go
// those of streams. The cases are in cases_r.go and so on, a file a group; cases_r_quanta.go and cases_t_xoff.go
// have what several cases of a group measure.
//
// Invariants:
//   - three values: what is measured is an interval; inside the bound passes, outside fails, and across it
//     is undecided. Nothing that the tester cannot tell is a fail;
//   - what left counts, not what was meant to: a storm that began late or lapsed, frames that the tester lost, a
//     silence of its own void the trial, which is played again, 5 times at most;
//   - no retry turns a fail into a pass;
//   - of its own: the length of a quantum and what a frame means are reckoned here, not as the switch does.
//
// It opens no interface, reads no counters and keeps no clock: a world does (package play).
//
// # Cases
//
// A case is added to the list of its group, at the top of the file of that group:
//
//	{
//		ID: "R02", Title: "...", Clause: "...", Theirs: "...", Bound: "...", Hand: "...",
//		Ports: 2, Needs: []string{"R01"},
//		Missing: func(t *Task) string { ... },         // why it cannot be played with this profile
//		Next:    Times(Exact(3), r02),                  // func r02(t *Task, k int) *Script
//		Judge:   func(t *Task, done []*Record, j *Judge) { ... },
//	}
//
// The script. Task.Script begins one; its verbs read from top to bottom as time goes on. Phase and Wait
// let time pass, Send begins a stream, Halt ends it, Storm, Release and Lapse pause the DUT and let go,
// Once and Frames send any control frame (Pause and Pause8023 make right ones, whose fields can be
// spoilt), Receive puts a slow or stopped receiver at a port that pauses by what waits with it, Do has the
// world take a link down or read counters. What is returned can be changed: Stream.Count, Only, Late.
// Streams, trains and phases have names, by which the judge finds them in the Record. Times of seconds go
// through Task.Time and numbers of frames through Task.Frames, which are smaller in virtual time. Ports are
// indices: 0, 1 and 2 are the a, b and c of the list of cases. Nothing is at random but by Task.Random.
//
// A case whose next trial depends on the last one, as one that halves an interval, has a Next of its own:
// it is called with all records so far, and returns nil when they are enough.
//
// The judge. It asks the Record (Stream(...).In, First, Silence, Delays, Lost; Train(...).Left; Paused,
// the time for which a storm was in force; PausesOf, those of the DUT) and says to the Judge what has to
// hold: Count, None, Some, Time, Share, AtRate, Whole, True. Each takes an interval, and the worst is the
// result. Note tells, Found reports a value that was looked for, which Task.Found gives to cases that are
// played later; a value that the profile knows is judged, one that it does not know is not. Bounds are
// made of Task.Allowance, the speed and the profile, never of what the DUT was seen to do.
//
// A stream with Control is there to tell the tester's silence from that of the DUT: it goes where the
// thing that is tested cannot stop it (backStream). Frames that rest on a DUT that never pauses, or never
// stops, fail for that too: offer few (stormFrames), or need the case that finds it.
//
// A case is done when it passes in softswitch conform self, its mutants fail it (conform/mutant), and
// softswitch conform show prints what somebody could do by hand.
package conform
