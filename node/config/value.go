package config

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"softswitch/link/impair"
	"softswitch/unit"
)

// nsPerMetre is how long light takes for a metre of fibre: 198,000 km/s.
const nsPerMetre = 1e9 / 198e6

// Cable is how long a frame takes for a cable of fibre, at 5.05 ns a metre.
type Cable unit.Time

// UnmarshalText reads a length in metres, such as "300m". Light takes 1s for it at most.
func (c *Cable) UnmarshalText(text []byte) error {
	number, ok := strings.CutSuffix(string(text), "m")
	thousandths, whole := unit.Decimal(number, 3)
	t := float64(thousandths) / 1000 * nsPerMetre
	if !ok || !whole || t > 1e9 {
		return fmt.Errorf(`%q is not the length of a cable: write metres, such as "300m"; at most 198000000m, in which light is under way for a second`, text)
	}
	*c = Cable(t)
	return nil
}

func (c Cable) String() string { return fmt.Sprintf("%.0fm", CableOf(unit.Time(c))) }

// CableOf is how many metres of fibre take this long.
func CableOf(t unit.Time) (metres float64) { return float64(t) / nsPerMetre }

// ParseListen splits a listen address, "127.0.0.1:9100" or "[::1]:9100", into host and
// port. The host defaults to 127.0.0.1: ":9100" or "9100".
func ParseListen(s string) (host, port string, err error) {
	port = s
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i+1:]
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return "", "", fmt.Errorf("%q: port %q; valid: host:port with a port of 0 to 65535, such as 127.0.0.1:9100", s, port)
	}
	return cmp.Or(host, "127.0.0.1"), port, nil
}

// Share is a share of frames in parts of [impair.Whole].
type Share int

// UnmarshalText reads a share such as "1%" or "0.05%", with at most two digits after the point.
func (s *Share) UnmarshalText(text []byte) error {
	number, ok := strings.CutSuffix(string(text), "%")
	n, scalable := unit.Decimal(number, 2)
	if !ok || !scalable || n > impair.Whole {
		return fmt.Errorf(`%q is not a share: write 0%% to 100%%, with at most two digits after the point, such as "0.5%%"`, text)
	}
	*s = Share(n)
	return nil
}

// String writes s as UnmarshalText reads it.
func (s Share) String() string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%02d", s/100, s%100), "0"), ".") + "%"
}
