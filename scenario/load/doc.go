// Package load makes plans of scenario files with the detectors and responses of the
// catalogue: what every command that plays a scenario begins with.
//
//	file --> Scenario --> [Instead] --> Plan --> sim, lab
//
// It reads no file and prints no warning: it is given the content, and the scenario of a
// plan has its warnings. Who plays a detector of their own uses package scenario.
package load
