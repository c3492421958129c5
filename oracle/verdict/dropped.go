package verdict

import (
	"fmt"
	"slices"
	"strings"

	"softswitch/detect"
	"softswitch/internal/lists"
)

// countDropped fills in what was dropped on purpose, by flow. It comes after countFlows.
func (v *Verdict) countDropped() {
	v.DroppedOf = nil
	flows, hosts := v.named()
	for i := range v.Flows {
		f := &v.Flows[i]
		if n := f.Response + f.OverRate; n > 0 {
			v.DroppedOf = append(v.DroppedOf, DroppedOf{f.Name, slices.Contains(flows, f.Name) || slices.Contains(hosts, f.To), n, n + f.Received})
		}
	}
}

// named are the flows and the hosts that causes of true declarations name: the likeliest, and
// those that are named together with it.
func (v *Verdict) named() (flows, hosts []string) {
	for i := range v.Detections {
		if !v.Detections[i].TruePositive {
			continue
		}
		for k, c := range v.Detections[i].Causes {
			if k > 0 && !c.Together {
				break
			}
			flows = append(flows, c.Flows...)
			if c.Type == detect.CauseHost.String() {
				hosts = append(hosts, c.Node)
			}
		}
	}
	return flows, hosts
}

// dropped is how many frames were dropped on purpose of flows that are named, or of those that are not.
func (v *Verdict) dropped(named bool) int {
	return lists.Sum(v.droppedOf(named), func(d DroppedOf) int { return int(d.Frames) })
}

func (v *Verdict) droppedOf(named bool) []DroppedOf {
	return lists.Where(v.DroppedOf, func(d DroppedOf) bool { return d.Named == named })
}

// DroppedShown is how many flows a line has. Chosen: what fits in a line or two; the JSON has all.
const DroppedShown = 4

// writeDropped writes of whom frames were dropped on purpose, the flows with most first.
func (v *Verdict) writeDropped(t *table) {
	for _, x := range []struct {
		named bool
		whose string
	}{{true, "that a cause names"}, {false, "that no cause names"}} {
		some := v.droppedOf(x.named)
		if some == nil {
			continue
		}
		slices.SortStableFunc(some, func(a, b DroppedOf) int { return int(b.Frames - a.Frames) })
		parts := lists.Map(some[:min(len(some), DroppedShown)], func(d DroppedOf) string {
			return fmt.Sprintf("%s %d (%s)", d.Flow, d.Frames, d.Share())
		})
		if more := len(some) - DroppedShown; more > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", more))
		}
		t.wrap("dropped of  ", fmt.Sprintf("flows %s %d: %s", x.whose, v.dropped(x.named), strings.Join(parts, ", ")))
	}
}

// Share is which part of the flow's frames was dropped: "12.3 %", "<0.1 %".
func (d DroppedOf) Share() string {
	if 1000*d.Frames < d.Of {
		return "<0.1 %"
	}
	return fmt.Sprintf("%d.%d %%", 100*d.Frames/d.Of, 1000*d.Frames/d.Of%10)
}
