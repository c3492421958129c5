package ui

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"softswitch/detect"
)

// TestRightIn: how often a cause is right is what the table of planted causes has.
func TestRightIn(t *testing.T) {
	data, err := os.ReadFile("../../docs/figures/causes-planted.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(data), "\nitsy: named ")
	if !ok {
		t.Fatal("no table of what itsy named")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, c := range detect.CauseTypes {
		row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(c.String()) + ` +\d+ +(\d+) \(`).FindStringSubmatch(table)
		if row == nil {
			t.Fatalf("no row for %v in\n%s", c, table)
		}
		if found, _ := strconv.Atoi(row[1]); found != rightIn[c] {
			t.Errorf("%v: right in %d of 100, the table has %d", c, rightIn[c], found)
		}
	}
}
