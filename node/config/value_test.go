package config

import (
	"testing"

	"softswitch/unit"
)

func TestRates(t *testing.T) {
	for s, want := range map[string]unit.Rate{
		"0": 0, "1bit/s": 1, "1.5kbit/s": 1500, "100Mbit/s": 100e6, "100 Mbit/s": 100e6,
		"2.5Gbit/s": 2.5e9, "40Gbit/s": 40e9, "1000Tbit/s": 1e15,
	} {
		r, err := ParseRate(s)
		if err != nil || r != want {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", s, r, err, want)
		}
		if again, err := ParseRate(FormatRate(r)); err != nil || again != r {
			t.Errorf("%d is written as %q and read as %d, %v", r, FormatRate(r), again, err)
		}
	}
	for _, s := range []string{"", "-1", "1", "-1Mbit/s", "0Mbit/s", "1.Mbit/s", ".5Mbit/s", "1.2.3Mbit/s", "0.5bit/s", "1mbit/s", "Mbit/s", "1001Tbit/s", "99999999999999999999Tbit/s", "1e3Mbit/s", "+1Mbit/s", "1_0Mbit/s"} {
		if r, err := ParseRate(s); err == nil {
			t.Errorf("ParseRate(%q) = %d, want an error", s, r)
		}
	}
	for r, want := range map[unit.Rate]string{0: "0", 999: "999bit/s", 1001: "1.001kbit/s", 2.5e9: "2.5Gbit/s", 123456789: "123.456789Mbit/s", 1e15: "1000Tbit/s"} {
		if got := FormatRate(r); got != want {
			t.Errorf("FormatRate(%d) = %q, want %q", r, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for s, want := range map[string]unit.Time{"0": 0, "0s": 0, "1ns": 1, "1.5us": 1500, "1.5µs": 1500, "10ms": 10e6, "1h1m": 3660e9, "1000h": 3600e12} {
		v, err := ParseTime(s)
		if err != nil || v != want {
			t.Errorf("ParseTime(%q) = %d, %v; want %d", s, v, err, want)
		}
		if again, err := ParseTime(FormatTime(v)); err != nil || again != v {
			t.Errorf("%d is written as %q and read as %d, %v", v, FormatTime(v), again, err)
		}
	}
	for _, s := range []string{"", "1", "-1s", "1d", "s", "1000h1ns", "2562047h", "2562048h", "1e3s"} {
		if v, err := ParseTime(s); err == nil {
			t.Errorf("ParseTime(%q) = %d, want an error", s, v)
		}
	}
}

func TestAddresses(t *testing.T) {
	if m, err := ParseMAC("02:00:12:34:00:0f"); err != nil || m != 0x02001234000f || FormatMAC(m) != "02:00:12:34:00:0f" {
		t.Errorf("MAC: %x, %v", m, err)
	}
	if a, err := ParseAddr("10.1.2.3"); err != nil || a != 0x0a010203 || FormatAddr(a) != "10.1.2.3" {
		t.Errorf("address: %x, %v", a, err)
	}
	if a, n, err := ParsePrefix("10.1.2.0/24"); err != nil || a != 0x0a010200 || n != 24 {
		t.Errorf("prefix: %x/%d, %v", a, n, err)
	}
	if a, n, err := ParseInterface("10.1.2.9/24"); err != nil || a != 0x0a010209 || n != 24 {
		t.Errorf("interface: %x/%d, %v", a, n, err)
	}
	for _, s := range []string{"", "01:80:c2:00:00:01", "00:00:00:00:00:00", "02-00-00-00-00-01", "02:00:00:00:00", "02:00:00:00:00:0g", "2:0:0:0:0:1"} {
		if _, err := ParseMAC(s); err == nil {
			t.Errorf("ParseMAC(%q): no error", s)
		}
	}
	for _, s := range []string{"", "10.0.0", "::1", "224.0.0.1", "0.0.0.0", "255.255.255.255", "10.0.0.1/24"} {
		if _, err := ParseAddr(s); err == nil {
			t.Errorf("ParseAddr(%q): no error", s)
		}
	}
	for _, s := range []string{"", "10.0.0.0", "10.0.0.1/24", "10.0.0.0/33", "::/0"} {
		if _, _, err := ParsePrefix(s); err == nil {
			t.Errorf("ParsePrefix(%q): no error", s)
		}
	}
	for _, s := range []string{"", "10.0.0.1", "10.0.0.0/24", "10.0.0.255/24", "10.0.0.1/32", "10.0.0.1/31", "::1/64"} {
		if _, _, err := ParseInterface(s); err == nil {
			t.Errorf("ParseInterface(%q): no error", s)
		}
	}
}

// FuzzValues: a value that is read is written so that it is read as the same.
func FuzzValues(f *testing.F) {
	for _, s := range []string{"0", "2.5Gbit/s", "100 Mbit/s", "1.5µs", "1h1m", "02:00:12:34:00:0f", "10.1.2.3", "10.1.2.0/24", "[::1]:9100", ":0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRate(s); err == nil {
			if again, err := ParseRate(FormatRate(r)); err != nil || again != r {
				t.Errorf("rate %q: %d, and again %d, %v", s, r, again, err)
			}
		}
		if v, err := ParseTime(s); err == nil {
			if again, err := ParseTime(FormatTime(v)); err != nil || again != v {
				t.Errorf("time %q: %d, and again %d, %v", s, v, again, err)
			}
		}
		if m, err := ParseMAC(s); err == nil {
			if again, err := ParseMAC(FormatMAC(m)); err != nil || again != m {
				t.Errorf("MAC %q: %x, and again %x, %v", s, m, again, err)
			}
		}
		if a, err := ParseAddr(s); err == nil {
			if again, err := ParseAddr(FormatAddr(a)); err != nil || again != a {
				t.Errorf("address %q: %x, and again %x, %v", s, a, again, err)
			}
		}
		if _, bits, err := ParsePrefix(s); err == nil && (bits < 0 || bits > 32) {
			t.Errorf("prefix %q: %d bits", s, bits)
		}
		if _, bits, err := ParseInterface(s); err == nil && (bits < 0 || bits > 30) {
			t.Errorf("interface %q: %d bits", s, bits)
		}
		if host, port, err := ParseListen(s); err == nil && (host == "" || port == "") {
			t.Errorf("listen %q: %q, %q", s, host, port)
		}
	})
}
