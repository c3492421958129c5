package importer

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"softswitch/unit"
)

// words are those of a file, one after the other. A line that begins with "#" or "//" has none. err is the
// first fault; behind it everything is 0.
type words struct {
	file string
	data string // behind the line of the words
	line int    // from 1, of the words
	rest []string
	err  error
}

func newWords(f HPCCFile) *words { return &words{file: f.Name, data: string(f.Data)} }

func (w *words) faultf(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("%s: %s", w.place(), fmt.Sprintf(format, args...))
	}
}

// place is that of the word read last, with the file as the user calls it.
func (w *words) place() string { return fmt.Sprintf("%s:%d", w.file, w.line) }

// at is place as the head of a scenario has it, with the name of the file alone.
func (w *words) at() string { return fmt.Sprintf("%s:%d", filepath.Base(w.file), w.line) }

// lines reads on until there are words, and reports whether there are.
func (w *words) lines() bool {
	for len(w.rest) == 0 && w.data != "" {
		var line string
		line, w.data, _ = strings.Cut(w.data, "\n")
		w.line++
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			w.rest = strings.Fields(line)
		}
	}
	return len(w.rest) > 0
}

// next is the next word, "" with a fault if there is none.
func (w *words) next(what string) string {
	if w.err != nil {
		return ""
	}
	if !w.lines() {
		w.faultf("the file ends where %s should be", what)
		return ""
	}
	word := w.rest[0]
	w.rest = w.rest[1:]
	return word
}

// behind is how many lines behind the count entries that the head of a file counts begin with a number, as
// further entries do, and the place of the first. What else stands there is a comment.
func (w *words) behind() (lines int, place string) {
	for w.lines() {
		if _, err := strconv.ParseFloat(w.rest[0], 64); err == nil {
			if lines++; lines == 1 {
				place = w.at()
			}
		}
		w.rest = nil
	}
	return lines, place
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
		w.faultf("%q is not %s: write %d to %d", clip(word), what, lo, hi)
	}
	return value(w, n)
}

func (w *words) real(what string, most float64) float64 {
	word := w.next(what)
	x, err := strconv.ParseFloat(word, 64)
	if err != nil || !(x >= 0 && x <= most) {
		w.faultf("%q is not %s: write 0 to %g", clip(word), what, most)
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
		w.faultf("%q is not %s: write one such as %s", clip(word), what, example)
	}
	return value(w, x*times)
}

// rate reads a rate as ns-3 does: without a unit it is in bit/s.
func (w *words) rate() unit.Rate {
	r := unit.Rate(math.Round(w.measure("a rate", "100Gbps", map[string]float64{
		"": 1, "bps": 1, "Kbps": 1e3, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12, "b/s": 1, "kb/s": 1e3, "Kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12,
	})))
	if r == 0 {
		w.faultf("a rate of 0: write one above")
	}
	return r
}

// delay reads a time as ns-3 does: without a unit it is in seconds.
func (w *words) delay() unit.Time {
	d := unit.Time(math.Round(w.measure("a delay", "1us", map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "": 1e9})))
	if d > unit.Second {
		w.faultf("a delay of %s: at most 1s", d)
	}
	return d
}

// clip is a word as a fault shows it: not longer than a line.
func clip(word string) string {
	if len(word) > width {
		return word[:width] + "..."
	}
	return word
}
