package main

import (
	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/event"
	"softswitch/live/replay"
	"softswitch/node/config"
	"softswitch/unit"
)

// recordings are files for the scripts: of a switch whose link comes up, the same
// cut short, one that says something else, and one of another version.
func recordings() map[string][]byte {
	cfg := config.Switch{Name: "s1", ID: 1, Ports: []config.Port{{Name: "eth0"}, {Name: "eth1"}}}
	cfg.Fill()
	sw, err := dataplane.NewSwitch(cfg.Build(detect.NewNone, 8, 0))
	if err != nil {
		panic(err)
	}
	head := replay.AppendHeader(nil, replay.Header{Kind: replay.Switch, Name: "s1", Config: string(cfg.Marshal()), Batch: 8})
	record := func(down bool) []byte {
		e := replay.Encoder{Node: event.Node{ID: 1, Name: "s1", Ports: []string{"eth0", "eth1"}}}
		b := e.SetLink(append([]byte(nil), head...), 1000, 0, true)
		sw.SetLink(1000, 0, true)
		_, ev := sw.Work(nil)
		if down {
			ev[0].Type = event.LinkDown
		}
		b = e.SetLink(e.Events(b, ev), 2000, 0, false)
		sw.SetLink(2000, 0, false)
		_, ev = sw.Work(nil)
		b = e.Transmit(e.Events(b, ev), 3000, 0, 8, 0, unit.Never)
		return e.End(b, false)
	}
	good := record(false)
	other := append([]byte(nil), good...)
	other[9] = 99
	return map[string][]byte{"s1.rec": good, "cut.rec": good[:len(good)-3], "other.rec": record(true), "version.rec": other}
}
