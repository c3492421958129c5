package pcapng

import (
	"errors"
	"fmt"
	"io"
)

// blockMax bounds a block in bytes: a comment of 65,535 and the longest frame fit.
const blockMax = 1 << 20

// ErrCut says that the stream ends inside a block.
var ErrCut = errors.New("pcapng: the capture ends in the middle of a block")

// Reader reads what a Writer has written, also while it is still being written.
type Reader struct {
	r          io.Reader
	interfaces int
}

// NewReader reads the section header.
func NewReader(r io.Reader) (*Reader, error) {
	pr := &Reader{r: r}
	typ, body, err := pr.block()
	switch {
	case err == io.EOF:
		return nil, ErrCut
	case err != nil:
		return nil, err
	case typ != typeSection || len(body) < 16 || le.Uint32(body) != byteOrderMagic:
		return nil, errors.New("pcapng: no capture of softswitch: want a little-endian section header")
	}
	return pr, nil
}

// Next returns the next Interface, Packet or Statistics. A Packet's data belong to the
// caller. The error is io.EOF after a block, ErrCut inside one.
func (r *Reader) Next() (any, error) {
	typ, body, err := r.block()
	if err != nil {
		return nil, err
	}
	switch typ {
	case typeInterface:
		return r.readInterface(body)
	case typePacket:
		return r.readPacket(body)
	case typeStatistics:
		return r.readStatistics(body)
	}
	return nil, fmt.Errorf("pcapng: a block of type %#x; want %d (interface), %d (statistics) or %d (packet)", typ, typeInterface, typeStatistics, typePacket)
}

// block reads a block and returns its body, in memory of its own.
func (r *Reader) block() (typ uint32, body []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = ErrCut
		}
		return 0, nil, err
	}
	typ, length := le.Uint32(head[:]), le.Uint32(head[4:])
	if length < 12 || length > blockMax || length%4 != 0 {
		return 0, nil, fmt.Errorf("pcapng: a block of type %#x and %d bytes; want a multiple of 4 from 12 to %d", typ, length, blockMax)
	}
	body = make([]byte, length-8)
	if _, err := io.ReadFull(r.r, body); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = ErrCut
		}
		return 0, nil, err
	}
	body, again := body[:length-12], le.Uint32(body[length-12:])
	if again != length {
		return 0, nil, fmt.Errorf("pcapng: a block of type %#x has %d bytes by its start and %d by its end", typ, length, again)
	}
	return typ, body, nil
}

func (r *Reader) readInterface(body []byte) (any, error) {
	if len(body) < 8 || le.Uint16(body) != linkTypeEthernet {
		return nil, errors.New("pcapng: an interface that is none of Ethernet")
	}
	var in Interface
	err := eachOption(body[8:], func(code uint16, value []byte) {
		switch code {
		case ifName:
			in.Name = string(value)
		case ifDescription:
			in.Description = string(value)
		}
	})
	r.interfaces++
	return in, err
}

func (r *Reader) readPacket(body []byte) (any, error) {
	const fixed = 20
	if len(body) < fixed {
		return nil, fmt.Errorf("pcapng: a packet block of %d bytes; want at least %d", len(body), fixed)
	}
	p := Packet{Interface: int(le.Uint32(body)), Time: readTime(body[4:])}
	if err := r.known("packet on", p.Interface); err != nil {
		return nil, err
	}
	n := uint64(le.Uint32(body[12:]))
	padded := (n + 3) &^ 3
	if padded > uint64(len(body)-fixed) {
		return nil, fmt.Errorf("pcapng: a packet of %d bytes in a block that holds %d", n, len(body)-fixed)
	}
	p.Data = body[fixed : fixed+n : fixed+n]
	err := eachOption(body[fixed+padded:], func(code uint16, value []byte) {
		switch {
		case code == optComment:
			p.Comment = string(value)
		case code == epbFlags && len(value) == 4:
			p.Direction = Direction(le.Uint32(value) & 3)
		case code == epbDropCount && len(value) == 8:
			p.Dropped = le.Uint64(value)
		}
	})
	return p, err
}

func (r *Reader) readStatistics(body []byte) (any, error) {
	const fixed = 12
	if len(body) < fixed {
		return nil, fmt.Errorf("pcapng: a statistics block of %d bytes; want at least %d", len(body), fixed)
	}
	s := Statistics{Interface: int(le.Uint32(body)), Time: readTime(body[4:])}
	if err := r.known("statistics of", s.Interface); err != nil {
		return nil, err
	}
	err := eachOption(body[fixed:], func(code uint16, value []byte) {
		switch {
		case code == isbEndTime:
			s.End = true
		case code == isbIfDrop && len(value) == 8:
			s.Dropped = le.Uint64(value)
		}
	})
	return s, err
}

func (r *Reader) known(what string, id int) error {
	if id < 0 || id >= r.interfaces {
		return fmt.Errorf("pcapng: %s interface %d; %d were described", what, id, r.interfaces)
	}
	return nil
}

func readTime(b []byte) int64 { return int64(uint64(le.Uint32(b))<<32 | uint64(le.Uint32(b[4:]))) }

// eachOption calls see for each option.
func eachOption(b []byte, see func(code uint16, value []byte)) error {
	for len(b) >= 4 {
		code, n := le.Uint16(b), int(le.Uint16(b[2:]))
		if code == optEnd {
			return nil
		}
		padded := (n + 3) &^ 3
		if 4+padded > len(b) {
			return fmt.Errorf("pcapng: option %d has %d bytes; %d are left", code, n, len(b)-4)
		}
		see(code, b[4:4+n])
		b = b[4+padded:]
	}
	return nil
}
