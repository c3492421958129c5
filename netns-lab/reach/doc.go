// Package reach reaches the nodes of a lab that somebody else built: each by a command that
// runs another one beside the node, such as docker exec -i NODE.
//
//	this machine                               where the node is
//
//	NODE/control.sock <--.                     .--> the node's control socket
//	NODE/agent.sock   <--+-- Relay == Agent ---+--> its process and interfaces
//	NODE/events.jsonl <--'   stdin and stdout  '--- its event log
//
// The relay keeps one agent for each node and gives it as many streams as are wanted
// (yamux). What it makes is what a lab of namespaces has in its run directories, so code that
// asks nodes, or follows their logs, need not know the difference.
//
// Read in this order: agent.go (beside a node), relay.go (on this machine), stream.go (what
// both share).
//
// Invariants:
//   - nothing-listens: no port of a network is opened, and beside the node no socket;
//   - ends-with: an agent ends with its relay, however that ends.
//
// What it does not do: it starts no node, ends one only by a request, and does not try
// again to reach one that is gone.
package reach
