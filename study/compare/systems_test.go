package compare

import (
	"slices"
	"testing"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
)

// Every system is made of parts that there are.
func TestSystemsHaveTheirParts(t *testing.T) {
	for _, s := range Systems() {
		if s.Detector != "" && !slices.Contains(catalog.Names(), s.Detector) {
			t.Errorf("%s: no detector is called %q", s.Name, s.Detector)
		}
		if s.Response != "" && !slices.Contains(respond.Names(), s.Response) {
			t.Errorf("%s: no response is called %q", s.Name, s.Response)
		}
	}
}
