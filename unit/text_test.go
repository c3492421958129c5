package unit

import (
	"encoding/json"
	"testing"
)

func TestRates(t *testing.T) {
	for s, want := range map[string]Rate{
		"0": 0, "1bit/s": 1, "1.5kbit/s": 1500, "100Mbit/s": 100e6, "100 Mbit/s": 100e6,
		"2.5Gbit/s": 2.5e9, "40Gbit/s": 40e9, "1000Tbit/s": 1e15,
	} {
		r, err := ParseRate(s)
		if err != nil || r != want {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", s, r, err, want)
		}
		if again, err := ParseRate(r.String()); err != nil || again != r {
			t.Errorf("%d is written as %q and read as %d, %v", r, r, again, err)
		}
	}
	for _, s := range []string{"", "-1", "1", "-1Mbit/s", "0Mbit/s", "1.Mbit/s", ".5Mbit/s", "1.2.3Mbit/s", "0.5bit/s", "1mbit/s", "Mbit/s", "1001Tbit/s", "99999999999999999999Tbit/s", "1e3Mbit/s", "+1Mbit/s", "1_0Mbit/s"} {
		if r, err := ParseRate(s); err == nil {
			t.Errorf("ParseRate(%q) = %d, want an error", s, r)
		}
	}
	for r, want := range map[Rate]string{0: "0", 999: "999bit/s", 1001: "1.001kbit/s", 2.5e9: "2.5Gbit/s", 123456789: "123.456789Mbit/s", 1e15: "1000Tbit/s"} {
		if got := r.String(); got != want {
			t.Errorf("%d is written as %q, want %q", r, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for s, want := range map[string]Time{"0": 0, "0s": 0, "1ns": 1, "1.5us": 1500, "1.5µs": 1500, "10ms": 10e6, "1h1m": 3660e9, "1000h": 3600e12} {
		v, err := ParseTime(s)
		if err != nil || v != want {
			t.Errorf("ParseTime(%q) = %d, %v; want %d", s, v, err, want)
		}
		if again, err := ParseTime(v.String()); err != nil || again != v {
			t.Errorf("%d is written as %q and read as %d, %v", v, v, again, err)
		}
	}
	for _, s := range []string{"", "1", "-1s", "1d", "s", "1000h1ns", "2562047h", "2562048h", "1e3s"} {
		if v, err := ParseTime(s); err == nil {
			t.Errorf("ParseTime(%q) = %d, want an error", s, v)
		}
	}
}

// FuzzTexts: a value that is read is written so that it is read as the same.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"0", "2.5Gbit/s", "100 Mbit/s", "1.5µs", "1h1m"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRate(s); err == nil {
			if again, err := ParseRate(r.String()); err != nil || again != r {
				t.Errorf("rate %q: %d, and again %d, %v", s, r, again, err)
			}
		}
		if v, err := ParseTime(s); err == nil {
			if again, err := ParseTime(v.String()); err != nil || again != v {
				t.Errorf("time %q: %d, and again %d, %v", s, v, again, err)
			}
		}
	})
}

// TestJSON: values are numbers in JSON, and texts are read too.
func TestJSON(t *testing.T) {
	var v struct {
		Rate Rate
		Time Time
	}
	for _, s := range []string{`{"Rate":2500000,"Time":1500}`, `{"Rate":"2.5Mbit/s","Time":"1.5us"}`} {
		if err := json.Unmarshal([]byte(s), &v); err != nil {
			t.Fatal(err)
		}
		if out, err := json.Marshal(v); string(out) != `{"Rate":2500000,"Time":1500}` || err != nil {
			t.Errorf("%s is written as %s, %v", s, out, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"Rate":"fast"}`), &v); err == nil {
		t.Error("a rate of fast")
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 links": Count(0, "link"), "1 link": Count(1, "link"), "2 links": Count(2, "link"),
		"1 switch": Count(1, "switch"), "3 SONiC switches": Count(3, "SONiC switch"), "5 losses": Count(5, "loss"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
