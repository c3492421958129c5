// Package reference makes the schemas and the references of the formats of files, as their
// types and the comments beside them have it.
//
//	scenario, node/config, oracle/verdict --> internal/schema --> docs/schema, docs/*.md
//
// Invariant: what stands above the mark in a page is written by hand and stays.
//
// What it does not do: it writes no file.
package main
