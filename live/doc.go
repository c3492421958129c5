// Package live runs a machine (switch or host) on real links: per port one
// goroutine that reads and one that waits for the port's deadlines.
//
//	rxLoop: link.Read -> Parse -> [lock: Receive, Work] -> kick ready ports
//	txLoop: timer.Wait -----------------------------------> kick its port
//	kick:   port lock; [lock: Sent, Transmit, Work] -> link.Write, until nothing leaves
//
// A kick runs in the goroutine that has the news: a frame goes from Read to Write
// without a switch of goroutines. If another goroutine is sending on that port
// already, it is told to look once more.
//
// Read in this order: node.go (the node and its life), rx.go, tx.go, watch_linux.go
// (links that go, come and vanish), log.go; record.go is a machine that records what
// another one is told.
//
// Invariants:
//   - one lock: every call of the machine is made under Node.mu, which is held for
//     one batch and never across a system call; what a caller of Do does there is
//     copying, too, and link statistics are asked for before;
//   - order: the frames of a port are written in the order of Transmit, since its
//     port lock is held from Transmit to Write;
//   - no lost wake-up: a port that becomes ready is drained after that. Whoever has
//     the news sets tx.again before it tries the port lock, and whoever held the lock
//     looks at tx.again after letting go of it; so kick alone may take that lock.
//
// What it does not do: it decides nothing about frames, and it opens no
// namespace: it runs where its process runs.
package live
