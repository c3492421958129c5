package unit

import (
	"fmt"
	"strings"
)

// Count is n things in words: "1 flow", "2 flows", "1 switch", "0 switches". The thing is a noun that has
// a regular plural, with what belongs before it: "lossless frame".
func Count[N ~int | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64](n N, thing string) string {
	if n != 1 {
		thing = plural(thing)
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// plural is the plural of a regular noun.
func plural(noun string) string {
	stem, y := strings.CutSuffix(noun, "y")
	switch {
	case y && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") && !strings.HasSuffix(stem, "o"):
		return stem + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	}
	return noun + "s"
}
