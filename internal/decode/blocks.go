package decode

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// Block types of pcapng (draft-ietf-opsawg-pcapng, section 4).
const (
	blockSection    = 0x0a0d0d0a
	blockInterface  = 1
	blockPacket     = 2 // obsolete
	blockSimple     = 3
	blockStatistics = 5
	blockEnhanced   = 6
)

const (
	maxBlock       = 1 << 24    // bytes; far more than any packet, little enough to allocate
	byteOrderMagic = 0x1a2b3c4d // second word of a section's body
	optEnd         = 0
	optResolution  = 9 // of an interface's timestamps
)

// blockReader hands on a pcapng stream only block by whole block, each checked
// first. The library behind it takes an end of file anywhere for the end of the
// capture, and trusts the lengths it reads; so whether a file was cut short, and
// whether its lengths fit into each other, is settled here.
//
// The zero value with r set is ready; the stream must begin with a section header.
type blockReader struct {
	r     io.Reader
	order binary.ByteOrder // of the section
	buf   []byte           // the block
	rest  []byte           // of buf, not handed on yet
	first bool             // the section has an interface
	snap  uint32           // the snapshot length of its first, 0 for no limit
}

// Read returns errCut if the stream ends inside a block, io.EOF after one.
func (b *blockReader) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if err := b.nextBlock(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// nextBlock reads a block: type, length, body, length again. The smallest has 12
// bytes, and so far the byte order of a section is known too.
func (b *blockReader) nextBlock() error {
	const smallest = 12
	b.buf = slices.Grow(b.buf[:0], smallest)[:smallest]
	if _, err := io.ReadFull(b.r, b.buf); err != nil {
		return cutShort(err)
	}
	typ := binary.BigEndian.Uint32(b.buf) // a section's type reads the same both ways
	if typ == blockSection {
		if err := b.beginSection(); err != nil {
			return err
		}
	} else {
		typ = b.order.Uint32(b.buf)
	}
	length := b.order.Uint32(b.buf[4:])
	if length < smallest || length > maxBlock || length%4 != 0 {
		return fmt.Errorf("a pcapng block of type %#x says it has %d bytes; want a multiple of 4 from %d to %d", typ, length, smallest, maxBlock)
	}
	b.buf = slices.Grow(b.buf, int(length)-smallest)[:length]
	if _, err := io.ReadFull(b.r, b.buf[smallest:]); err != nil {
		return cutInside(err)
	}
	if again := b.order.Uint32(b.buf[length-4:]); again != length {
		return fmt.Errorf("a pcapng block of type %#x says it has %d bytes at its start and %d at its end", typ, length, again)
	}
	if err := b.checkBody(typ, b.buf[8:length-4]); err != nil {
		return err
	}
	b.rest = b.buf
	return nil
}

func (b *blockReader) beginSection() error {
	switch magic := b.buf[8:12]; {
	case binary.LittleEndian.Uint32(magic) == byteOrderMagic:
		b.order = binary.LittleEndian
	case binary.BigEndian.Uint32(magic) == byteOrderMagic:
		b.order = binary.BigEndian
	default:
		return fmt.Errorf("a pcapng section has byte-order magic % x; want 1a 2b 3c 4d in either order", magic)
	}
	b.first = false
	return nil
}

// checkBody wants the fixed part of a block that the library reads to be there,
// and what it counts to lie inside.
func (b *blockReader) checkBody(typ uint32, body []byte) error {
	fixed := fixedPart(typ)
	if len(body) < fixed {
		return fmt.Errorf("a pcapng block of type %#x has a body of %d bytes; want at least %d", typ, len(body), fixed)
	}
	rest := body[fixed:]
	switch typ {
	case blockSection, blockStatistics:
		return b.checkOptions(typ, rest)
	case blockInterface:
		if !b.first {
			b.first, b.snap = true, b.order.Uint32(body[4:])
		}
		return b.checkOptions(typ, rest)
	case blockPacket, blockEnhanced:
		return checkCaptured(b.order.Uint32(body[12:]), rest)
	case blockSimple:
		n := b.order.Uint32(body)
		if b.snap != 0 {
			n = min(n, b.snap)
		}
		return checkCaptured(n, rest)
	}
	return nil
}

// fixedPart is how many bytes of a block's body come before what varies.
func fixedPart(typ uint32) int {
	switch typ {
	case blockSection:
		return 16
	case blockInterface:
		return 8
	case blockPacket, blockEnhanced:
		return 20
	case blockSimple:
		return 4
	case blockStatistics:
		return 12
	}
	return 0
}

func checkCaptured(n uint32, rest []byte) error {
	if uint64(n) > uint64(len(rest)) {
		return fmt.Errorf("a pcapng packet says it has %d captured bytes; its block holds %d", n, len(rest))
	}
	return nil
}

// checkOptions wants each option to end inside its block, and timestamps whose
// unit is no less than what 64 bits can count in a second.
func (b *blockReader) checkOptions(typ uint32, opts []byte) error {
	for len(opts) >= 4 { // blocks and fixed parts are multiples of 4
		code, n := b.order.Uint16(opts), int(b.order.Uint16(opts[2:]))
		if code == optEnd && n == 0 {
			return nil
		}
		padded := (n + 3) &^ 3
		if code == optEnd || padded > 0xffff || 4+padded > len(opts) {
			return fmt.Errorf("a pcapng block of type %#x has option %d of %d bytes, with %d left", typ, code, n, len(opts)-4)
		}
		if typ == blockInterface && code == optResolution {
			if err := checkResolution(opts[4 : 4+n]); err != nil {
				return err
			}
		}
		opts = opts[4+padded:]
	}
	return nil
}

// checkResolution: one octet, a power of 10, or of 2 if its upper bit is set.
func checkResolution(v []byte) error {
	const binaryBit, maxBinary, maxDecimal = 0x80, 63, 19
	if len(v) != 1 || v[0]&binaryBit == 0 && v[0] > maxDecimal || v[0]&^binaryBit > maxBinary {
		return fmt.Errorf("a pcapng interface has timestamp resolution % x; want one octet: 0 to 13 hexadecimal, or 80 to bf", v)
	}
	return nil
}

// cutShort tells an end between two blocks, io.EOF, from one inside a block.
func cutShort(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errCut
	}
	return err
}

// cutInside is cutShort where io.EOF too is inside a block.
func cutInside(err error) error {
	if err == io.EOF {
		return errCut
	}
	return cutShort(err)
}
