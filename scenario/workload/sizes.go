package workload

import (
	_ "embed" // the distributions are files
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/stat"
)

// Sizes is a distribution of sizes in bytes.
type Sizes struct{ points []point }

// point says that percent of 100 messages have at most size bytes. Between two points the
// sizes are spread evenly.
type point struct{ size, percent float64 }

// Limits of a distribution.
const (
	maxSize   = 1 << 40
	maxPoints = 10_000
)

var (
	//go:embed websearch.txt
	websearch string
	//go:embed hadoop.txt
	hadoop string
	//go:embed storage.txt
	storage string
)

// Names are the names of Named.
var Names = []string{"websearch", "hadoop", "storage"}

// Named is a distribution that papers use; the files beside this one say where each is
// from.
func Named(name string) *Sizes {
	s, err := ParseSizes(map[string]string{"websearch": websearch, "hadoop": hadoop, "storage": storage}[name])
	if err != nil {
		panic(fmt.Sprintf("workload: %s: %v", name, err))
	}
	return s
}

// Fixed is the one size n, above 0.
func Fixed(n int) *Sizes { return &Sizes{[]point{{float64(n), 100}}} }

// ParseSizes reads a distribution, a point in each line: a size in bytes and the
// percentile that it has, both not below those of the line before, the last percentile
// 100. A first percentile above 0 is the share of messages of just that size. "#" begins a
// comment. The error names the line.
func ParseSizes(text string) (*Sizes, error) {
	s := &Sizes{}
	last := point{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		bad := func(format string, args ...any) error {
			return fmt.Errorf("line %d: %s", number, fmt.Sprintf(format, args...))
		}
		if len(fields) != 2 {
			return nil, bad("%q: write a size in bytes and a percentile, such as 10000 15", strings.TrimSpace(line))
		}
		size, err1 := strconv.ParseFloat(fields[0], 64)
		percent, err2 := strconv.ParseFloat(fields[1], 64)
		switch {
		case err1 != nil || !(size >= 0 && size <= maxSize):
			return nil, bad("%q is not a size: write 0 to %d bytes", fields[0], maxSize)
		case err2 != nil || !(percent >= 0 && percent <= 100):
			return nil, bad("%q is not a percentile: write 0 to 100", fields[1])
		case size < last.size:
			return nil, bad("size %s is below that of the line before", fields[0])
		case percent < last.percent:
			return nil, bad("percentile %s is below that of the line before", fields[1])
		case len(s.points) == maxPoints:
			return nil, bad("more than %d points", maxPoints)
		}
		last = point{size, percent}
		s.points = append(s.points, last)
	}
	switch {
	case len(s.points) == 0:
		return nil, fmt.Errorf("no points: write a size in bytes and a percentile in each line, such as 10000 15, the last with 100")
	case last.percent != 100:
		return nil, fmt.Errorf("line %d: the last percentile is %g, not 100", number, last.percent)
	case s.Mean() < 1:
		return nil, fmt.Errorf("line %d: a mean of %g bytes; at least 1", number, s.Mean())
	}
	return s, nil
}

// Mean is the mean size in bytes.
func (s *Sizes) Mean() float64 {
	mean, last := 0.0, point{s.points[0].size, 0}
	for _, p := range s.points {
		mean += (p.percent - last.percent) / 100 * (p.size + last.size) / 2
		last = p
	}
	return mean
}

// At is the size in bytes, at least 1, that the share of all sizes, 0 to 1, is not above.
func (s *Sizes) At(share float64) int {
	percent := 100 * share
	i, _ := slices.BinarySearchFunc(s.points, percent, func(p point, percent float64) int {
		if p.percent < percent {
			return -1
		}
		return 1
	})
	i = min(i, len(s.points)-1)
	size := s.points[i].size
	if i > 0 {
		a, b := s.points[i-1], s.points[i]
		if b.percent > a.percent {
			size = a.size + (b.size-a.size)*(percent-a.percent)/(b.percent-a.percent)
		}
	}
	return max(1, int(math.Round(size)))
}

// draw is a random size in bytes.
func (s *Sizes) draw(r *stat.Rand) int { return s.At(share(r)) }

// share is a number from 0 to just below 1.
func share(r *stat.Rand) float64 { return float64(r.Next()>>11) / (1 << 53) }
