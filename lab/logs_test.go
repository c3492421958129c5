package lab

import (
	"strings"
	"testing"

	"softswitch/unit"
)

// TestLogWarning: a run is warned of if a link takes less than is sent into it for so long that the
// log of a switch before it becomes longer than it may.
func TestLogWarning(t *testing.T) {
	const into = "flows:\n  - {name: A, from: h1, to: h2, rate: line}\n"
	const slow = into + "events:\n  - {at: 0s, do: slow, host: h2, rate: 50Mbit/s}\n"
	for _, c := range []struct{ what, more, want string }{
		{"nothing flows", "live: {log_limit_mib: 1}\n", ""},
		{"nothing waits", into + "live: {log_limit_mib: 1}\n", ""},
		// 50 Mbit/s of frames of 1000 bytes, and 150 bytes for each, in 2000 s.
		{"it fits", slow, ""},
		{"s1 waits for h2", slow + "live: {log_limit_mib: 1000}\n", "the event log of s1 may come to 1788 MiB in 33m20s of congestion, and live.log_limit_mib is 1000: a run whose log is full is not valid; give --log-limit 3576, or write live.log_limit_mib: 3576"},
		{"not for long", strings.Replace(slow, "50Mbit/s", "50Mbit/s, for: 1s", 1) + "live: {log_limit_mib: 1000}\n", ""},
		{"lossy", strings.Replace(slow, "line", "line, priority: 0", 1) + "live: {log_limit_mib: 1000}\n", ""},
		{"a flow that ends", strings.Replace(slow, "line", "line, size: 1000000", 1) + "live: {log_limit_mib: 1000}\n", ""},
	} {
		p := plan(t, c.more)
		if p.Scenario.Duration = 2000 * unit.Second; c.what == "it fits" {
			p.Scenario.Duration = 500 * unit.Second
		}
		if got := LogWarning(p); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
