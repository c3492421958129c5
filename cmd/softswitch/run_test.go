package main

import (
	"os"
	"testing"

	"softswitch/internal/testnetns"
)

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
