package compare

import (
	"context"
	"errors"
	"slices"

	"softswitch/internal/lists"
	"softswitch/study/shard"
)

// Command is what shards of comparisons are of.
const Command = "compare"

// inputs is all that the rows depend on.
type inputs struct {
	Scenarios []scenarioFile `json:"scenarios"`
	Systems   []string       `json:"systems"`
	Runs      int            `json:"runs"`
	First     uint64         `json:"seed_from"`
}

// scenarioFile is a scenario by its name and what is in it.
type scenarioFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// RunPart plays a part of the scenarios with all systems, in virtual time.
func (m *Matrix) RunPart(ctx context.Context, part shard.Part) (*shard.File, error) {
	if m.World.Name != "sim" {
		return nil, errors.New("--shard: live, a machine plays all; valid: --world sim")
	}
	in := inputs{
		Scenarios: lists.Map(m.Scenarios, func(s Source) scenarioFile { return scenarioFile{s.Name, s.SHA256} }),
		Systems:   lists.Map(m.Systems, func(s System) string { return s.Name }), Runs: m.Runs, First: m.First,
	}
	ours := *m
	ours.Scenarios = make([]Source, part.Count(len(m.Scenarios)))
	for i := range ours.Scenarios {
		ours.Scenarios[i] = m.Scenarios[part.Item(i)]
	}
	c, err := ours.Run(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Failure(); err != nil {
		return nil, err
	}
	rows := make([][]Row, len(ours.Scenarios))
	for i := range rows {
		rows[i] = c.Rows[i*len(m.Systems):][:len(m.Systems)]
	}
	return shard.New(Command, part, len(m.Scenarios), in, rows, true), nil
}

// Merge is the comparison of all scenarios.
func Merge(w *shard.Whole) (*Comparison, error) {
	var in inputs
	if err := w.Inputs(&in); err != nil {
		return nil, err
	}
	scenarios, err := shard.Records[[]Row](w)
	if err != nil {
		return nil, err
	}
	return &Comparison{World: "sim", Rows: slices.Concat(scenarios...)}, nil
}
