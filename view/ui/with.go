package ui

import "softswitch/unit"

// runs takes note of what the switches run, and tells of another response.
func (m *model) runs(at unit.Time) {
	var with *With
	for i := range m.snaps {
		now := m.snaps[i].now
		switch {
		case now == nil || now.Response == "":
		case with == nil:
			with = &With{now.Detector, now.Response}
		default:
			with.Detector, with.Response = same(with.Detector, now.Detector), same(with.Response, now.Response)
		}
	}
	if with == nil {
		return
	}
	if m.with != nil && m.with.Response != with.Response && with.Response != several {
		m.tell(at, "response", "the response is %s from now on", with.Response)
	}
	if with.Response != several || m.with == nil {
		m.with = with
	}
}

// several stands for what switches differ in.
const several = "several"

func same(a, b string) string {
	if a == b {
		return a
	}
	return several
}
