package observe

import (
	"slices"

	"softswitch/host"
	"softswitch/internal/unit"
	"softswitch/scenario"
)

// Count fills in the part of a verdict that the nodes' counters tell: flows, lost
// frames, messages, sizes. Nodes that did not answer are left out of both lists.
func Count(v *scenario.Verdict, s *scenario.Scenario, switches []Switch, hosts []Host) {
	countFlows(v, s, hosts)
	// A lossless frame that a switch dropped is usually missed by its receiver too;
	// when no later frame of its flow arrived, only the switch knows.
	dropped := 0
	for i := range switches {
		w := &switches[i]
		dropped += int(w.LosslessLost)
		v.DetectorBytesPerSwitch = max(v.DetectorBytesPerSwitch, w.DetectorBytes)
		v.CounterBytesPerSwitch = max(v.CounterBytesPerSwitch, w.CounterBytes)
		for _, p := range w.Ports {
			v.ControlMessages += int(p.Messages[1])
		}
	}
	v.LosslessLost = max(v.LosslessLost, dropped)
}

func countFlows(v *scenario.Verdict, s *scenario.Scenario, hosts []Host) {
	sent, received := map[uint32]host.Sent{}, map[uint32]host.Received{}
	for i := range hosts {
		for _, f := range hosts[i].Sent {
			sent[f.Number] = f
		}
		for _, f := range hosts[i].Received {
			received[f.Number] = f
		}
	}
	for i, f := range s.Flows {
		out, in := sent[uint32(i)], received[uint32(i)]
		end := s.Duration
		if f.Stop > 0 {
			end = min(end, f.Stop)
		}
		v.Flows = append(v.Flows, scenario.FlowResult{
			Name: f.Name, From: s.Fabric.Nodes[f.From].Name, To: s.Fabric.Nodes[f.To].Name, Priority: int(f.Class),
			Sent: int64(out.Frames), Received: int64(in.Frames), Lost: int64(in.Lost), Reordered: int64(in.Reordered),
			Throughput: int64(in.Bytes) * 8 * int64(unit.Second) / int64(max(1, end-f.Start)),
		})
		if slices.Contains(s.PFC.Lossless, int(f.Class)) {
			v.LosslessLost += int(in.Lost)
		}
	}
}
