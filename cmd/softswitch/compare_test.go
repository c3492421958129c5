package main

import (
	"slices"
	"testing"

	"softswitch/compare"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
)

// Every system is made of parts that this program has.
func TestSystemsHaveTheirParts(t *testing.T) {
	for _, s := range compare.Systems() {
		if s.Detector != "" && !slices.Contains(catalog.Names(), s.Detector) {
			t.Errorf("%s: no detector is called %q", s.Name, s.Detector)
		}
		if s.Response != "" && !slices.Contains(respond.Names(), s.Response) {
			t.Errorf("%s: no response is called %q", s.Name, s.Response)
		}
	}
}
