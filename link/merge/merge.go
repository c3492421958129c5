// Package merge makes one capture of the captures of many nodes, while they grow.
//
//	node core0 ==pcapng==> reader --.
//	node core1 ==pcapng==> reader --+--> heap by time --> one pcapng
//	node agg0  ==pcapng==> reader --'    until all nodes
//	      <----- an octet: mark! -----   are past it
//
// A frame is written when every node has said, by a mark, that it has written all that is
// older. So the frames of all nodes come in the order of their time stamps, which are of
// one clock: a frame that is sent stands before the same frame received. A node that says
// nothing for a while (it is stopped, or the machine is too busy) is no longer waited for;
// what it then says late is written late, and counted.
//
// Read in this order: Run (merge.go), source.go, heap.go.
//
// Invariants:
//   - order: but for frames that are counted as late, time stamps do not decrease, and of
//     two frames with the same one that which was sent comes first;
//   - whole: each write to the output ends at the end of a block;
//   - bounded: at most heapMax bytes of frames wait; if the output is slow, so is the
//     reading, and the nodes miss frames rather than wait;
//   - accounted: of each interface, frames that its node missed are in the statistics at
//     the end.
//
// It starts no capture and knows no node: sources are streams.
package merge

import (
	"context"
	"io"
	"time"

	"softswitch/link/pcapng"
)

// Time constants of the merging.
const (
	// askEvery is how often a node is asked how far it is. What the output shows is that
	// much behind.
	askEvery = 50 * time.Millisecond
	// patience is how long a node that says nothing holds up the others.
	patience = time.Second
	// sendingMax is how long a link may take for sending a batch: frames get their time
	// stamps before, and into the capture after.
	sendingMax = 5 * time.Millisecond
	// endingMax is how long the nodes may take to write their last frames.
	endingMax = 2 * time.Second
)

// heapMax bounds the frames that wait for their turn, in bytes.
const heapMax = 64 << 20

// Source is the capture of one node.
type Source struct {
	Name string
	// Conn is a stream of pcapng, which ends with io.EOF after CloseWrite. An octet written
	// to it asks for statistics, a mark.
	Conn interface {
		io.ReadWriteCloser
		CloseWrite() error
	}
}

// Options of Run.
type Options struct {
	Note string // the comment of the capture
	// Ended, unless nil, is called when a node's capture has ended before it was asked to;
	// err is nil if the node ended in order, else what cut the capture short.
	Ended func(name string, err error)
}

// Result is what Run has done.
type Result struct {
	Frames uint64 // written
	Missed uint64 // not captured by their nodes, for want of room
	Late   uint64 // written behind frames of a later time
	Cut    int    // nodes whose captures were cut short
}

// Run writes the frames of all sources to w, each interface named "node:interface", until
// ctx ends or all sources have ended. It closes the sources and does not close w. The
// error is w's.
func Run(ctx context.Context, w io.Writer, sources []Source, opt Options) (Result, error) {
	out, err := pcapng.NewWriter(w, "softswitch", opt.Note)
	if err != nil {
		closeAll(sources)
		return Result{}, err
	}
	m := &merger{out: out, opt: opt, items: make(chan item, 1024)}
	gone := make(chan struct{}) // closed when nobody takes items any more
	for i, s := range sources {
		m.nodes = append(m.nodes, &node{name: s.Name, spoke: time.Now()})
		go read(s, i, m.items, gone)
		go ask(s, gone)
	}
	err = m.run(ctx, sources)
	close(gone)
	closeAll(sources)
	return m.result, err
}

func closeAll(sources []Source) {
	for _, s := range sources {
		s.Conn.Close()
	}
}

// merger is what Run works on.
type merger struct {
	out    *pcapng.Writer
	opt    Options
	items  chan item
	nodes  []*node
	wait   waiting
	count  uint64 // frames that came, to keep the order of equal ones
	last   int64  // the latest time stamp that was written
	ending bool   // the sources were told to end
	result Result
}

// node is what is known of a source.
type node struct {
	name       string
	interfaces []*port   // by their numbers in its stream
	past       int64     // it has written all frames before this
	spoke      time.Time // when it last said anything
	ended      bool
}

// port is an interface of a node.
type port struct {
	pcapng.Interface
	id      int // in the output; -1 if it is not described there yet
	dropped uint64
}

// run takes what the sources say until all have ended.
func (m *merger) run(ctx context.Context, sources []Source) error {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	stop := ctx.Done()
	var deadline <-chan time.Time
	for live := len(m.nodes); live > 0; {
		select {
		case it := <-m.items:
			if it.ended {
				live--
			}
			if err := m.take(it); err != nil {
				return err
			}
		case <-tick.C:
			if err := m.writeOld(); err != nil {
				return err
			}
		case <-stop:
			stop, m.ending = nil, true
			deadline = time.After(endingMax)
			for _, s := range sources {
				s.Conn.CloseWrite()
			}
		case <-deadline:
			live = 0
		}
	}
	return m.end()
}

// take takes one thing that a source said.
func (m *merger) take(it item) error {
	n := m.nodes[it.node]
	n.spoke = time.Now()
	if it.ended {
		m.leave(n, it.err)
		return nil
	}
	switch b := it.block.(type) {
	case pcapng.Interface:
		b.Name = n.name + ":" + b.Name
		n.interfaces = append(n.interfaces, &port{Interface: b, id: -1})
	case pcapng.Packet:
		m.wait.push(frame{Packet: b, from: n.interfaces[b.Interface], number: m.count})
		m.count++
		for m.wait.bytes > heapMax {
			if err := m.writeFirst(); err != nil {
				return err
			}
		}
	case pcapng.Statistics:
		n.past = max(n.past, b.Time)
		n.interfaces[b.Interface].dropped = b.Dropped
	}
	return nil
}

// leave notes that a source has ended, in order if err is nil.
func (m *merger) leave(n *node, err error) {
	n.ended = true
	if err != nil {
		m.result.Cut++
	}
	if m.opt.Ended != nil && (err != nil || !m.ending) {
		m.opt.Ended(n.name, err)
	}
}

// writeOld writes the frames that nothing can come before any more.
func (m *merger) writeOld() error {
	past := m.past()
	if past <= 0 { // somebody has not begun
		return nil
	}
	if err := m.describe(); err != nil {
		return err
	}
	for len(m.wait.frames) > 0 && m.wait.frames[0].Time < past {
		if err := m.writeFirst(); err != nil {
			return err
		}
	}
	return m.out.Flush()
}

// describe describes the interfaces that are not described yet, in the order of the
// nodes.
func (m *merger) describe() error {
	for _, n := range m.nodes {
		for _, p := range n.interfaces {
			if p.id >= 0 {
				continue
			}
			id, err := m.out.AddInterface(p.Interface)
			if err != nil {
				return err
			}
			p.id = id
		}
	}
	return nil
}

// past is the time before which all nodes have written everything, of those that are
// waited for.
func (m *merger) past() int64 {
	past := int64(1<<63 - 1)
	for _, n := range m.nodes {
		if !n.ended && time.Since(n.spoke) < patience {
			past = min(past, n.past-int64(sendingMax))
		}
	}
	return past
}

func (m *merger) writeFirst() error {
	f := m.wait.pop()
	if f.from.id < 0 {
		if err := m.describe(); err != nil {
			return err
		}
	}
	f.Interface = f.from.id
	if f.Time < m.last {
		m.result.Late++
	}
	m.last = max(m.last, f.Time)
	m.result.Frames++
	return m.out.WritePacket(f.Packet)
}

// end writes what is left, and the statistics.
func (m *merger) end() error {
	if err := m.describe(); err != nil {
		return err
	}
	for len(m.wait.frames) > 0 {
		if err := m.writeFirst(); err != nil {
			return err
		}
	}
	for _, n := range m.nodes {
		if !n.ended { // it was told to end and did not
			m.leave(n, errStuck)
		}
		for _, p := range n.interfaces {
			m.result.Missed += p.dropped
			s := pcapng.Statistics{Interface: p.id, Time: max(m.last, n.past), Dropped: p.dropped, End: true}
			if err := m.out.WriteStatistics(s); err != nil {
				return err
			}
		}
	}
	return m.out.Flush()
}
