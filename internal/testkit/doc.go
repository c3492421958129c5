// Package testkit is what tests of all rooms share.
//
//	Seed       random tests get their seeds; one that fails prints its own, and runs again with it:
//	           SEED=8808266606530916803 go test -run TestRate ./internal/pacer
//	Sized      how much a test plays: a part in make test, all of it in make long (LONG=1)
//	LongOnly   what only make long plays
//	Documented the commands that documents name are there
//	Docs       what documents show against what programs print: make docs-check (DOCS=1), make long
//	Need       skips where a program is missing, and says which; NeedRoot, without root
//	Namespace  network namespaces with veths between them, which end with the test
//	ControlC   a program at a terminal, at which Ctrl-C is typed
//	Tshark     other people's programs judge frames: also Scapy
//
// cpu-time.sh notes the processor time of each package's tests, and fails where one takes too much.
//
// What it does not do: it installs nothing, starts no lab, and knows nothing of what frames should be.
package testkit
