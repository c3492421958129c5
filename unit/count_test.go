package unit

import "testing"

func TestCount(t *testing.T) {
	for _, c := range []struct {
		got, want string
	}{
		{Count(1, "flow"), "1 flow"},
		{Count(0, "flow"), "0 flows"},
		{Count(uint64(2), "lossless frame"), "2 lossless frames"},
		{Count(int64(1), "switch"), "1 switch"},
		{Count(uint8(3), "switch"), "3 switches"},
		{Count(2, "refresh"), "2 refreshes"},
		{Count(2, "pass"), "2 passes"},
		{Count(2, "box"), "2 boxes"},
		{Count(2, "copy"), "2 copies"},
		{Count(1, "key"), "1 key"},
		{Count(2, "key"), "2 keys"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
