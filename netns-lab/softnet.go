package netnslab

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Softnet returns how many frames the kernel has dropped since boot because a
// CPU's backlog was full: the sum over all CPUs of /proc/net/softnet_stat, column
// 2. Frames that a veth loses are counted there and nowhere else, for the whole
// host at once: a run during which the number grew proves nothing.
func Softnet() (drops uint64, err error) {
	const path = "/proc/net/softnet_stat"
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("netnslab: %w", err)
	}
	if drops, err = softnetDrops(string(text)); err != nil {
		return 0, fmt.Errorf("netnslab: %s: %w", path, err)
	}
	return drops, nil
}

// softnetDrops sums the second column, in hexadecimal.
func softnetDrops(text string) (drops uint64, err error) {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			return 0, fmt.Errorf("line %d: %q: want two columns or more", i+1, line)
		}
		n, err := strconv.ParseUint(f[1], 16, 64)
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", i+1, err)
		}
		drops += n
	}
	return drops, nil
}
