// Package layout decides where the nodes of a fabric are drawn.
//
//	switches, hosts, links --> Levels --> line, ring or layers --> a Point for each node
//
// The live page draws the result of Place; drawings in rows (internal/graph), with text
// beside their links, use only Levels.
//
// Invariant: the same graph always gets the same layout.
//
// What it does not do: it draws nothing and handles no names.
package layout
