// Command compare plays the detector of this module, and some of softswitch's own, on the same random
// cases. It prints the report of "softswitch sim fuzz", and writes rows.csv for "softswitch compare plot".
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"runtime"
	"softswitch/detect/catalog"
	"softswitch/study/fuzz"

	"example.org/patience"
)

// others are compared with the detector.
var others = []string{"itsy", "itsypaper", "itsy-unchecked", "watchdog-alert", "loopbreaker"}

func main() {
	r := fuzz.Run{Seed: 1, Mode: fuzz.Usual, Rows: true, Workers: runtime.GOMAXPROCS(0), Progress: os.Stderr}
	flag.IntVar(&r.N, "n", 1700, "number of cases")
	flag.Parse()
	r.Detectors = append(r.Detectors, catalog.Detector{Name: "patience", New: patience.New})
	for _, name := range others {
		d, err := catalog.Named("others", name)
		if err != nil {
			log.Fatal(err)
		}
		r.Detectors = append(r.Detectors, d)
	}
	if err := compare(&r, "rows.csv"); err != nil {
		log.Fatal(err)
	}
}

func compare(r *fuzz.Run, file string) error {
	if err := r.Check(); err != nil {
		return err
	}
	report, err := r.Play(context.Background())
	if err != nil {
		return err
	}
	rows, err := os.Create(file)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := report.(fuzz.Table).WriteRows(rows); err != nil {
		return err
	}
	return report.WriteText(os.Stdout)
}
