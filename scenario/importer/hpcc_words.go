package importer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"softswitch/unit"
)

// words are those of a file, one after the other. err is the first fault; behind it
// everything is 0.
type words struct {
	file  string
	lines []string
	line  int // from 1, of the words
	rest  []string
	err   error
}

func newWords(f HPCCFile) *words {
	return &words{file: f.Name, lines: strings.Split(string(f.Data), "\n")}
}

func (w *words) faultf(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%s:%d: %s", w.file, w.line, fmt.Sprintf(format, args...))
	}
}

// next is the next word, "" with a fault if there is none.
func (w *words) next(what string) string {
	for w.err == nil && len(w.rest) == 0 {
		if w.line == len(w.lines) {
			w.faultf("the file ends where %s should be", what)
			return ""
		}
		w.rest = strings.Fields(w.lines[w.line])
		w.line++
	}
	if w.err != nil {
		return ""
	}
	word := w.rest[0]
	w.rest = w.rest[1:]
	return word
}

// end refuses a number behind the last of count entries: otherwise, what the head of the file does not
// count would be left out. A text may follow.
func (w *words) end(count int, what string) {
	for w.err == nil && len(w.rest) == 0 && w.line < len(w.lines) {
		w.rest = strings.Fields(w.lines[w.line])
		w.line++
	}
	if len(w.rest) == 0 {
		return
	}
	if _, err := strconv.Atoi(w.rest[0]); err == nil {
		w.faultf("%q is behind the last of %d %s, as the head of the file counts them: correct that, or take out the rest", w.rest[0], count, what)
	}
}

// value is v, or 0 behind a fault.
func value[T int | float64](w *words, v T) T {
	if w.err != nil {
		return 0
	}
	return v
}

func (w *words) number(what string, lo, hi int) int {
	word := w.next(what)
	n, err := strconv.Atoi(word)
	if err != nil || n < lo || n > hi {
		w.faultf("%q is not %s: write %d to %d", word, what, lo, hi)
	}
	return value(w, n)
}

func (w *words) real(what string, most float64) float64 {
	word := w.next(what)
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || !(x >= 0 && x <= most) {
		w.faultf("%q is not %s: write 0 to %g", word, what, most)
	}
	return value(w, x)
}

// measure is a number with one of the units, which have these values.
func (w *words) measure(what, example string, units map[string]float64) float64 {
	word := w.next(what)
	end := strings.LastIndexAny(word, "0123456789.") + 1
	times, ok := units[word[end:]]
	x, err := strconv.ParseFloat(word[:end], 64)
	if err != nil || !ok || !(x >= 0 && x*times <= 1e15) {
		w.faultf("%q is not %s: write one such as %s", word, what, example)
	}
	return value(w, x*times)
}

func (w *words) rate() unit.Rate {
	r := unit.Rate(math.Round(w.measure("a rate", "100Gbps", map[string]float64{
		"bps": 1, "Kbps": 1e3, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12, "b/s": 1, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9,
	})))
	if r == 0 {
		w.faultf("a rate of 0: write one above")
	}
	return r
}

func (w *words) delay() unit.Time {
	d := unit.Time(math.Round(w.measure("a delay", "1us", map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9})))
	if d > unit.Second {
		w.faultf("a delay of %d ns: at most 1s", d)
	}
	return d
}
