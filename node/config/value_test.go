package config

import (
	"encoding"
	"strings"
	"testing"

	"softswitch/unit"
)

// FuzzValues: a value that is read is written so that it is read as the same.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"line", "2.5Gbit/s", "300m", "0.5%", "100%", "[::1]:9100", ":0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var rate, again unit.FlowRate
		if rate.UnmarshalText([]byte(s)) == nil {
			text, err := rate.MarshalText()
			if again.UnmarshalText(text) != nil || err != nil || again != rate {
				t.Errorf("rate %q: %d, and again %d, %v", s, rate, again, err)
			}
		}
		var share, twice Share
		if share.UnmarshalText([]byte(s)) == nil && (twice.UnmarshalText([]byte(share.String())) != nil || twice != share) {
			t.Errorf("share %q: %d, and again %d", s, share, twice)
		}
		var c Cable
		if c.UnmarshalText([]byte(s)) == nil && (c < 0 || c > 1e9) {
			t.Errorf("cable %q: %d ns", s, c)
		}
		if host, port, err := ParseListen(s); err == nil && (host == "" || port == "") {
			t.Errorf("listen %q: %q, %q", s, host, port)
		}
	})
}

func TestRefusedValues(t *testing.T) {
	for _, c := range []struct {
		of    encoding.TextUnmarshaler
		texts string
	}{
		{new(unit.FlowRate), "0|Line|-1Mbit/s|10"},
		{new(Share), "|1|101%|100.01%|0.001%|-1%"},
		{new(Cable), "|300|300 m|-1m|0.0001m|198000001m"},
	} {
		for s := range strings.SplitSeq(c.texts, "|") {
			if err := c.of.UnmarshalText([]byte(s)); err == nil {
				t.Errorf("%q is read as a %T", s, c.of)
			}
		}
	}
}
