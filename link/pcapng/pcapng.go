// Package pcapng writes captures in the pcapng format, with optional comments on
// frames, which Wireshark shows in its column frame.comment. It reads its own captures,
// with comments, directions and statistics (Read), and the frames of any capture
// (Frames). pcapgo does the reading, behind a check that each block is complete.
//
//	file = SHB  IDB(eth0)  IDB(eth1)  EPB  EPB  ...  IDB(eth2)  EPB  ...  ISB  ISB
//
//	block = | type 4 | length 4 | body, padded to 4 | length 4 |
//
// A file has one section header (SHB), an interface description (IDB) before the
// first frame of each interface, one enhanced packet block (EPB) a frame, and
// interface statistics (ISB), which say how far the capture of an interface has come.
// Names and numbers are those of the Internet draft "PCAP Now Generic (pcapng) Capture
// File Format", sections 3.5 (options), 4.1 (SHB), 4.2 (IDB), 4.3 (EPB) and 4.6 (ISB).
//
// pcapgo's writer is not used: it cannot begin a capture before its first interface is
// known, and writes to the file wherever its buffer is full.
//
// Read in this order: pcapng.go (Writer), block.go (blocks and options), frames.go,
// reader.go.
//
// Invariants:
//   - whole-blocks: each write to the file ends at the end of a block, so that a
//     capture can be read while it grows.
//   - nanoseconds: time stamps are nanoseconds since 1970.
//   - little-endian: on every machine.
//   - bounded: no block of more than blockMax bytes is read, and nothing that is read
//     makes the reader panic.
//
// Writer and Read know no link type but Ethernet.
package pcapng

import (
	"fmt"
	"io"
)

// flushBytes is how much a Writer collects before it writes.
const flushBytes = 64 << 10

// Writer writes one section. Its methods may not be called from two goroutines at
// once. The first error of the file is returned by all later calls.
type Writer struct {
	w          io.Writer
	buf        []byte // whole blocks that are not written yet
	interfaces int
	err        error
}

// NewWriter starts a section that says which program wrote it, and comment unless
// it is empty. The header goes to w at once.
func NewWriter(w io.Writer, program, comment string) (*Writer, error) {
	pw := &Writer{w: w, buf: make([]byte, 0, 2*flushBytes)}
	pw.buf = appendSection(pw.buf, program, comment)
	return pw, pw.Flush()
}

// Interface describes an Ethernet interface.
type Interface struct {
	Name        string
	Description string // "" for none
}

// AddInterface describes an Ethernet interface and returns its number, counted
// from 0, for Packet.Interface. It may be called at any time.
func (w *Writer) AddInterface(in Interface) (int, error) {
	w.buf = appendInterface(w.buf, in)
	w.interfaces++
	return w.interfaces - 1, w.err
}

// Packet is a captured frame.
type Packet struct {
	Interface int       // as AddInterface returned it
	Time      int64     // ns since 1970-01-01 UTC
	Direction Direction // as the interface sees it
	Data      []byte    // the frame, whole, without FCS; lent for the call
	Dropped   uint64    // frames of the interface that were lost since its last one
	Comment   string    // "" for none; only its first 65,535 bytes are kept
}

// Direction is the direction field of epb_flags.
type Direction uint32

// Directions.
const (
	Unknown  Direction = 0
	Inbound  Direction = 1
	Outbound Direction = 2
)

// WritePacket adds a frame. It may stay in memory until Flush.
func (w *Writer) WritePacket(p Packet) error {
	if err := w.known("packet on", p.Interface); err != nil {
		return err
	}
	w.buf = appendPacket(w.buf, p)
	if len(w.buf) >= flushBytes {
		return w.Flush()
	}
	return w.err
}

// Statistics are how far the capture of an interface has come, and what it has lost.
type Statistics struct {
	Interface int    // as AddInterface returned it
	Time      int64  // ns since 1970-01-01 UTC: all frames before it stand before this
	Dropped   uint64 // frames of the interface that were lost since the capture began
	End       bool   // the capture of the interface ended then
}

// WriteStatistics adds statistics. They may stay in memory until Flush.
func (w *Writer) WriteStatistics(s Statistics) error {
	if err := w.known("statistics of", s.Interface); err != nil {
		return err
	}
	w.buf = appendStatistics(w.buf, s)
	return w.err
}

func (w *Writer) known(what string, id int) error {
	if id < 0 || id >= w.interfaces {
		return fmt.Errorf("pcapng: %s interface %d; there are %d, counted from 0", what, id, w.interfaces)
	}
	return nil
}

// Flush writes what is in memory.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.buf) > 0 {
		if _, err := w.w.Write(w.buf); err != nil {
			w.err = fmt.Errorf("pcapng: %w", err)
		}
	}
	w.buf = w.buf[:0]
	return w.err
}
