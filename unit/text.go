package unit

import (
	"encoding"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count returns a number of things in words: "1 switch", "2 switches".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "ch") || strings.HasSuffix(what, "s") {
		what += "e"
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// rateUnits are the units of a rate from the smallest on, with their powers of ten.
var rateUnits = [...]struct {
	name  string
	power int
}{{"bit/s", 0}, {"kbit/s", 3}, {"Mbit/s", 6}, {"Gbit/s", 9}, {"Tbit/s", 12}}

// maxRate keeps all arithmetic with rates within 64 bits.
const maxRate = 1000e12

// ParseRate parses a rate such as "100Mbit/s", "2.5Gbit/s" or "0", which is unlimited.
// It is exact: a fraction of a bit per second is an error.
func ParseRate(s string) (Rate, error) {
	if s == "0" {
		return 0, nil
	}
	end := strings.LastIndexAny(s, "0123456789.") + 1
	number, name := s[:end], strings.TrimSpace(s[end:])
	for _, u := range rateUnits {
		if n, ok := Decimal(number, u.power); ok && u.name == name && n > 0 && n <= maxRate {
			return Rate(n), nil
		}
	}
	return 0, fmt.Errorf(`%q is not a rate: write a number and bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s, such as "100Mbit/s", or "0" for unlimited; at most 1000Tbit/s`, s)
}

// Decimal returns the decimal number x 10^power. It fails if that is not whole or does not fit.
func Decimal(number string, power int) (int64, bool) {
	whole, fraction, point := strings.Cut(number, ".")
	if whole == "" || point && fraction == "" || len(fraction) > power {
		return 0, false
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", power-len(fraction)), 10, 63)
	return int64(n), err == nil
}

// String writes r in the largest unit that does not exceed it, exactly: "2.5Gbit/s"; 0 is "0".
// ParseRate reads it back.
func (r Rate) String() string {
	if r <= 0 {
		return "0"
	}
	digits := strconv.FormatInt(int64(r), 10)
	u := rateUnits[min((len(digits)-1)/3, len(rateUnits)-1)]
	whole, fraction := digits[:len(digits)-u.power], strings.TrimRight(digits[len(digits)-u.power:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	return whole + u.name
}

// UnmarshalText reads what ParseRate does.
func (r *Rate) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRate(string(text))
	return err
}

// MarshalText writes what String does.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// MarshalJSON writes r as a number of bits per second.
func (r Rate) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(r), 10), nil }

// UnmarshalJSON reads a number of bits per second, or a string that UnmarshalText reads.
func (r *Rate) UnmarshalJSON(data []byte) error { return unmarshalJSON(data, (*int64)(r), r) }

// FlowRate is a rate of a flow above zero; 0 is that of its port, "line".
type FlowRate Rate

// line is the text of the FlowRate 0.
const line = "line"

// UnmarshalText reads a rate such as "10Mbit/s", or "line".
func (r *FlowRate) UnmarshalText(text []byte) error {
	if string(text) == line {
		*r = 0
		return nil
	}
	rate, err := ParseRate(string(text))
	if err != nil || rate == 0 {
		return fmt.Errorf(`%q: write a rate above zero such as "10Mbit/s", or "line" for the link's`, text)
	}
	*r = FlowRate(rate)
	return nil
}

// MarshalText writes r as UnmarshalText reads it.
func (r FlowRate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r FlowRate) String() string {
	if r == 0 {
		return line
	}
	return Rate(r).String()
}

// maxTime keeps sums of times within 64 bits.
const maxTime = 1000 * time.Hour

// ParseTime parses a duration such as "10ms" or "1.5s". It must be 0 to 1000h; "" is an
// error.
func ParseTime(s string) (Time, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxTime {
		return 0, fmt.Errorf(`%q is not a time: write a number and ns, us, ms, s, m or h, such as "10ms"; at most 1000h`, s)
	}
	return Time(d), nil
}

// String writes t as ParseTime reads it: "1.5s".
func (t Time) String() string { return time.Duration(t).String() }

// UnmarshalText reads what ParseTime does.
func (t *Time) UnmarshalText(text []byte) (err error) {
	*t, err = ParseTime(string(text))
	return err
}

// MarshalText writes what String does.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes t as a number of nanoseconds.
func (t Time) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(t), 10), nil }

// UnmarshalJSON reads a number of nanoseconds, or a string that UnmarshalText reads.
func (t *Time) UnmarshalJSON(data []byte) error { return unmarshalJSON(data, (*int64)(t), t) }

func unmarshalJSON(data []byte, number *int64, text encoding.TextUnmarshaler) error {
	if data[0] != '"' {
		return json.Unmarshal(data, number)
	}
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	return text.UnmarshalText([]byte(s))
}
