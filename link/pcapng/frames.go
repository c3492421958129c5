package pcapng

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/pcapgo"
)

// blockMax limits a block in bytes: far more than any packet, but safe to allocate.
const blockMax = 1 << 24

// Block types of packets that we do not write.
const (
	typeOldPacket    = 2
	typeSimplePacket = 3
)

var (
	// ErrCut says that the stream ends inside a block.
	ErrCut = errors.New("the capture is cut short here")

	errLengths = errors.New("the lengths of a pcapng block and of what it holds do not fit into each other")
)

// Frames reads the frames of a pcapng capture from any program, also while it is being
// written. It uses pcapgo's reader, which trusts the lengths in the file, behind a
// check of each block.
type Frames struct {
	ng     *pcapgo.NgReader
	blocks *blocks
	buf    *bufio.Reader // pcapgo's, empty after each packet
}

// NewFrames reads the section header. seen, unless nil, is called with the statistics
// of an interface as they come, between two packets.
func NewFrames(r io.Reader, seen func(id int, s pcapgo.NgInterfaceStatistics)) (*Frames, error) {
	f := &Frames{blocks: &blocks{r: r}}
	f.buf = bufio.NewReader(f.blocks)
	var err error
	f.ng, err = pcapgo.NewNgReader(f.buf, pcapgo.NgReaderOptions{
		WantMixedLinkType: true, SkipUnknownVersion: true, StatisticsCallback: seen,
	})
	return f, misfit(err)
}

// Next returns the next packet; the caller owns its data. The error is io.EOF at the
// end of the capture, ErrCut inside a block.
func (f *Frames) Next() ([]byte, gopacket.CaptureInfo, pcapgo.NgPacketOptions, error) {
	f.blocks.packet = false
	data, ci, opt, err := f.ng.ReadPacketDataWithOptions()
	const around = 16 // bytes of a block around the packet, at least
	if err == nil && (f.buf.Buffered() > 0 || len(f.blocks.rest) > 0 || len(data)+around > len(f.blocks.buf)) {
		err = errLengths
	}
	return data, ci, opt, misfit(err)
}

// Interface describes the interface of a packet: its name, and the number of its link type.
func (f *Frames) Interface(ci gopacket.CaptureInfo) (name string, link uint16, err error) {
	in, err := f.ng.Interface(ci.InterfaceIndex)
	return in.Name, uint16(in.LinkType), err
}

// Interfaces are the interfaces that the capture has described so far, from a number on.
func (f *Frames) Interfaces(from int) (all []pcapgo.NgInterface) {
	for i := from; i < f.ng.NInterfaces(); i++ {
		if in, err := f.ng.Interface(i); err == nil {
			all = append(all, in)
		}
	}
	return all
}

// misfit handles the case that pcapgo wanted more than the last block holds.
func misfit(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errLengths
	}
	return err
}

// blocks hands on a pcapng stream in whole blocks, stopping after each packet. It
// checks that a block has a plausible length, and the same one at its end.
type blocks struct {
	r      io.Reader
	order  binary.ByteOrder // of the section
	buf    []byte           // the block
	rest   []byte           // of buf, not handed on yet
	packet bool             // the block is a packet
}

// Read returns ErrCut if the stream ends inside a block, io.EOF after one.
func (b *blocks) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if b.packet {
			return 0, errLengths
		}
		if err := b.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// next reads a block: type, length, body, length again. The smallest has 12 bytes,
// enough to find the byte order of a section too.
func (b *blocks) next() error {
	const smallest = 12
	b.buf = slices.Grow(b.buf[:0], smallest)[:smallest]
	if _, err := io.ReadFull(b.r, b.buf); err != nil {
		if b.order == nil { // not even a header
			return cut(err, ErrCut)
		}
		return cut(err, io.EOF)
	}
	if err := b.beginSection(); err != nil {
		return err
	}
	typ, length := b.order.Uint32(b.buf), b.order.Uint32(b.buf[4:])
	if length < smallest || length > blockMax || length%4 != 0 {
		return fmt.Errorf("a pcapng block of type %#x says it has %d bytes; want a multiple of 4 from %d to %d", typ, length, smallest, blockMax)
	}
	b.buf = slices.Grow(b.buf, int(length)-smallest)[:length]
	if _, err := io.ReadFull(b.r, b.buf[smallest:]); err != nil {
		return cut(err, ErrCut)
	}
	if again := b.order.Uint32(b.buf[length-4:]); again != length {
		return fmt.Errorf("a pcapng block of type %#x says it has %d bytes at its start and %d at its end", typ, length, again)
	}
	b.rest = b.buf
	b.packet = typ == typePacket || typ == typeOldPacket || typ == typeSimplePacket
	return nil
}

// beginSection takes the byte order of a section header, whose type reads the same both
// ways. The stream must begin with one.
func (b *blocks) beginSection() error {
	if typ := binary.BigEndian.Uint32(b.buf); typ != typeSection {
		if b.order == nil {
			return fmt.Errorf("no pcapng capture: it begins with % x; want 0a 0d 0d 0a", b.buf[:4])
		}
		return nil
	}
	switch magic := b.buf[8:12]; {
	case binary.LittleEndian.Uint32(magic) == byteOrderMagic:
		b.order = binary.LittleEndian
	case binary.BigEndian.Uint32(magic) == byteOrderMagic:
		b.order = binary.BigEndian
	default:
		return fmt.Errorf("a pcapng section has byte-order magic % x; want 1a 2b 3c 4d in either order", magic)
	}
	return nil
}

// cut translates an error of io.ReadFull; nothing is the error if not a single byte
// came.
func cut(err, nothing error) error {
	switch err {
	case io.EOF:
		return nothing
	case io.ErrUnexpectedEOF:
		return ErrCut
	}
	return err
}
