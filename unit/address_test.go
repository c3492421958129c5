package unit

import (
	"encoding"
	"strings"
	"testing"
)

// addresses are texts that each type reads, and texts that it refuses.
var addresses = []struct {
	of          func() text
	good, wrong string
}{
	{func() text { return new(MAC) }, "02:00:12:34:00:0f", "|01:80:c2:00:00:01|00:00:00:00:00:00|02-00-00-00-00-01|02:00:00:00:00|02:00:00:00:00:0g|2:0:0:0:0:1"},
	{func() text { return new(Addr) }, "10.1.2.3|198.18.0.1", "|10.0.0|::1|224.0.0.1|0.0.0.0|255.255.255.255|10.0.0.1/24"},
	{func() text { return new(Prefix) }, "10.1.2.0/24|0.0.0.0/0|10.0.0.1/32", "|10.0.0.0|10.0.0.1/24|10.0.0.0/33|::/0"},
	{func() text { return new(Interface) }, "10.1.2.9/24|10.0.0.1/30", "|10.0.0.1|10.0.0.0/24|10.0.0.255/24|10.0.0.1/32|10.0.0.1/31|::1/64"},
}

// text is a value that knows its text.
type text interface {
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

func TestAddressTexts(t *testing.T) {
	for _, a := range addresses {
		for s := range strings.SplitSeq(a.good, "|") {
			v := a.of()
			if err := v.UnmarshalText([]byte(s)); err != nil {
				t.Errorf("%T: %v", v, err)
			} else if again, err := v.MarshalText(); string(again) != s || err != nil {
				t.Errorf("%q is written as %q, %v", s, again, err)
			}
		}
		for s := range strings.SplitSeq(a.wrong, "|") {
			if v := a.of(); v.UnmarshalText([]byte(s)) == nil {
				t.Errorf("%q is read as a %T", s, v)
			}
		}
	}
}

// FuzzAddressTexts: an address that is read is written so that it is read as the same.
func FuzzAddressTexts(f *testing.F) {
	for _, a := range addresses {
		for s := range strings.SplitSeq(a.good, "|") {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, a := range addresses {
			v, again := a.of(), a.of()
			if v.UnmarshalText([]byte(s)) != nil {
				continue
			}
			written, err := v.MarshalText()
			if err != nil || again.UnmarshalText(written) != nil {
				t.Fatalf("%q is written as %q, %v", s, written, err)
			}
			if twice, _ := again.MarshalText(); string(twice) != string(written) {
				t.Errorf("%q is written as %q, and then as %q", s, written, twice)
			}
		}
	})
}
