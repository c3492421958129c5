package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"testing"

	"softswitch/internal/testnetns"
)

func TestAnnounce(t *testing.T) {
	cfg, err := switchConfig("", "itsy", []string{"a", "b", "c", "d"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Ports[1].Rate = "100Mbit/s"
	flags := map[string]net.Flags{"a": net.FlagUp | net.FlagRunning, "b": net.FlagUp, "c": net.FlagRunning}
	var said bytes.Buffer
	announce(&said, cfg, func(iface string) (net.Flags, error) {
		f, ok := flags[iface]
		if !ok {
			return 0, errors.New("there is none")
		}
		return f, nil
	})
	const want = `switch: detector itsy, response none, lossless classes [3 4]; ports a (no rate limit), b (100Mbit/s), c (no rate limit), d (no rate limit)
warning: port b has no carrier: its far end is down or not there
warning: port c is down; set it up: ip link set c up
`
	if said.String() != want {
		t.Errorf("it said\n%swant\n%s", &said, want)
	}
}

// TestRunSaysWhatItRuns: and which port is down, before anybody wonders.
func TestRunSaysWhatItRuns(t *testing.T) {
	b := newBed(t)
	here, there := testnetns.New(t), testnetns.New(t)
	here.Veth("p0", there, "far0")
	here.Veth("p1", there, "far1")
	here.SetDown("p1")
	var s *started
	if err := here.Do(func() error {
		s = b.start(b.program("softswitch", "run", "p0", "p1"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s.await("switch: detector none, response none, lossless classes [3 4]; ports p0 (no rate limit), p1 (no rate limit)")
	s.await("warning: port p1 is down; set it up: ip link set p1 up")
	s.signal(os.Interrupt)
	if r := s.end(); r.code != 0 {
		t.Errorf("exit status %d", r.code)
	}
}
