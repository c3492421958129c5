package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"softswitch/internal/ether"
	"softswitch/internal/timer"
	"softswitch/link"
	"softswitch/unit"
)

// workerBatch is the number of frames that a worker reads and writes at once.
const workerBatch = 64

// RunRelay forwards frames from interface IN to interface OUT until ctx ends: the minimum work of a
// forwarder with package link. args are IN and OUT. It writes a line to ready when it begins to read.
func RunRelay(ctx context.Context, args []string, ready io.Writer) error {
	r, w, err := openPair(ctx, args[0], args[1])
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	fmt.Fprintln(ready, "ready")
	if err := relay(r, w); !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("relay: %w", err)
	}
	return nil
}

// openPair opens two interfaces and closes them when ctx ends.
func openPair(ctx context.Context, in, out string) (r, w *link.Packet, err error) {
	if r, err = link.Open(in, link.Options{}); err != nil {
		return nil, nil, err
	}
	if w, err = link.Open(out, link.Options{}); err != nil {
		r.Close()
		return nil, nil, err
	}
	context.AfterFunc(ctx, func() {
		r.Close()
		w.Close()
	})
	return r, w, nil
}

func relay(r, w link.Link) error {
	bufs := buffers(workerBatch)
	for {
		n, err := r.Read(bufs)
		if err != nil {
			return err
		}
		for sent := 0; sent < n; {
			k, err := w.Write(bufs[sent:n])
			if err != nil && !errors.Is(err, link.ErrBusy) {
				return err
			}
			sent += k
		}
	}
}

func buffers(n int) [][]byte {
	bufs := make([][]byte, n)
	for i := range bufs {
		bufs[i] = make([]byte, 2048)
	}
	return bufs
}

// RunLaps sends a frame LAPS times from interface OUT round a ring to interface IN, one frame per EVERY
// or, if EVERY is 0, each when the previous one is back. args are IN, OUT, LAPS and EVERY. It writes
// the lap times, in ns and in order, to w as a JSON list.
func RunLaps(ctx context.Context, args []string, w io.Writer) error {
	laps, err := strconv.Atoi(args[2])
	if err != nil {
		return fmt.Errorf("lap: LAPS: %w", err)
	}
	every, err := time.ParseDuration(args[3])
	if err != nil {
		return fmt.Errorf("lap: EVERY: %w", err)
	}
	r, o, err := openPair(ctx, args[0], args[1])
	if err != nil {
		return fmt.Errorf("laps: %w", err)
	}
	t, err := timer.New()
	if err != nil {
		return fmt.Errorf("laps: %w", err)
	}
	defer t.Close()
	context.AfterFunc(ctx, func() { t.Close() })
	times := make([]unit.Time, 0, laps)
	for i := range laps {
		began := timer.Now()
		took, err := lap(r, o, uint32(i))
		if err != nil {
			return fmt.Errorf("laps: lap %d: %w", i, err)
		}
		times = append(times, took)
		if every == 0 {
			continue
		}
		t.Arm(began + unit.Time(every))
		if err := t.Wait(); err != nil {
			return fmt.Errorf("laps: %w", err)
		}
	}
	return json.NewEncoder(w).Encode(times)
}

// lapType marks the frames of a lap: an EtherType for local experiments.
const lapType = 0x88b5

// lap sends frame number n and waits for it.
func lap(r, w link.Link, n uint32) (unit.Time, error) {
	f := make([]byte, ether.MinLen)
	ether.SetAddresses(f, sinkMAC, sourceMAC)
	binary.BigEndian.PutUint16(f[12:], lapType)
	binary.BigEndian.PutUint32(f[14:], n)
	bufs := buffers(1)
	began := timer.Now()
	if _, err := w.Write([][]byte{f}); err != nil {
		return 0, err
	}
	for {
		if _, err := r.Read(bufs); err != nil {
			return 0, err
		}
		if b := bufs[0]; len(b) >= 18 && binary.BigEndian.Uint16(b[12:]) == lapType && binary.BigEndian.Uint32(b[14:]) == n {
			return timer.Now() - began, nil
		}
	}
}
