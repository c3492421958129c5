package pcapng

import (
	"encoding/binary"
	"math"
	"strings"
)

// Block types.
const (
	typeSection    = 0x0A0D0D0A
	typeInterface  = 1
	typeStatistics = 5
	typePacket     = 6
)

// Option codes. 1 and 0 are the same in all blocks.
const (
	optEnd     = 0
	optComment = 1

	shbUserAppl = 4

	ifName        = 2
	ifDescription = 3
	ifTsResol     = 9
	ifFCSLen      = 13

	isbEndTime = 3
	isbIfDrop  = 5

	epbFlags     = 2
	epbDropCount = 4
)

const (
	byteOrderMagic   = 0x1A2B3C4D
	unknownLength    = math.MaxUint64 // -1: the section ends with the file
	linkTypeEthernet = 1
	noSnapLen        = 0
	nanoseconds      = 9 // if_tsresol: 10^-9 s
)

var le = binary.LittleEndian

func appendSection(b []byte, program, comment string) []byte {
	b, start := openBlock(b, typeSection)
	b = le.AppendUint32(b, byteOrderMagic)
	b = le.AppendUint16(b, 1) // version 1.0
	b = le.AppendUint16(b, 0)
	b = le.AppendUint64(b, unknownLength)
	b = appendText(b, optComment, comment)
	b = appendText(b, shbUserAppl, program)
	return closeBlock(b, start)
}

func appendInterface(b []byte, in Interface) []byte {
	b, start := openBlock(b, typeInterface)
	b = le.AppendUint16(b, linkTypeEthernet)
	b = le.AppendUint16(b, 0) // reserved
	b = le.AppendUint32(b, noSnapLen)
	b = appendText(b, ifName, in.Name)
	b = appendText(b, ifDescription, in.Description)
	b = appendOption(b, ifTsResol, []byte{nanoseconds})
	return closeBlock(b, start)
}

func appendPacket(b []byte, p Packet) []byte {
	b, start := openBlock(b, typePacket)
	b = le.AppendUint32(b, uint32(p.Interface))
	b = appendTime(b, p.Time)
	b = le.AppendUint32(b, uint32(len(p.Data))) // captured
	b = le.AppendUint32(b, uint32(len(p.Data))) // on the wire
	b = pad(append(b, p.Data...), len(p.Data))
	b = appendText(b, optComment, p.Comment)
	if p.Direction != Unknown {
		b = appendOption(b, epbFlags, le.AppendUint32(nil, uint32(p.Direction)))
	}
	if p.Dropped > 0 {
		b = appendOption(b, epbDropCount, le.AppendUint64(nil, p.Dropped))
	}
	return closeBlock(b, start)
}

func appendStatistics(b []byte, s Statistics) []byte {
	b, start := openBlock(b, typeStatistics)
	b = le.AppendUint32(b, uint32(s.Interface))
	b = appendTime(b, s.Time)
	if s.End {
		b = appendOption(b, isbEndTime, appendTime(nil, s.Time))
	}
	b = appendOption(b, isbIfDrop, le.AppendUint64(nil, s.Dropped))
	return closeBlock(b, start)
}

// appendTime appends a time stamp: its upper half comes first.
func appendTime(b []byte, t int64) []byte {
	b = le.AppendUint32(b, uint32(uint64(t)>>32))
	return le.AppendUint32(b, uint32(t))
}

// openBlock appends a block's head; closeBlock, given where it starts, ends its options, and fills in and
// appends its length. A block's body is a multiple of four bytes because everything
// appended in between is.
func openBlock(b []byte, typ uint32) (_ []byte, start int) {
	start = len(b)
	b = le.AppendUint32(b, typ)
	return le.AppendUint32(b, 0), start
}

func closeBlock(b []byte, start int) []byte {
	b = appendOption(b, optEnd, nil)
	length := uint32(len(b) + 4 - start)
	le.PutUint32(b[start+4:], length)
	return le.AppendUint32(b, length)
}

// appendText appends an option of text, unless it is empty.
func appendText(b []byte, code uint16, text string) []byte {
	if text == "" {
		return b
	}
	if len(text) > math.MaxUint16 {
		// Cutting may leave half a character, which is invalid UTF-8.
		text = strings.ToValidUTF8(text[:math.MaxUint16], "")
	}
	b = le.AppendUint16(b, code)
	b = le.AppendUint16(b, uint16(len(text)))
	return pad(append(b, text...), len(text))
}

func appendOption(b []byte, code uint16, value []byte) []byte {
	b = le.AppendUint16(b, code)
	b = le.AppendUint16(b, uint16(len(value)))
	return pad(append(b, value...), len(value))
}

// pad appends the zeros that bring n bytes to a multiple of four.
func pad(b []byte, n int) []byte {
	return append(b, make([]byte, -n&3)...)
}
