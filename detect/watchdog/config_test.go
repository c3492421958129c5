package watchdog

import (
	"strings"
	"testing"

	"softswitch/detect"
	"softswitch/unit"
)

func TestScaling(t *testing.T) {
	half := Config{Detection: 600 * ms, Restoration: 700 * ms, Poll: 600 * ms}
	for _, tc := range []struct {
		ports                        int
		cfg                          Config
		detection, restoration, poll unit.Time
	}{
		{1, Default(), 200 * ms, 200 * ms, 200 * ms},
		{32, Default(), 200 * ms, 200 * ms, 200 * ms},
		{33, Default(), 400 * ms, 400 * ms, 400 * ms},
		{64, Default(), 400 * ms, 400 * ms, 400 * ms},
		{64, Juniper(), 200 * ms, 200 * ms, 100 * ms},
		{64, half, 1200 * ms, 1400 * ms, 1000 * ms},
	} {
		got := newWatchdog(tc.cfg, &stub{ports: tc.ports}, nil).cfg
		if want := (Config{Detection: tc.detection, Restoration: tc.restoration, Poll: tc.poll, Juniper: tc.cfg.Juniper}); got != want {
			t.Errorf("%d ports, %+v: %+v, want %+v", tc.ports, tc.cfg, got, want)
		}
	}
}

// Switches do not poll together: no two of 64 are within 1/128 of the poll time.
func TestPhases(t *testing.T) {
	const poll = 200 * ms
	for a := unit.NodeID(1); a <= 64; a++ {
		for b := a + 1; b <= 64; b++ {
			d := phase(a, poll) - phase(b, poll)
			d = min(max(d, -d), poll-max(d, -d))
			if d < poll/128 {
				t.Errorf("switches %d and %d poll %d us apart", a, b, d/unit.Microsecond)
			}
		}
		if p := phase(a, poll); p < 0 || p >= poll {
			t.Errorf("phase of switch %d is %d", a, p)
		}
	}
}

// The grid of a switch that starts at any time of its clock is that of its phase.
func TestGridOfPhase(t *testing.T) {
	w := newWatchdog(Default(), &phased{stub{ports: 1}}, nil)
	w.Tick(123_456_789_012_345)
	if d := w.Deadline() - w.phase; w.phase == 0 || d%(200*ms) != 0 || w.Deadline() <= w.last || w.Deadline() > w.last+200*ms {
		t.Errorf("phase %d: after a poll at %d the next is at %d", w.phase, w.last, w.Deadline())
	}
}

type phased struct{ stub }

func (*phased) Self() unit.NodeID { return 5 }

func TestNames(t *testing.T) {
	for want, f := range map[string]detect.Factory{
		"watchdog": New, "watchdog-forward": NewForward, "watchdog-alert": NewAlert, "watchdog-juniper": NewJuniper,
		"watchdog-broadcom": NewBroadcom, "watchdog-mellanox": NewMellanox, "watchdog-mellanox-2023": NewMellanox2023,
	} {
		d := f(&stub{ports: 4}, nil)
		if d.Name() != want {
			t.Errorf("a %s is called %s", want, d.Name())
		}
		if n := d.StateBytes(); n < 2*4*64 || n > 2*4*256 {
			t.Errorf("the state of 8 queues takes %d bytes", n)
		}
	}
}

func TestBadConfig(t *testing.T) {
	for _, tc := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "poll of 0 ns"},
		{Config{Detection: 100, Restoration: 200, Poll: 150}, "poll of 150 ns with a detection of 100 ns"},
		{Config{Detection: 200, Restoration: 100, Poll: 150}, "a restoration of 100 ns"},
		{Config{Detection: 200, Restoration: 200, Poll: -1}, "poll of -1 ns"},
		{Config{Detection: 200, Restoration: 200, Poll: 200, Action: 3}, "action 3: want 0 (drop)"},
		{Config{Detection: 200, Restoration: 200, Poll: 200, Action: Alert, Juniper: true}, "Juniper's with action alert"},
		{Config{Detection: 200, Restoration: 200, Poll: 200, ASIC: 4}, "ASIC 4: want 0 to 3"},
		{Config{Detection: 200, Restoration: 200, Poll: 200, ASIC: Broadcom, Juniper: true}, "watchdog-broadcom with action drop, Juniper's: true"},
		{Config{Detection: 200, Restoration: 200, Poll: 200, ASIC: Mellanox, Action: Forward}, "watchdog-mellanox with action forward"},
	} {
		if got := panicOf(func() { tc.cfg.Factory() }); !strings.Contains(got, tc.want) {
			t.Errorf("%+v: %q, want something with %q", tc.cfg, got, tc.want)
		}
	}
	if got := panicOf(func() { New(&stub{ports: 257}, nil) }); !strings.Contains(got, "257 ports: want 1 to 256") {
		t.Errorf("257 ports: %q", got)
	}
}

func panicOf(fn func()) (text string) {
	defer func() {
		switch r := recover().(type) {
		case error:
			text = r.Error()
		case string:
			text = r
		}
	}()
	fn()
	return ""
}

// A watchdog that is taken out of its switch leaves nothing behind of what it did.
func TestRelease(t *testing.T) {
	for action, undo := range map[Action]string{Drop: "discard 1.3 false", Forward: "ignore 1.3 false"} {
		sc := start(t, with(action))
		sc.dog.Release()
		sc.wantAsked()
		sc.standstill()
		sc.until(1000 * ms)
		sc.wantStorms(1, 0)
		sc.asked = nil
		sc.dog.Release()
		sc.wantAsked(undo)
	}
	if c := start(t, with(Alert)).dog.Config(); c != with(Alert) {
		t.Errorf("it goes by %+v, want %+v", c, with(Alert))
	}
}
