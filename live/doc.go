// Package live runs a machine (switch or host) on real links: per port one
// goroutine that reads and one that waits for the port's deadlines.
//
//	rxLoop: link.Read -> Parse -> [lock: Receive, Work] -> kick ready ports
//	txLoop: timer.Wait -----------------------------------> kick its port
//	kick:   port lock; [lock: Sent, Transmit, Work] -> link.Write, until nothing leaves
//
// The way of a frame from port 1 to port 3, all of it in the goroutine that reads port 1:
//
//   - link.Read copies a batch into the slots that the machine has lent; Parse looks at
//     each frame, without the lock;
//   - receive takes the lock, and hands a portion of the batch to the machine, which lends
//     empty slots for them; Work names the ports that have something to send: 3, and 1 if
//     it owes its far end a pause;
//   - kickAll takes these ports in turn, those that owe a switch a pause first. kick takes the port
//     lock of 3; drain takes the lock for what Transmit lends, and writes that to the link.
//     Frames that a busy link does not take are offered again a little later, and what it
//     will never take is counted as lost;
//     A wire that is impaired keeps frames first (impair.go), and the port's timer is also
//     set to when the next of them reaches the end of the wire;
//   - the next Transmit begins with Sent, which gives the slots back.
//
// Where many nodes share a process, a Poller may be in place of both loops of every port
// (poller.go): it looks at rings and deadlines in turn, and has ports send.
//
// So a frame goes from Read to Write without a switch of goroutines. If another goroutine
// is sending on port 3 already, it is told to look once more. What has to wait, behind a
// pause or for its rate, leaves by txLoop: Transmit says when to ask again.
//
// Read in this order: node.go (the node and its life), rx.go, tx.go, impair.go (what
// wires do apart from carrying frames), poller.go, wire.go (a port's link: opened, read,
// closed, opened again), watch_linux.go (interfaces that go, come and
// vanish), log.go. The folder record has a machine that writes down what another one is
// told, the folder node a process that runs a node and answers requests.
//
// Invariants:
//   - one lock: every call of the machine is made under Node.mu, which is held for
//     one batch and never across a system call; what a caller of Do does there is
//     copying, too, and link statistics are asked for before;
//   - order: the frames of a port are written in the order of Transmit, since its
//     port lock is held from Transmit to Write;
//   - no lost wake-up: a port that becomes ready is drained after that. A goroutine with
//     the news sets tx.again before it tries the port lock, and the one that held the lock
//     looks at tx.again after releasing it; so kick alone may take that lock;
//   - turns: a port that is always busy makes way for the others to read, and for their
//     deadlines, about every millisecond, on a single processor too (turn_linux.go);
//   - known first: no frame is read before the machine knows which of its links are up;
//   - counted: a frame that Transmit handed out was sent, is in Stats.Lost, or was lost by
//     its wire or is on it (Wire).
//
// What it does not do: it decides nothing about frames, knows no configuration, and opens
// no namespace: it runs where its process runs.
package live
