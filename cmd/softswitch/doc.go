// Package reference generates the schemas and reference pages of the file formats from their Go
// types and the comments on them.
//
//	scenario, node/config, oracle/verdict --> internal/schema --> docs/schema, docs/*.md
//
// Invariant: text above the mark in a page is written by hand and is kept.
//
// The package writes no file.
package main
