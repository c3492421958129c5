// Package importer makes scenarios of files that other programs have: the configurations of
// SONiC switches, the files of the simulator of HPCC, graphs in GraphML, topologies of
// containerlab.
//
//	files, their names --SONiC, HPCC, GraphML, Containerlab--> the text of a scenario file
//
// Each format is a file with a function of its name, and what it reads with beside it. The
// comment at the top of sonic.go, hpcc.go, graphml.go and containerlab.go says what is read of
// that format. foreign.go tells which program a file is of.
//
// Invariants:
//   - place: a fault names the file and the line, table or key;
//   - what is supposed, and what a scenario cannot say, is a fault or a comment at the head of
//     the scenario.
//
// What it does not do: it opens no file.
package importer
