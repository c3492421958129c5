// Package load makes plans of scenario files, with the detectors and responses of the
// catalogue. Every command that plays a scenario starts here.
//
//	file, [settings] --> Scenario --> [Instead] --> Plan --> sim, lab
//
// It reads no file and prints no warning: the caller passes the content, and the plan's
// scenario holds the warnings. To play a detector of your own, use package scenario.
package load
