package replay

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"softswitch/unit"
)

// Limits for a valid recording.
const (
	headerMax  = 16 << 20
	requestMax = 1 << 20
	batchMax   = 4096
	frameMax   = 1 << 16
	eventsMax  = 64 << 20
)

// errCut means that a recording ends within an entry, or without End.
var errCut = errors.New("the file is cut short")

// decoder reads the parts of a recording. After the first error, kept in err, it
// returns zeros.
type decoder struct {
	r   *bufio.Reader
	buf []byte
	err error
}

func newDecoder(r io.Reader) *decoder { return &decoder{r: bufio.NewReaderSize(r, 1<<16)} }

func (d *decoder) fail(err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errCut
	}
	if d.err == nil {
		d.err = err
	}
}

func (d *decoder) damaged(format string, args ...any) { d.fail(fmt.Errorf(format, args...)) }

// bytes reads n bytes, valid until the next call; nil on an error. It allocates as the
// bytes arrive, and does not trust n.
func (d *decoder) bytes(n int) []byte {
	d.buf = d.buf[:0]
	for d.err == nil && len(d.buf) < n {
		from := len(d.buf)
		d.buf = slices.Grow(d.buf, min(n-from, 1<<16))[:from+min(n-from, 1<<16)]
		if _, err := io.ReadFull(d.r, d.buf[from:]); err != nil {
			d.fail(err)
		}
	}
	if d.err != nil {
		return nil
	}
	return d.buf[:n]
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads a varint that is at most limit.
func (d *decoder) number(what string, limit int) int {
	if d.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(d.r)
	switch {
	case err != nil:
		d.fail(err)
		return 0
	case n > uint64(limit):
		d.damaged("%s: %d; valid: 0 to %d", what, n, limit)
		return 0
	}
	return int(n)
}

// time reads a varint of nanoseconds.
func (d *decoder) time() unit.Time { return unit.Time(d.number("time", 1<<62)) }

// header reads the beginning of a recording.
func (d *decoder) header() (h Header) {
	if b := d.bytes(len(magic)); d.err == errCut || b != nil && string(b) != magic {
		d.err = errors.New("this is no recording of softswitch")
		return h
	}
	if b := d.bytes(2); b != nil {
		if v := binary.BigEndian.Uint16(b); v != Version {
			d.damaged("a recording of version %d; this softswitch plays version %d: play it with the softswitch that made it", v, Version)
		}
	}
	text := d.bytes(d.number("header", headerMax))
	if d.err == nil {
		if err := json.Unmarshal(text, &h); err != nil {
			d.damaged("header: %v", err)
		}
	}
	if d.err == nil && (h.Batch < 1 || h.Batch > batchMax) {
		d.damaged("header: batch %d; valid: 1 to %d", h.Batch, batchMax)
	}
	return h
}
