package fuzz

import (
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/lists"
	"softswitch/study/shard"
)

// Command is what shards of runs are of.
const Command = "sim fuzz"

// inputs is all that a report depends on.
type inputs struct {
	Seed      uint64   `json:"seed"`
	Mode      Mode     `json:"mode"`
	Detectors []string `json:"detectors"`
	Responses []string `json:"responses,omitempty"`
	Rows      bool     `json:"rows,omitempty"`
}

// result is the report of a run, or the shard of a part, with the part's result.
func (r *Run) result(result any, report Report) Report {
	if r.Part.Whole() {
		return report
	}
	in := inputs{Seed: r.Seed, Mode: r.Mode, Detectors: r.detectors(), Rows: r.Rows}
	if modes[r.mode()].responses {
		in.Responses = lists.Map(r.Responses, func(c respond.Choice) string { return c.Name })
	}
	return shard.New(Command, r.Part, r.N, in, result, report.Clean())
}

// Merge is the report of a run of which all shards are there.
func Merge(w *shard.Whole) (Report, error) {
	var in inputs
	if err := w.Inputs(&in); err != nil {
		return nil, err
	}
	r := Run{N: w.Items, Seed: in.Seed, Mode: in.Mode, Rows: in.Rows, Workers: 1}
	for _, name := range in.Detectors {
		d, err := catalog.Named("detectors of the shards", name)
		if err != nil {
			return nil, err
		}
		r.Detectors = append(r.Detectors, d)
	}
	var err error
	if r.Responses, err = respond.Choose(in.Responses); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	return modes[r.mode()].kind.merge(&r, w)
}
