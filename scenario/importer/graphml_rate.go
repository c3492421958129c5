package importer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"softswitch/unit"
)

// speed is what an edge says of its rate.
type speed struct{ raw, number, units, label string }

// put keeps the value of a key.
func (s *speed) put(key, value string) {
	switch key {
	case "LinkSpeedRaw":
		s.raw = value
	case "LinkSpeed":
		s.number = value
	case "LinkSpeedUnits":
		s.units = value
	case "LinkLabel":
		s.label = value
	case "label":
		s.label = cmp.Or(s.label, value)
	}
}

// prefixes of rates, by their letter.
var prefixes = map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}

// labelled is a label that names one rate: "2.5 Gbps", "2x10Gb/s", "Peering, 1 Gbps", "45 Mbps DS-3". A B would
// be bytes.
var labelled = regexp.MustCompile(`^(?:[[:alpha:] ]+, ?)?(?:(\d+) ?x ?)?(\d+(?:\.\d+)?) ?([kKMGT])(?:bps|b/s|bit/s|bits/s)(?: [[:alpha:]][[:alnum:]-]*)?$`)

// rated is a label with a number and a unit of rates somewhere.
var rated = regexp.MustCompile(`\d ?[kKMGT](?:bps|[bB]/s|bit/s|bits/s)`)

// rate is the rate of an edge, 0 if it has none.
func (s *speed) rate(r *graphmlReader, line int) (unit.Rate, error) {
	switch {
	case s.raw != "":
		x, err := strconv.ParseFloat(s.raw, 64)
		if err != nil || !(x >= 1 && x <= 1e15) {
			return 0, r.faultAt(line, "LinkSpeedRaw: %q is not a rate in bit/s", clip(s.raw))
		}
		return unit.Rate(math.Round(x)), nil
	case s.number != "":
		x, err := strconv.ParseFloat(s.number, 64)
		times, ok := prefixes[strings.ToLower(s.units)]
		if err == nil && ok && x > 0 && x*times <= 1e15 {
			return unit.Rate(math.Round(x * times)), nil
		}
		r.t.tellAt(fmt.Sprintf("line %d", line), "LinkSpeed %q with LinkSpeedUnits %q is no rate", clip(s.number), clip(s.units))
	}
	if m := labelled.FindStringSubmatch(s.label); m != nil {
		x, err := strconv.ParseFloat(m[2], 64)
		times := prefixes[strings.ToLower(m[3])]
		if m[1] != "" {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return 0, nil
			}
			times *= float64(n)
		}
		if err == nil && x*times >= 1 && x*times <= 1e15 {
			return unit.Rate(math.Round(x * times)), nil
		}
	}
	if rated.MatchString(s.label) {
		r.t.tellAt(fmt.Sprintf("line %d", line), "a label that names no one rate, such as %q", clip(s.label))
	}
	return 0, nil
}
