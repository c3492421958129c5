// Package shard allows a run of many items to be played in parts, on any number of machines,
// and put together again.
//
//	--shard 3/7 --> Part --> the command plays the items 2, 9, 16, ... --> File, on standard output
//	                                                                           |
//	         what the whole run prints <-- the command's merge <-- Whole <-- Join, of all 7
//
// Items are the cases of "sim fuzz", the scenarios of "compare" and the runs of "sweep".
//
// Read in this order: Part (part.go), File (file.go), Join and Records (whole.go).
//
// Invariants:
//   - each item is in exactly one part;
//   - what is joined is all of one run: of the same program, command and inputs, each shard
//     once and none missing;
//   - all shards merged print what the whole run does, byte for byte.
//
// What it does not do: it plays nothing and adds up nothing; the commands' packages do.
package shard
