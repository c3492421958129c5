package live

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect"
	"softswitch/detect/itsypaper"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/live/record"
	"softswitch/live/replay"
	"softswitch/node/config"
	"softswitch/unit"
)

var recordedDetectors = map[string]detect.Factory{itsypaper.Name: itsypaper.New}

// recordedBed is a running bed of three paced ports whose machine is recorded on w.
func recordedBed(t *testing.T, rec **record.Recorder, w interface{ Write([]byte) (int, error) }) *bed {
	t.Helper()
	below, offset, headroom := 4000, 2000, 65536
	cfg := config.Switch{
		Name: "s7", ID: 7, Detector: itsypaper.Name,
		Buffer: config.Buffer{Size: 2000, StaticTh: &below, XONOffset: &offset, XOFF: &headroom},
	}
	for p := range unit.Port(3) {
		cfg.Ports = append(cfg.Ports, config.Port{Name: portName(p), Rate: 2_000_000}) // slower than any machine writes: what streams send piles up
		cfg.MAC = append(cfg.MAC, config.MAC{MAC: stationMAC(p), Port: int(p)})
	}
	cfg.Fill()
	node := event.Node{ID: 7, Name: "s7", Ports: []string{"p0", "p1", "p2"}}
	h := replay.Header{Kind: replay.Switch, Name: "s7", Config: string(cfg.Marshal()), Batch: Batch, Granularity: Granularity}
	return startBed(t, 3, opts{
		config: func(c *dataplane.Config) { *c = cfg.Build(itsypaper.New, Batch, Granularity) },
		machine: func(sw *dataplane.Switch) Machine {
			*rec = record.New(sw, w, h, node)
			return *rec
		},
	})
}

// A live node is recorded while four goroutines send through it, pauses come and
// run out, and a link is cut and opened anew. Played again it says the same.
func TestRecordAndReplay(t *testing.T) {
	var file bytes.Buffer
	var rec *record.Recorder
	b := recordedBed(t, &rec, &file)
	seed := testkit.Seed(t)
	b.write(1, pfc(65535)) // 17 s: priority 3 towards port 1 piles up, and port 0 is paused
	b.awaitEvents(event.Paused, 1)
	var streams sync.WaitGroup
	for p := range unit.Port(2) {
		streams.Go(func() {
			if err := b.stream(p, 1-p, 1000, 200, rand.New(rand.NewPCG(seed, uint64(p)))); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
	}
	b.awaitEvents(event.XOFF, 1)
	b.write(1, pfc(2000)) // 0.5 s
	b.awaitEvents(event.Expired, 1)
	b.write(1, pfc(65535), pfc(0))
	b.awaitEvents(event.Resumed, 1)
	b.setLink(2, 0, false) // the interface is gone
	b.setLink(2, 2, true)
	streams.Wait()
	b.awaitEvents(event.XON, 1)
	b.stop()
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}

	res := play(t, file.Bytes())
	if !res.Same || res.Fault != "" || res.Full {
		t.Errorf("the replay is not the same: %+v, difference %+v", res, res.Difference)
	}
	frames := b.Stats(0).Received + b.Stats(1).Received + b.Stats(2).Received
	if uint64(res.Frames) != frames || res.Events != b.before+len(b.events) || res.Kind != replay.Switch || res.Name != "s7" {
		t.Errorf("%+v: want all %d frames and %d events", res, frames, b.before+len(b.events))
	}

	t.Run("cut short", func(t *testing.T) {
		whole := file.Bytes()
		for _, n := range []int{len(whole) - 1, len(whole) / 2, len(whole)/3 + 1, len(whole) / 7} {
			res := play(t, whole[:n])
			if !strings.Contains(res.Fault, "cut short") || !res.Same || res.Calls == 0 {
				t.Errorf("the first %d bytes: %+v, difference %+v", n, res, res.Difference)
			}
		}
	})
	t.Run("differs", func(t *testing.T) {
		damaged := bytes.Replace(file.Bytes(), []byte(`"type":"expired"`), []byte(`"type":"resumed"`), 1)
		res := play(t, damaged)
		if d := res.Difference; res.Same || d == nil || !strings.Contains(d.Recorded, `"resumed"`) || !strings.Contains(d.Replayed, `"expired"`) {
			t.Errorf("another event in the recording: %+v, %+v", res, d)
		}
	})
}

func play(t *testing.T, file []byte) *replay.Result {
	t.Helper()
	res, err := replay.Play(bytes.NewReader(file), recordedDetectors, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}
