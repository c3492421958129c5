package conform

import (
	"testing"

	"softswitch/unit"
)

// A calibration tells the longest silence, the slowest frame and what was lost.
func TestCalibrated(t *testing.T) {
	p, err := Load("good.yaml", []byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	task := &Task{Profile: p}
	s := task.Calibrate(1000_000, 300*unit.Millisecond)
	if len(s.Streams) != 6 || s.Streams[0].Rate != 8000_000 || s.Streams[1].From != 1 || s.Streams[2].Start < s.Streams[0].Stop {
		t.Errorf("%+v", s.Streams)
	}
	r := &Record{Script: s, Streams: make([]StreamRecord, 6)}
	for i, f := range s.Streams {
		x := &r.Streams[i]
		for at := f.Start; at < f.Stop; at += 10 * unit.Millisecond {
			delay := unit.Millisecond
			if i == 2 && x.Sent == 3 {
				delay = 5 * unit.Millisecond
			}
			x.Left = append(x.Left, Span{at, at})
			if i != 4 || x.Sent < 5 || x.Sent > 7 { // three frames lost
				x.Came++
				x.Arrivals = append(x.Arrivals, Arrival{Seq: x.Sent, At: Span{at + delay, at + delay}})
			}
			x.Sent++
		}
	}
	c := Calibrated(r, 1000_000)
	if c.Lost != 3 || c.Sent != 60 || c.Spread != 4*unit.Millisecond || c.Silence != 40*unit.Millisecond || c.Frames != 200 {
		t.Errorf("%+v", c)
	}
	if !Slower(Calibration{Silence: unit.Millisecond}, c) || Slower(c, c) || Slower(Calibration{Silence: 0}, Calibration{Silence: unit.Millisecond}) {
		t.Error("slower is not what was said")
	}
}
