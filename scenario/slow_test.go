package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"softswitch/link/impair"
	"softswitch/unit"
)

const quick = `
name: quick
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 40Gbit/s
  delay: 1us
  jitter: 20ns
  overrides: [{link: s2--h2, rate: 10Gbit/s, delay: 3us}]
flows:
  - {name: A, from: h1, to: h2, rate: 5050Mbit/s, start: 10us, stop: 2ms}
  - {name: B, from: h2, to: h1, start: 20us}
events:
  - {at: 30us, do: flap, link: s1--s2, for: 5us}
  - {at: 100us, do: slow, host: h2, rate: 1Gbit/s, for: 400us}
watchdog: {detection_time: 900us, poll: 30us}
duration: 5ms
expect: {deadlock: true, detected: true, max_latency: 11us}
expect_for:
  itsy: {max_latency: 7us}
`

// slowed is the text's scenario, n times slower.
func slowed(t *testing.T, text string, n int) (fast, slow *Scenario) {
	t.Helper()
	fast, err := Parse("quick.yaml", []byte(text), known)
	if err != nil {
		t.Fatal(err)
	}
	if slow, err = fast.Slow(n); err != nil {
		t.Fatal(err)
	}
	return fast, slow
}

// TestSlow: every rate and every time of the file, by hand.
func TestSlow(t *testing.T) {
	const us, ms = unit.Microsecond, unit.Millisecond
	_, s := slowed(t, quick, 400)
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"name", s.Name, "quick (slow 400)"},
		{"duration", s.Duration, 2000 * ms},
		{"detection_time", *s.Watchdog.Detection, 360 * ms},
		{"poll", *s.Watchdog.Poll, 12 * ms},
		{"link", s.Links[1], LinkSpeed{Rate: 100_000_000, Faults: impair.Faults{Delay: 400 * us, Jitter: 8 * us}}},
		{"override", s.Links[2], LinkSpeed{Rate: 25_000_000, Faults: impair.Faults{Delay: 1200 * us, Jitter: 8 * us}}},
		{"rate of A", s.Flows[0].Rate, unit.FlowRate(12_625_000)},
		{"start of A", s.Flows[0].Start, 4 * ms},
		{"stop of A", s.Flows[0].Stop, 800 * ms},
		{"rate of B: the link's", s.Flows[1].Rate, unit.FlowRate(0)},
		{"stop of B: never", s.Flows[1].Stop, unit.Time(0)},
		{"flap", s.Events[0].At, 12 * ms},
		{"flap's for", s.Events[0].For, 2 * ms},
		{"slow host", s.Events[1].Rate, unit.Rate(2_500_000)},
		{"expected latency", s.Expect.MaxLatency, 4400 * us},
		{"expected latency of itsy", s.ExpectFor["itsy"].MaxLatency, 2800 * us},
		// A third of 65535 quanta at 40 Gbit/s, 279.616 us, 400 times.
		{"refresh", *s.PFC.Refresh, 111_846_400 * unit.Nanosecond},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestSlowLeavesTheOriginal: Slow changes nothing of what it was called on, and 1
// changes nothing at all.
func TestSlowLeavesTheOriginal(t *testing.T) {
	untouched, err := Parse("quick.yaml", []byte(quick), known)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := slowed(t, quick, 400)
	if !reflect.DeepEqual(s, untouched) {
		t.Errorf("Slow changed its receiver:\ngot  %+v\nwant %+v", s, untouched)
	}
	if _, same := slowed(t, quick, 1); !reflect.DeepEqual(same, untouched) {
		t.Errorf("1 time slower it is\n%+v\nwant %+v", same, untouched)
	}
}

// TestSlowMissesNothing: whatever of a Scenario is a rate or a time, Slow has seen.
// A field that somebody adds and forgets there is found here.
func TestSlowMissesNothing(t *testing.T) {
	fast, _ := slowed(t, quick, 1)
	fast.Prevention = &Prevention{Limits: []Limit{{}, {}}}
	const span = 1000
	set(reflect.ValueOf(fast).Elem(), span)
	slow, err := fast.Slow(10)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	walk(reflect.ValueOf(slow).Elem(), "Scenario", func(path string, v reflect.Value) {
		seen++
		want := int64(10 * span)
		if v.Type() == reflect.TypeFor[unit.Rate]() {
			want = span / 10
		}
		if v.Int() != want {
			t.Errorf("%s is %d after Slow(10), want %d", path, v.Int(), want)
		}
	})
	if seen < 20 {
		t.Errorf("%d rates and times were found, want 20 or more", seen)
	}
}

// set gives every rate and time below v, the elements of maps too, the value n.
func set(v reflect.Value, n int64) {
	walk(v, "", func(_ string, v reflect.Value) { v.SetInt(n) })
}

// walk calls fn for every rate and every time of an experiment below v. The fabric
// has none, and what is not exported is no part of it.
func walk(v reflect.Value, path string, fn func(path string, v reflect.Value)) {
	switch v.Type() {
	case reflect.TypeFor[unit.Rate](), reflect.TypeFor[unit.Time]():
		fn(path, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), path, fn)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "Fabric" {
				walk(v.Field(i), path+"."+f.Name, fn)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), fn)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			e := reflect.New(v.Type().Elem()).Elem()
			e.Set(v.MapIndex(key))
			walk(e, fmt.Sprintf("%s[%v]", path, key), fn)
			v.SetMapIndex(key, e)
		}
	}
}

func TestSlowRefuses(t *testing.T) {
	for _, c := range []struct {
		old, new string // in quick
		n        int
		want     string
	}{
		{"", "", 0, "slow: 0; valid: 1 to 1000000"},
		{"", "", -400, "slow: -400; valid: 1 to 1000000"},
		{"", "", 1_000_001, "slow: 1000001; valid: 1 to 1000000"},
		{"rate: 5050Mbit/s", "rate: 199bit/s", 400, "scenario quick: slowed down 400 times: flow A: nothing is left of 199bit/s"},
		{"duration: 5ms", "duration: 5m", 400, "scenario quick: slowed down 400 times: duration: 5m0s becomes more than 24h0m0s"},
		{"max_latency: 7us", "max_latency: 900h", 2, "scenario quick: slowed down 2 times: expect_for itsy: max_latency: 900h0m0s becomes more than 24h0m0s"},
	} {
		s, err := Parse("quick.yaml", []byte(strings.Replace(quick, c.old, c.new, 1)), known)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Slow(c.n); err == nil || err.Error() != c.want {
			t.Errorf("%q -> %q, %d times slower: %v, want %s", c.old, c.new, c.n, err, c.want)
		}
	}
}
