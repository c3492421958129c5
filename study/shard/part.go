package shard

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxParts is into how many parts a run may be divided.
const MaxParts = 100_000

// Part is the items of a run whose number, from 0, leaves Number-1 when it is divided by Of.
// Number is 1 to Of. The zero Part is the whole run. It is a flag: --shard 3/7.
type Part struct{ Number, Of int }

// Whole reports whether it is all items.
func (p Part) Whole() bool { return p.Of == 0 }

// Count is how many items it has, of this number in the whole run.
func (p Part) Count(items int) int {
	if p.Whole() {
		return items
	}
	return (items - p.Number + p.Of) / p.Of
}

// Item is the number of its item i, which is below Count.
func (p Part) Item(i int) int {
	if p.Whole() {
		return i
	}
	return p.Number - 1 + i*p.Of
}

// String is the part as Set takes it, empty for the whole.
func (p *Part) String() string {
	if p.Whole() {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.Number, p.Of)
}

// Type implements pflag.Value.
func (p *Part) Type() string { return "I/N" }

// Set implements pflag.Value.
func (p *Part) Set(text string) error {
	number, of, _ := strings.Cut(text, "/")
	i, err := strconv.Atoi(number)
	n, err2 := strconv.Atoi(of)
	if err != nil || err2 != nil || n < 1 || n > MaxParts || i < 1 || i > n {
		return fmt.Errorf("valid: I/N, N from 1 to %d and I from 1 to N, such as 3/7", MaxParts)
	}
	*p = Part{i, n}
	return nil
}
