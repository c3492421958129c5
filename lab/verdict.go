package lab

import (
	"strings"

	"softswitch/event"
	"softswitch/host"
	"softswitch/internal/unit"
	"softswitch/oracle"
	"softswitch/scenario"
)

// lateMax is how long a deadlock may be over before its declaration is false: 32
// hops of a hundred microseconds.
const lateMax = 32 * 100 * unit.Microsecond

// Verdict judges the run: the oracle by the logs of all switches, the flows by
// the hosts' counters, the scenario's expectation by both.
func (r *Run) Verdict() (*scenario.Verdict, error) {
	f, err := scenario.OracleFabric(r.Plan.Fabric)
	if err != nil {
		return nil, err
	}
	logs := make([]event.Log, len(r.Nodes))
	for i, n := range r.Nodes {
		logs[i] = n.Log
	}
	truth, err := oracle.Judge(f, logs, r.End, lateMax)
	if err != nil {
		return nil, err
	}
	s := r.Plan.Scenario
	v := &scenario.Verdict{
		Scenario: s.Name, World: "live", Detector: s.Detector, Response: s.Response,
		Invalid: strings.Join(r.Invalid, "; "), Cores: r.Cores,
	}
	v.Judge(truth, r.Start)
	r.countFlows(v)
	r.countSwitches(v)
	v.Check(s.Wanted())
	return v, nil
}

// countFlows fills in what became of each flow.
func (r *Run) countFlows(v *scenario.Verdict) {
	s := r.Plan.Scenario
	sent, received := map[uint32]host.Sent{}, map[uint32]host.Received{}
	for _, n := range r.Nodes {
		if n.Host == nil {
			continue
		}
		for _, f := range n.Host.Sent {
			sent[f.Number] = f
		}
		for _, f := range n.Host.Received {
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
		if lossless(s, f.Class) {
			v.LosslessLost += int(in.Lost)
		}
	}
}

// countSwitches fills in what the switches counted. A lossless frame that a switch
// dropped is usually missed by its receiver too; when no later frame of its flow
// arrived, only the switch knows.
func (r *Run) countSwitches(v *scenario.Verdict) {
	dropped := 0
	for _, n := range r.Nodes {
		if n.Switch == nil {
			continue
		}
		dropped += int(n.Switch.LosslessLost)
		v.DetectorBytesPerSwitch = max(v.DetectorBytesPerSwitch, n.Switch.DetectorBytes)
		v.CounterBytesPerSwitch = max(v.CounterBytesPerSwitch, n.Switch.CounterBytes)
		for _, p := range n.Switch.Ports {
			v.ControlMessages += int(p.Messages[1])
		}
	}
	v.LosslessLost = max(v.LosslessLost, dropped)
}

func lossless(s *scenario.Scenario, class unit.Priority) bool {
	for _, c := range s.PFC.Lossless {
		if c == int(class) {
			return true
		}
	}
	return false
}
