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

// FCSLen is how many octets of frame check sequence the packet that Next has returned ends with, 0 if
// the capture does not say: the packet's flags do, or else the description of its interface.
func (f *Frames) FCSLen(ci gopacket.CaptureInfo) int {
	if n := f.blocks.fcsOfPacket(); n > 0 || ci.InterfaceIndex >= len(f.blocks.fcs) {
		return n
	}
	return f.blocks.fcs[ci.InterfaceIndex]
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
	fcs    []int            // of each interface of the section: octets of FCS, 0 if it does not say
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
	switch typ {
	case typeSection:
		b.fcs = b.fcs[:0]
	case typeInterface:
		b.fcs = append(b.fcs, b.fcsOfInterface())
	}
	return nil
}

// fcsOfInterface is the length of the FCS that an interface's description gives (if_fcslen), in octets,
// 0 if it gives none. pcapgo leaves it out. The format has it in bits, and many a writer in octets: no
// FCS has less than 8 bits, and none has 8 octets.
func (b *blocks) fcsOfInterface() int {
	const options = 16 // behind type, length, link type, snapshot length
	switch v := b.option(options, ifFCSLen, 1); {
	case v == nil:
		return 0
	case v[0] >= 8:
		return int(v[0]) / 8
	default:
		return int(v[0])
	}
}

// fcsOfPacket is the length of the FCS that a packet's flags give (bits 5 to 8), in octets, 0 if they
// give none. pcapgo reads flags as if every section were little-endian.
func (b *blocks) fcsOfPacket() int {
	const lenAt, options = 20, 28 // of the captured octets, which are before the options
	if typ := b.order.Uint32(b.buf); typ != typePacket && typ != typeOldPacket || len(b.buf) < options {
		return 0
	}
	captured := int(b.order.Uint32(b.buf[lenAt:]))
	if v := b.option(options+captured+-captured&3, epbFlags, 4); v != nil {
		return int(b.order.Uint32(v) >> 5 & 0xf)
	}
	return 0
}

// option is the value of the first option of a code in the block, whose options begin at from; nil if
// there is none of n octets.
func (b *blocks) option(from int, code uint16, n int) []byte {
	end := len(b.buf) - 4 // the length again
	for from >= 0 && from+4 <= end {
		c, length := b.order.Uint16(b.buf[from:]), int(b.order.Uint16(b.buf[from+2:]))
		value := from + 4
		from = value + length + -length&3
		switch {
		case c == optEnd || from > end:
			return nil
		case c == code && length == n:
			return b.buf[value : value+n]
		}
	}
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
