package control

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

func TestRest(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: RestMin, time.Microsecond: RestMin, time.Millisecond: 3 * time.Millisecond, 10 * time.Millisecond: 30 * time.Millisecond,
		time.Second: RestMax, time.Hour: RestMax,
	} {
		if got := Rest(took); got != want {
			t.Errorf("after %v: %v, want %v", took, got, want)
		}
	}
}

// always is a listener on which clients wait in a row.
type always struct{ net.Listener }

var errEvery = errors.New("as every time")

func (always) Accept() (net.Conn, error) { return nil, errEvery }

// Clients that wait are let in one after the other, also those that go wrong; one that comes
// later is let in at once.
func TestListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := Budgeted(always{})
		for _, wait := range []time.Duration{0, time.Hour} {
			time.Sleep(wait)
			begun := time.Now()
			for range 1000 {
				if _, err := ln.Accept(); err != errEvery {
					t.Fatal(err)
				}
			}
			if got := time.Since(begun); got != 999*RestMin {
				t.Errorf("1000 clients were let in within %v, want %v", got, 999*RestMin)
			}
		}
	})
}
