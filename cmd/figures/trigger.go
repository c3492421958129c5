package main

import (
	"softswitch/oracle/verdict"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/unit"
	"softswitch/view/plot"
)

// brokenAlone is the scenario of the figure on why the deadlock's trigger must be
// handled too: ITSY (Wu, Ng), Fig. 5.
const brokenAlone = "itsy-fig5"

// drawTrigger plays brokenAlone without a response, with breaking alone, and with the
// trigger handled too.
func drawTrigger(watch func(unit.Time) error) (*plot.Figure, error) {
	var all []*verdict.Verdict
	for _, response := range []string{"none", "drop", "drop+trigger"} {
		p, err := shipped(brokenAlone, load.Instead{Response: response})
		if err != nil {
			return nil, err
		}
		v, err := play(p, sim.Options{Watch: watch})
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return plot.Throughput(all), nil
}
