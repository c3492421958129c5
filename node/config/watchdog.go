package config

import (
	"softswitch/detect"
	"softswitch/detect/watchdog"
	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// Watchdog is the times of SONiC's PFC watchdog, in the words of pfcwd, for the detectors called
// watchdog, but watchdog-juniper. They hold for any number of ports. Without it all are 200 ms, and
// more at switches of more than 32 ports.
type Watchdog struct {
	// Detection is how long a queue is stuck, from one poll to another, when it is called a storm.
	Detection *unit.Time `yaml:"detection_time,omitempty" schema:"time,default=200ms"`
	// Restoration is how long no pause has come when a storm is over.
	Restoration *unit.Time `yaml:"restoration_time,omitempty" schema:"time,default=200ms"`
	// Poll is the time from one look at the queues to the next, at most each of the others. Default:
	// 200ms, or the shorter of them.
	Poll *unit.Time `yaml:"poll,omitempty" schema:"time"`
}

// WatchdogMax is the longest time of a watchdog.
const WatchdogMax = 24 * 3600 * unit.Second

// Fill sets every unset field to its default.
func (w *Watchdog) Fill() {
	schema.Fill(w)
	if w.Poll == nil {
		poll := min(watchdog.Default().Poll, *w.Detection, *w.Restoration)
		w.Poll = &poll
	}
}

// CheckWatchdog adds the faults of a watchdog, which is filled in, at d's key "watchdog"; nil has none.
func CheckWatchdog(d *strictyaml.Doc, w *Watchdog) {
	if w == nil {
		return
	}
	bad := false
	for _, t := range []struct {
		key string
		at  unit.Time
	}{{"detection_time", *w.Detection}, {"restoration_time", *w.Restoration}} {
		if t.at <= 0 || t.at > WatchdogMax {
			d.Faultf("watchdog."+t.key, "%s: write a time above 0s, and at most 24h", t.at)
			bad = true
		}
	}
	if most := min(*w.Detection, *w.Restoration); !bad && (*w.Poll <= 0 || *w.Poll > most) {
		d.Faultf("watchdog.poll", "%s: write a time above 0s and at most %s, the shorter of detection_time and restoration_time", *w.Poll, most)
	}
}

// Timed is detector with the times of w where it is SONiC's watchdog; it is the detector itself where w is nil.
func (w *Watchdog) Timed(detector detect.Factory) detect.Factory {
	if w == nil {
		return detector
	}
	return func(v detect.View, a detect.Actions) detect.Detector {
		d := detector(v, a)
		dog, ok := d.(*watchdog.Watchdog)
		if !ok || dog.Config().Juniper {
			return d
		}
		c := dog.Config()
		c.Detection, c.Restoration, c.Poll, c.Given = *w.Detection, *w.Restoration, *w.Poll, true
		return c.Factory()(v, a)
	}
}
