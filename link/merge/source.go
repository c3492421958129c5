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
	block any // as from pcapng.Read
	ended bool
	err   error // why it was cut short; nil for an orderly end
}

// read passes on the blocks of a source, in order, until its end or gone.
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

// reason is why a stream was cut short, nil if it announced its end.
func reason(err error, orderly bool) error {
	switch {
	case orderly:
		return nil
	// A peer that leaves requests unread resets the connection.
	case err == nil, errors.Is(err, pcapng.ErrCut), errors.Is(err, syscall.ECONNRESET):
		return errCut
	}
	return fmt.Errorf("it cannot be read: %w", err)
}

// ask periodically asks a source for a mark until it accepts no more, or gone.
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
