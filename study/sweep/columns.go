package sweep

import (
	"slices"

	"softswitch/internal/lists"
	"softswitch/oracle/verdict"
)

// columns are those of the axes, which have only a name, the figures of a verdict, and two of each flow.
func (c *Checked) columns() (all []verdict.Figure) {
	all = append(lists.Map(c.Axes, func(a Axis) verdict.Figure { return verdict.Figure{Key: a.Path} }), verdict.Figures...)
	for _, name := range c.flows {
		all = append(all,
			verdict.Figure{Key: "throughput_bps." + name, Of: ofFlow(name, func(f *verdict.FlowResult) int64 { return f.Throughput })},
			verdict.Figure{Key: "final_bps." + name, Of: ofFlow(name, func(f *verdict.FlowResult) int64 { return f.Final })})
	}
	return all
}

// ofFlow is a figure of the flow called name, nil if there is no such flow.
func ofFlow(name string, of func(*verdict.FlowResult) int64) func(*verdict.Verdict) any {
	return func(v *verdict.Verdict) any {
		i := slices.IndexFunc(v.Flows, func(f verdict.FlowResult) bool { return f.Name == name })
		if i < 0 {
			return nil
		}
		return of(&v.Flows[i])
	}
}
