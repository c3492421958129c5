package play

import (
	"context"
	"io"
	"testing"

	"softswitch/buffer"
	"softswitch/conform"
	"softswitch/conform/mutant"
	"softswitch/dataplane"
	"softswitch/internal/testkit"
	"softswitch/node/config"
	"softswitch/unit"
)

// Cases that need a promise which our own profile does not make pass where it is kept, and fail where the
// switch is another one than its profile says.
func TestConformPromises(t *testing.T) {
	for _, tt := range []struct {
		name     string
		cases    []string
		promises func(*conform.Profile)
		breaks   func(*config.Switch)
		defect   mutant.Defect
	}{
		{name: "xoff", cases: []string{"B01"}, breaks: func(s *config.Switch) { *s.Buffer.StaticTh -= 8000 }},
		{name: "xon", cases: []string{"B02"}, breaks: func(s *config.Switch) { *s.Buffer.XONOffset += 8000 }},
		{name: "headroom", cases: []string{"B03"}, breaks: func(s *config.Switch) { *s.Buffer.XOFF -= 8000 }},
		{
			name: "headroom that a link needs", cases: []string{"B03"},
			promises: func(p *conform.Profile) { p.Buffer.Headroom = conform.Known{} },
			breaks:   func(s *config.Switch) { *s.Buffer.XOFF = 1600 },
		},
		{
			name: "pool", cases: []string{"B04"},
			promises: func(p *conform.Profile) { p.Buffer.Pool = conform.Known{N: 100_000, Is: true} },
			breaks:   func(s *config.Switch) { *s.Buffer.HeadroomPool.Size = 60_000 },
		},
		{
			name: "cell", cases: []string{"B07"},
			promises: func(p *conform.Profile) { p.Buffer.Cell = conform.Known{N: 208, Is: true} },
			breaks:   func(s *config.Switch) { s.Buffer.Cell = 200 },
		},
		{name: "no headroom", cases: []string{"N01", "N03", "N06"}, breaks: func(s *config.Switch) { *s.Buffer.XOFF = 1000 }},
		{name: "no watchdog", cases: []string{"N04"}, breaks: func(s *config.Switch) {
			d, p := 40*unit.Millisecond, 10*unit.Millisecond
			s.Detector, s.Watchdog = "watchdog", &config.Watchdog{Detection: &d, Restoration: &d, Poll: &p}
		}},
		{
			name: "a slow port", cases: []string{"N01", "N09"},
			promises: func(p *conform.Profile) { p.Ports[1].Speed /= 4 },
			breaks:   func(s *config.Switch) { *s.Buffer.XOFF = 1000 },
		},
		{name: "soak", cases: []string{"N10"}, breaks: func(s *config.Switch) { *s.Buffer.XOFF = 1000 }},
		{name: "code points", cases: []string{"Q01"}, breaks: func(s *config.Switch) { s.DSCPMap[40] = 3 }},
		{name: "weights", cases: []string{"Q02", "Q05"}, breaks: func(s *config.Switch) { s.Sched[3] = config.Sched{Type: "dwrr", Weight: 20} }},
		{
			name: "strict", cases: []string{"Q02"},
			promises: func(p *conform.Profile) { p.Scheduler[7] = conform.Share{Strict: true} },
			breaks:   func(s *config.Switch) { s.Sched[7] = config.Sched{Type: "dwrr", Weight: 10} },
		},
		{name: "ECN above min", cases: []string{"Q04"}, breaks: func(s *config.Switch) { *s.ECN.RED.Kmin -= 3000 }},
		{name: "ECN above max", cases: []string{"Q04"}, breaks: func(s *config.Switch) { s.ECN.RED.Kmax += 5000 }},
		{name: "ECN share", cases: []string{"Q04"}, breaks: func(s *config.Switch) { s.ECN.RED.Pmax = 80 }},
		{name: "PFC is counted", cases: []string{"C01"}, defect: mutant.Defect{In: func(_ unit.Port, f *buffer.Frame) unit.Time {
			if len(f.Data) > 17 && f.Data[12] == 0x88 && f.Data[17] == 1<<3 {
				f.Data[17] = 1 << 4 // and its timer is 0
			}
			return 0
		}}},
		{name: "sent PFC is counted", cases: []string{"C02"}, defect: mutant.Defect{Out: func(_ unit.Port, f *buffer.Frame) {
			if f.Control {
				f.Data[17] = 1 << 4
			}
		}}},
		{name: "PAUSE is no PFC", cases: []string{"C03"}, defect: mutant.Defect{In: func(_ unit.Port, f *buffer.Frame) unit.Time {
			if len(f.Data) > 17 && f.Data[12] == 0x88 && f.Data[15] == 1 && f.Data[14] == 0 {
				f.Data[14], f.Data[16], f.Data[17] = 1, 0, 1<<3
			}
			return 0
		}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, broken := range []bool{false, true} {
				opt := ConformOptions{Profile: ConformSelf(), Seed: testkit.Seed(t), Soak: 3 * unit.Second}
				if tt.promises != nil {
					tt.promises(opt.Profile)
				}
				if broken && tt.breaks != nil {
					opt.Switch = tt.breaks
				} else if broken {
					opt.Wrap = func(m dataplane.Machine) dataplane.Machine { return mutant.New(m, tt.defect) }
				}
				want := conform.Pass
				if broken {
					want = conform.Fail
				}
				for _, id := range tt.cases {
					opt.Cases = []*conform.Case{conform.Find(id)}
					r, err := ConformSim(context.Background(), opt, io.Discard)
					if err != nil {
						t.Fatal(err)
					}
					if o := r.Cases[0]; o.Result != want {
						t.Errorf("%s: %s: %s; want %s", id, o.Result, o.Reason, want)
					}
				}
			}
		})
	}
}
