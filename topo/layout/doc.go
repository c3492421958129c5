// Package layout says where the nodes of a fabric are drawn.
//
//	switches, hosts, links --> Levels --> line, ring or layers --> a Point for each node
//
// The live page draws what Place says; drawings in rows (internal/graph), which have words
// beside their links, take the Levels alone.
//
// Invariant: the same graph is drawn the same way.
//
// What it does not do: it draws nothing, and knows no names.
package layout
