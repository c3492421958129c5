package merge

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"softswitch/link/pcapng"
)

var (
	errCut   = errors.New("it ended without its end: the node's process is gone, or hung up")
	errStuck = errors.New("the node does not end it: its process is stopped, or the machine too busy")
)

// item is a block of a source, or its end.
type item struct {
	node  int
	block any // as pcapng.Read tells it
	ended bool
	err   error // what cut it short; nil for an orderly end
}

// read passes on what a source says, in order, until its end or gone.
func read(s Source, node int, items chan<- item, gone <-chan struct{}) {
	pass := func(it item) {
		it.node = node
		select {
		case items <- it:
		case <-gone:
		}
	}
	orderly := false
	err := pcapng.Read(s.Conn, func(block any) {
		if st, ok := block.(pcapng.Statistics); ok {
			orderly = st.End
		}
		pass(item{block: block})
	})
	pass(item{ended: true, err: reason(err, orderly)})
}

// reason is what cut a stream short, nil if it said that it ends.
func reason(err error, orderly bool) error {
	switch {
	case orderly:
		return nil
	// A peer that goes without having read all that it was asked resets the connection.
	case err == nil, errors.Is(err, pcapng.ErrCut), errors.Is(err, syscall.ECONNRESET):
		return errCut
	}
	return fmt.Errorf("it cannot be read: %w", err)
}

// ask asks a source for a mark now and again until it takes no more, or gone.
func ask(s Source, gone <-chan struct{}) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		if _, err := s.Conn.Write([]byte{'\n'}); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-gone:
			return
		}
	}
}
