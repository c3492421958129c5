package netnslab

import (
	"errors"

	"softswitch/internal/beside"
)

// besideMax is how many things are done at a time where the kernel makes each wait, for
// milliseconds, until no CPU uses what it takes away.
const besideMax = 64

// sideBySide does n things side by side and returns all errors.
func sideBySide(n int, do func(i int) error) error {
	return errors.Join(beside.Each(besideMax, n, do)...)
}
