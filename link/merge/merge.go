// Package merge makes one capture of the captures of many nodes, while they grow.
//
//	node core0 ==pcapng==> reader --.
//	node core1 ==pcapng==> reader --+--> heap by time --> one pcapng
//	node agg0  ==pcapng==> reader --'    until all nodes
//	      <----- an octet: mark! -----   are past it
//
// A frame is written once every node has said, by a mark, that it has written
// everything older. So the frames of all nodes come out in the order of their time
// stamps, which are from one clock: a sent frame comes before the same frame received.
// A node that is silent for a while (it is stopped, or the machine is too busy) is no
// longer waited for; its late frames are written late, and counted.
//
// Read in this order: Run (merge.go), source.go, heap.go.
//
// Invariants:
//   - order: except for frames counted as late, time stamps do not decrease, and of two
//     frames with the same stamp the sent one comes first;
//   - whole: each write to the output ends at the end of a block;
//   - bounded: at most heapMax bytes of frames wait; a slow output slows down reading,
//     and the nodes miss frames rather than wait;
//   - accounted: the statistics at the end give, for each interface, the frames that
//     its node missed.
//
// It starts no capture and has no notion of nodes: sources are streams.
package merge

import (
	"context"
	"io"
	"time"

	"softswitch/link/pcapng"
)

// Time constants of the merging.
const (
	// askEvery is how often a node is asked how far it is. The output lags behind by
	// this.
	askEvery = 50 * time.Millisecond
	// sendingMax is how long a link may take to send a batch: frames get their time
	// stamps before, and are captured after.
	sendingMax = 5 * time.Millisecond
	// silentMax is how often all nodes may have said nothing since the last look while they have
	// last frames to write: 2 s. It is counted in looks, not in time, for a machine that is too
	// busy may leave this process none, and what came meanwhile unread.
	silentMax = int(2 * time.Second / askEvery)
)

// heapMax limits the frames waiting for their turn, in bytes.
const heapMax = 64 << 20

// Source is the capture of one node.
type Source struct {
	Name string
	// Conn is a stream of pcapng, which ends with io.EOF after CloseWrite. A byte
	// written to it asks for statistics, a mark.
	Conn interface {
		io.ReadWriteCloser
		CloseWrite() error
	}
}

// Options are the settings of Run.
type Options struct {
	Note string // the comment of the capture
	// Ended, unless nil, is called when a node's capture ended before it was asked to;
	// err is nil if the node ended in order, else the reason why the capture was cut
	// short.
	Ended func(name string, err error)
}

// Result is the outcome of Run.
type Result struct {
	Frames uint64 // written
	Missed uint64 // not captured by their nodes, for lack of space
	Late   uint64 // written after frames with a later time
	Cut    int    // nodes whose captures were cut short
}

// Run writes the frames of all sources to w, with each interface named
// "node:interface", until ctx ends or all sources have ended. It closes the sources but
// not w. The error is w's.
func Run(ctx context.Context, w io.Writer, sources []Source, opt Options) (Result, error) {
	out, err := pcapng.NewWriter(w, "softswitch", opt.Note)
	if err != nil {
		closeAll(sources)
		return Result{}, err
	}
	m := &merger{out: out, opt: opt, items: make(chan item, 1024)}
	gone := make(chan struct{}) // closed when nobody reads items any more
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

// merger is the state of Run.
type merger struct {
	out    *pcapng.Writer
	opt    Options
	items  chan item
	nodes  []*node
	wait   waiting
	count  uint64 // frames so far, to keep the order of equal ones
	last   int64  // the latest time stamp that was written
	ending bool   // the sources were asked to end
	result Result
}

// node is the state of a source.
type node struct {
	name       string
	interfaces []*port   // by their numbers in its stream
	past       int64     // it has written all frames before this time
	spoke      time.Time // when it last sent anything
	ended      bool
}

// port is an interface of a node.
type port struct {
	pcapng.Interface
	id      int // in the output; -1 if not yet described there
	dropped uint64
}

// run handles the items of the sources until all have ended.
func (m *merger) run(ctx context.Context, sources []Source) error {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	stop := ctx.Done()
	silent := 0 // looks since something came, or the end was asked for
	for live := len(m.nodes); live > 0; {
		select {
		case it := <-m.items:
			if it.ended {
				live--
			}
			silent = 0
			if err := m.take(it); err != nil {
				return err
			}
		case <-tick.C:
			if err := m.writeOld(); err != nil {
				return err
			}
			if silent++; m.ending && silent > silentMax {
				live = 0
			}
		case <-stop:
			stop, m.ending, silent = nil, true, 0
			for _, s := range sources {
				s.Conn.CloseWrite()
			}
		}
	}
	return m.end()
}

// take handles one item of a source.
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

// writeOld writes the frames that no other frame can precede any more.
func (m *merger) writeOld() error {
	past := m.past()
	if past <= 0 { // some node has not begun
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

// describe writes descriptions of the interfaces that are not described yet, in node
// order.
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

// patience is how long a silent node holds up the others. Tests replace it.
var patience = time.Second

// past is the time before which all nodes that are waited for have written everything.
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

// end writes the remaining frames, and the statistics.
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
		if !n.ended { // it was asked to end and did not
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
