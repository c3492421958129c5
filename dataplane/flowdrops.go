package dataplane

import (
	"softswitch/detect"
	"softswitch/unit"
)

// FlowDrops are the data frames of a flow that a switch dropped, lossy ones too. A flooded
// frame counts once for each copy.
type FlowDrops struct {
	Flow detect.FlowID
	// Lost had no way or no room. The others were dropped on purpose: Response to break a
	// deadlock, Policed above a rate or in a queue or a turn that was made lossy,
	// IncompleteARP for want of a MAC entry where nothing is flooded.
	Lost, Response, Policed, IncompleteARP uint64
	// Unwanted were of a station elsewhere.
	Unwanted uint64
}

// flowDropsMax is the number of flows whose drops a switch counts one by one. Chosen: memory
// stays bounded even if a sender makes up flows (docs/decisions/lossless.md).
const flowDropsMax = 4096

// flowDrops counts drops by flow: one by one for the first flowDropsMax flows that lose a
// frame, in one sum for all others and for what is not IPv4. The zero value is ready.
type flowDrops struct {
	index map[detect.FlowID]int32 // of flows
	flows []FlowDrops
	other FlowDrops
}

// count counts a data frame of a flow that is dropped for r.
func (d *flowDrops) count(flow detect.FlowID, r Reason) {
	k := d.of(flow)
	switch {
	// The two that have a column of their own come before the fate that they share with others.
	case r == DropResponse:
		k.Response++
	case r == DropIncompleteARP:
		k.IncompleteARP++
	case r.Fate() == OnPurpose:
		k.Policed++
	case r.Fate() == Lost:
		k.Lost++
	default:
		k.Unwanted++
	}
}

// of is where drops of a flow are counted. Flow 0 is what is not IPv4. A flow that was there
// before the table was full keeps its row.
func (d *flowDrops) of(flow detect.FlowID) *FlowDrops {
	if flow == 0 {
		return &d.other
	}
	i, known := d.index[flow]
	switch {
	case known:
	case len(d.flows) == flowDropsMax:
		return &d.other
	default:
		if d.index == nil {
			d.index = map[detect.FlowID]int32{}
		}
		i = int32(len(d.flows))
		d.index[flow] = i
		d.flows = append(d.flows, FlowDrops{Flow: flow})
	}
	return &d.flows[i]
}

// FlowDrops are the flows of which data frames were dropped, in the order in which they first
// lost one, to read between calls; other is what is not counted by flow: of flows beyond the
// first 4096, and of frames that are not IPv4.
func (s *Switch) FlowDrops() (flows []FlowDrops, other FlowDrops) { return s.lost.flows, s.lost.other }

// countLost counts a lossless frame that came in priority c and is lost.
func (k *PortCounters) countLost(c unit.Priority, r Reason) {
	k.LosslessLost++
	k.LostBy[r]++
	k.LostOf[c]++
	if r == DropHeadroom {
		k.HeadroomLost[c]++
	}
}
