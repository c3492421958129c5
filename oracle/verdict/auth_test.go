package verdict

import (
	"testing"

	"softswitch/link/auth"
)

// TestAuthFault: what is wrong with an end of a link is said as what it is.
func TestAuthFault(t *testing.T) {
	wrong := map[string]uint64{auth.Wrong.String(): 3}
	for want, f := range map[string]AuthFault{
		"a--b: a has had no answer from its far end, which has auth off, or is not there":                                                    {},
		"a--b: a and its far end do not agree; refused 3 control frames: 3 " + auth.Wrong.Says():                                             {Refused: wrong},
		"a--b: a has refused 3 control frames: 3 " + auth.Wrong.Says():                                                                       {Refused: wrong, Agreed: true},
		"a--b: a: its clock went back: its far end had believed a greater counter":                                                           {Agreed: true, Behind: 1},
		"a--b: a has refused 3 control frames: 3 " + auth.Wrong.Says() + "; its clock went back: its far end had believed a greater counter": {Refused: wrong, Agreed: true, Behind: 1},
	} {
		f.Link, f.Switch = "a--b", "a"
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
