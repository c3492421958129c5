// Package runner plays the cases of package fuzz on many processors, and writes the
// failed ones as scenario files.
//
//	seed, number --> fuzz.New --> Play, many at a time --> fuzz.Report
//	                                    `--> failures --> made smaller --> files
//
// With causes (package naming), responses (package response) and several clocks (package
// clocked) in the same way.
//
// Invariant: the report and the files are the same for one worker and for many.
//
// What it does not do: package fuzz defines what a case is, and what a failure.
package runner
