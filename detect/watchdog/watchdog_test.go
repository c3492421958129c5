package watchdog

import (
	"math/rand/v2"
	"testing"

	"softswitch/detect"
	"softswitch/unit"
)

// The pause begins at 150 ms: the poll at 200 ms is the baseline, and that at 400 ms
// agrees with it.
func TestStormTakesAnAgreeingSample(t *testing.T) {
	sc := start(t, Default())
	sc.until(150 * ms)
	sc.standstill()
	sc.until(399 * ms)
	sc.wantStorms(0, 0)
	sc.wantAsked()
	sc.until(400 * ms)
	sc.wantStorms(1, 0)
	sc.wantAsked("discard 1.3 true")
	sc.until(5000 * ms)
	sc.wantStorms(1, 0)
}

// The latency depends on where between two polls the pause begins: from just above one
// poll time to two.
func TestLatencyDependsOnPhase(t *testing.T) {
	for _, tc := range []struct{ begins, storm unit.Time }{{199 * ms, 400 * ms}, {201 * ms, 600 * ms}, {399 * ms, 600 * ms}} {
		sc := start(t, Default())
		sc.until(tc.begins)
		sc.standstill()
		sc.until(tc.storm - 1)
		sc.wantStorms(0, 0)
		sc.until(tc.storm)
		sc.wantStorms(1, 0)
	}
}

// A longer detection time takes as many samples as fit into it.
func TestDetectionOfFivePolls(t *testing.T) {
	sc := start(t, Config{Detection: 1000 * ms, Restoration: 200 * ms, Poll: 200 * ms})
	sc.standstill()
	sc.until(999 * ms)
	sc.wantStorms(0, 0)
	sc.until(1000 * ms)
	sc.wantStorms(1, 0)
}

// A late poll is charged for what has passed, neither more nor less, and does not move
// the grid; where it is the baseline, what was before it does not count.
func TestLatePoll(t *testing.T) {
	sc := start(t, Config{Detection: 1000 * ms, Restoration: 200 * ms, Poll: 200 * ms})
	sc.poll(0)
	sc.standstill()
	sc.poll(950 * ms)
	if d := sc.dog.Deadline(); d != 1000*ms {
		t.Errorf("after a late poll the next one is at %d ms, want 1000: the grid must not move", d/ms)
	}
	sc.poll(1000 * ms)
	sc.poll(1930 * ms)
	sc.wantStorms(0, 0)
	sc.poll(2000 * ms)
	sc.wantStorms(1, 0)
}

// Polls of a machine that is busy come a little early or late; that costs no other poll.
func TestPollsThatAreNotExact(t *testing.T) {
	sc := start(t, Default())
	sc.standstill()
	sc.poll(201 * ms)
	sc.poll(400 * ms)
	sc.wantStorms(1, 0)
	sc = start(t, Default())
	sc.standstill()
	sc.poll(203 * ms)
	sc.poll(400 * ms)
	sc.wantStorms(0, 0)
	sc.poll(600 * ms)
	sc.wantStorms(1, 0)
}

// Bytes of the priority group that waits most name the finding; it has no trigger.
func TestFindingNamesLargestPG(t *testing.T) {
	sc := start(t, Default())
	sc.standstill()
	sc.bytes[0], sc.bytes[3] = 20_000, 30_001
	sc.until(1000 * ms)
	sc.wantStorms(1, 0)
	if want := (detect.Finding{PG: detect.PG{Port: 3, Priority: priority}, Queue: q}); len(sc.findings) == 1 && sc.findings[0] != want {
		t.Errorf("reported %+v, want %+v", sc.findings[0], want)
	}
}

// Whatever interrupts a standstill begins the countdown anew.
func TestNoStorm(t *testing.T) {
	for name, between := range map[string]func(sc *script){
		"drains":           func(sc *script) { sc.left += 1500 },
		"resumed, paused":  func(sc *script) { sc.resume(); sc.pause() },
		"no pause":         func(sc *script) { sc.resume() },
		"drains in a blip": func(sc *script) { sc.resume(); sc.left += 1500; sc.pause() },
	} {
		t.Run(name, func(t *testing.T) {
			sc := start(t, Default())
			for at := unit.Time(0); at < 5000*ms; at += 190 * ms {
				sc.until(at)
				sc.standstill()
				sc.until(at + 189*ms)
				between(sc)
			}
			sc.wantStorms(0, 0)
			sc.wantAsked()
		})
	}
}

// A queue that holds nothing is no storm, however long it is paused.
func TestEmptyQueueIsNoStorm(t *testing.T) {
	sc := start(t, Default())
	sc.pause()
	sc.until(5000 * ms)
	sc.wantStorms(0, 0)
	sc.wantAsked()
}

// A receiver that lets nothing through for longer than two polls, and then goes on as
// if nothing had been, was no deadlock; the watchdog cannot tell, and drops.
func TestSlowReceiverIsCalledStorm(t *testing.T) {
	sc := start(t, Default())
	sc.standstill()
	sc.until(450 * ms)
	sc.resume()
	sc.left += 1500
	sc.wantStorms(1, 0)
	sc.wantAsked("discard 1.3 true")
}

func TestForward(t *testing.T) {
	sc := start(t, with(Forward))
	sc.standstill()
	sc.until(1000 * ms)
	sc.resume()
	sc.until(2000 * ms)
	sc.wantStorms(1, 1)
	sc.wantAsked("ignore 1.3 true", "ignore 1.3 false")
}

// An alert ends with the first sample that does not agree, not after a time.
func TestAlert(t *testing.T) {
	sc := start(t, with(Alert))
	sc.standstill()
	sc.until(3000 * ms)
	sc.wantStorms(1, 0)
	sc.resume()
	sc.until(3199 * ms)
	sc.wantStorms(1, 0)
	sc.until(3200 * ms)
	sc.wantStorms(1, 1)
	sc.wantAsked()
}

// Juniper's takes the two polls after the stall began, empties the queue, and restores
// it after the recovery time although pause frames still come; then it begins anew.
func TestJuniper(t *testing.T) {
	sc := start(t, Juniper())
	sc.until(50 * ms)
	sc.standstill()
	sc.until(199 * ms)
	sc.wantStorms(0, 0)
	sc.until(200 * ms)
	sc.wantStorms(1, 0)
	sc.wantAsked("flush 1.3 true")
	sc.until(399 * ms)
	sc.wantStorms(1, 0)
	sc.until(400 * ms)
	sc.wantStorms(1, 1)
	sc.wantAsked("flush 1.3 true", "flush 1.3 false")
	sc.until(600 * ms)
	sc.wantStorms(2, 1)
	sc.dog.Release()
	sc.wantAsked("flush 1.3 true", "flush 1.3 false", "flush 1.3 true", "flush 1.3 false")
}

// Juniper's does not see that a pause ended between two polls, only what left.
func TestJuniperLooksAtWhatLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		between func(sc *script)
		storms  uint64
	}{
		"resumed, paused":  {func(sc *script) { sc.resume(); sc.pause() }, 1},
		"drains":           {func(sc *script) { sc.left += 1500 }, 0},
		"no pause":         {func(sc *script) { sc.resume() }, 0},
		"empty":            {func(sc *script) { sc.bytes[in] = 0 }, 0},
		"drains in a blip": {func(sc *script) { sc.resume(); sc.left += 1500; sc.pause() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sc := start(t, Juniper())
			for at := 50 * ms; at < 350*ms; at += 100 * ms {
				sc.until(at)
				sc.standstill()
				tc.between(sc)
			}
			sc.wantStorms(tc.storms, 0)
		})
	}
}

// A storm lasts as long as pause frames come; the restoration time begins anew with each.
func TestRestoration(t *testing.T) {
	sc := start(t, Config{Detection: 200 * ms, Restoration: 600 * ms, Poll: 200 * ms})
	sc.standstill()
	sc.until(450 * ms)
	sc.wantStorms(1, 0)
	sc.paused = false // it is not honoured any more
	sc.until(900 * ms)
	sc.pauses++
	sc.until(1599 * ms)
	sc.wantStorms(1, 0)
	sc.until(1600 * ms)
	sc.wantStorms(1, 1)
	sc.wantAsked("discard 1.3 true", "discard 1.3 false")
}

// The last poll with a pause frame was late, those after it are not: the storm ends with as many polls all the same.
func TestRestorationAfterALatePoll(t *testing.T) {
	for name, c := range map[string]Config{
		"sonic":   {Detection: 200 * ms, Restoration: 600 * ms, Poll: 200 * ms},
		"juniper": Juniper(),
	} {
		t.Run(name, func(t *testing.T) {
			sc := start(t, c)
			sc.standstill()
			for at := c.Poll; len(sc.findings) == 0; at += c.Poll {
				sc.poll(at + ms/10)
			}
			sc.paused = false
			over := sc.dog.Deadline() - c.Poll + c.Restoration
			sc.until(over - 1)
			sc.wantStorms(1, 0)
			sc.until(over)
			sc.wantStorms(1, 1)
		})
	}
}

// A standstill that comes back after a storm is another storm, after as long.
func TestRecurs(t *testing.T) {
	sc := start(t, Default())
	sc.standstill()
	sc.until(400 * ms)
	sc.paused, sc.bytes[in] = false, 0
	sc.until(600 * ms)
	sc.wantStorms(1, 1)
	sc.standstill()
	sc.until(999 * ms)
	sc.wantStorms(1, 1)
	sc.until(1000 * ms)
	sc.wantStorms(2, 1)
	sc.wantAsked("discard 1.3 true", "discard 1.3 false", "discard 1.3 true")
}

// Frames are counted while a storm lasts, and by the latest storm.
func TestStats(t *testing.T) {
	sc := start(t, Default())
	sc.frames = detect.Frames{Tx: 1000, TxDropped: 5, Rx: 2000, RxDropped: 7}
	sc.standstill()
	sc.until(400 * ms)
	sc.frames = detect.Frames{Tx: 1001, TxDropped: 15, Rx: 2002, RxDropped: 37}
	first := Packets{Tx: 1, TxDropped: 10, Rx: 2, RxDropped: 30}
	wantStats(t, "in the first storm", sc.dog.Stats(q), Stats{Stormed: true, Detected: 1, All: first, Last: first})
	sc.paused = false
	sc.until(600 * ms)
	wantStats(t, "after it", sc.dog.Stats(q), Stats{Detected: 1, Restored: 1, All: first, Last: first})
	sc.frames.Tx += 500
	sc.standstill()
	sc.until(1200 * ms)
	sc.frames.TxDropped += 100
	wantStats(t, "in the second storm", sc.dog.Stats(q), Stats{
		Stormed: true, Detected: 2, Restored: 1,
		All: Packets{Tx: 1, TxDropped: 110, Rx: 2, RxDropped: 30}, Last: Packets{TxDropped: 100},
	})
	wantStats(t, "of a lossy priority", sc.dog.Stats(detect.Queue{Port: 1, Priority: 0}), Stats{})
}

// A watchdog that is taken out ends its storms, and one that takes its place goes on counting.
func TestStatsOutliveRelease(t *testing.T) {
	sc := start(t, Default())
	sc.standstill()
	sc.until(200 * ms)
	sc.frames = detect.Frames{Tx: 1, TxDropped: 10, Rx: 2, RxDropped: 30}
	sc.dog.Release()
	sc.wantAsked("discard 1.3 true", "discard 1.3 false")
	first := Packets{Tx: 1, TxDropped: 10, Rx: 2, RxDropped: 30}
	before := sc.dog.Stats(q)
	wantStats(t, "after Release", before, Stats{Detected: 1, Restored: 1, All: first, Last: first})
	wantStats(t, "without a storm since", Stats{}.After(before), before)
	since := Stats{Stormed: true, Detected: 2, Restored: 1, All: Packets{Tx: 5, RxDropped: 1}, Last: Packets{Tx: 3}}
	wantStats(t, "with one", since.After(before), Stats{
		Stormed: true, Detected: 3, Restored: 2, All: Packets{Tx: 6, TxDropped: 10, Rx: 2, RxDropped: 31}, Last: Packets{Tx: 3},
	})
}

func wantStats(t *testing.T, when string, got, want Stats) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v, want %+v", when, got, want)
	}
}

// A queue that sends now and then is never a storm, wherever its polls fall; one that
// stands still always is, one to two polls after it began.
func TestRandomPhases(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 500 {
		poll := unit.Time(2 + r.IntN(1000))
		sc := start(t, Config{Detection: poll, Restoration: poll, Poll: poll})
		at := unit.Time(0)
		for range 50 {
			sc.standstill()
			at += unit.Time(r.Int64N(int64(poll)))
			sc.until(at)
			sc.left += 60
		}
		sc.wantStorms(0, 0)
		sc.until(at + poll - 1)
		sc.wantStorms(0, 0)
		sc.until(at + 2*poll)
		sc.wantStorms(1, 0)
	}
}

// A poll allocates nothing.
func TestNoAllocs(t *testing.T) {
	sc := start(t, with(Alert))
	sc.standstill()
	if n := testing.AllocsPerRun(100, func() { sc.dog.Tick(sc.dog.Deadline()) }); n > 0.1 {
		t.Errorf("%v allocations a poll", n)
	}
}

// A polling interval that is set while the watchdog runs holds from the next poll on.
func TestSetPoll(t *testing.T) {
	sc := start(t, Config{Detection: 300 * ms, Restoration: 200 * ms, Poll: 200 * ms})
	sc.until(400 * ms)
	if err := sc.dog.SetPoll(100 * ms); err != nil {
		t.Fatal(err)
	}
	sc.standstill()
	sc.until(799 * ms)
	sc.wantStorms(0, 0)
	sc.until(800 * ms) // the baseline at 500 ms, and three intervals
	sc.wantStorms(1, 0)
	for _, poll := range []unit.Time{0, 201 * ms, 301 * ms} {
		if err := sc.dog.SetPoll(poll); err == nil || sc.dog.Config().Poll != 100*ms {
			t.Errorf("a poll of %d ms: %v, and now %d", poll/ms, err, sc.dog.Config().Poll/ms)
		}
	}
}

// A watchdog that does not poll sees no storm begin or end.
func TestSetPolling(t *testing.T) {
	sc := start(t, Default())
	sc.dog.SetPolling(false)
	sc.standstill()
	sc.until(2000 * ms)
	sc.wantStorms(0, 0)
	sc.dog.SetPolling(true)
	sc.until(2400 * ms)
	sc.wantStorms(1, 0)
}

// The big red switch drops in the lossless queues of the ports that are watched, whatever the action, and
// ends storms; nothing is detected until it is off.
func TestBigRedSwitch(t *testing.T) {
	sc := start(t, Config{Detection: 200 * ms, Restoration: 200 * ms, Poll: 200 * ms, Action: Forward})
	storms := func(detected, restored uint64) {
		t.Helper()
		if s := sc.dog.Stats(q); s.Detected != detected || s.Restored != restored {
			t.Errorf("at %d ms: %d storms, %d over; want %d, %d", sc.now/ms, s.Detected, s.Restored, detected, restored)
		}
	}
	sc.standstill()
	sc.until(400 * ms)
	var ports unit.PortSet
	ports.Add(q.Port)
	sc.dog.SetBigRed(true, ports)
	sc.dog.SetBigRed(true, ports)
	storms(2, 1)
	sc.until(5000 * ms)
	storms(2, 1)
	sc.dog.SetBigRed(false, ports)
	storms(2, 2)
	sc.until(5400 * ms)
	storms(3, 2)
	sc.wantAsked("ignore 1.3 true", "ignore 1.3 false", "discard 1.3 true", "discard 1.4 true", "discard 1.3 false", "discard 1.4 false", "ignore 1.3 true")
}
