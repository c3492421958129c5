package replay

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/itsyhdr"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// Version is the version of the format.
const Version = 1

const magic = "SSWREC\r\n"

// Keep is how many bytes of a received frame a recording has: more than the longest
// headers, with a tag and IPv4 options, and the payload of a host's frame. What a machine reads
// to its end it has whole: messages of detectors, and LLDP.
const Keep = 128

// Kinds of entry.
const (
	entryLend     = 'L'
	entryReceive  = 'R'
	entryTransmit = 'T'
	entrySent     = 'S'
	entryLink     = 'K'
	entryMAC      = 'M'
	entryRequest  = 'Q'
	entryEvents   = 'E'
	entryEnd      = 'Z'
)

// Kinds of machine.
const (
	Switch = "switch"
	Host   = "host"
)

// Header describes what was recorded.
type Header struct {
	Kind string `json:"kind"` // Switch or Host
	Name string `json:"name"`
	// Config is the node's configuration, a config.Switch or config.Host in YAML.
	Config string `json:"config"`
	// Batch, Granularity and Delay are settings of the driver.
	Batch       int       `json:"batch"`
	Granularity unit.Time `json:"granularity_ns"`
	Delay       unit.Time `json:"delay_ns"` // of a switch
	// FirstCounter is the first counter of a switch's authenticated links. Their keys are in no
	// recording.
	FirstCounter uint64 `json:"first_counter,omitempty"`
}

// AppendHeader appends the beginning of a recording to b.
func AppendHeader(b []byte, h Header) []byte {
	text, err := json.Marshal(h)
	if err != nil { // it contains only what JSON can express
		panic(fmt.Sprintf("replay: header as JSON: %v", err))
	}
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint16(b, Version)
	b = binary.AppendUvarint(b, uint64(len(text)))
	return append(b, text...)
}

// Encoder encodes calls as entries: each method appends one to b. Time starts at 0.
type Encoder struct {
	Node  event.Node // in the events' lines
	last  unit.Time
	lines []byte // scratch
}

// begin appends the kind of an entry with a time, and the time, which never goes back.
func (e *Encoder) begin(b []byte, kind byte, now unit.Time) []byte {
	b = binary.AppendUvarint(append(b, kind), uint64(now-e.last))
	e.last = now
	return b
}

// Lend encodes a Lend with this many slots in dst.
func (e *Encoder) Lend(b []byte, in unit.Port, slots int) []byte {
	return binary.AppendUvarint(append(b, entryLend, byte(in)), uint64(slots))
}

// Receive encodes a Receive. Call it first: the machine changes its frames.
func (e *Encoder) Receive(b []byte, now unit.Time, in unit.Port, fs []*buffer.Frame) []byte {
	b = append(e.begin(b, entryReceive, now), byte(in))
	b = binary.AppendUvarint(b, uint64(len(fs)))
	for _, f := range fs {
		kept := f.Data
		if len(kept) > Keep && !itsyhdr.IsMessage(kept) && !lldp.Is(kept) {
			kept = kept[:Keep]
		}
		b = binary.AppendUvarint(b, uint64(f.Len))
		b = binary.AppendUvarint(b, uint64(len(kept)))
		b = append(b, kept...)
	}
	return b
}

// Transmit encodes a Transmit with room for this many frames, and its results.
func (e *Encoder) Transmit(b []byte, now unit.Time, out unit.Port, room, n int, next unit.Time) []byte {
	b = append(e.begin(b, entryTransmit, now), byte(out))
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(room)), uint64(n))
	if next == unit.Never {
		return append(b, 0)
	}
	// A deadline in the past is equivalent to one that is due now.
	return binary.AppendUvarint(b, uint64(max(next, now)-now)+1)
}

// Sent encodes a Sent with n frames.
func (e *Encoder) Sent(b []byte, now unit.Time, out unit.Port, n int) []byte {
	return binary.AppendUvarint(append(e.begin(b, entrySent, now), byte(out)), uint64(n))
}

// SetLink encodes a SetLink.
func (e *Encoder) SetLink(b []byte, now unit.Time, p unit.Port, up bool) []byte {
	b = append(e.begin(b, entryLink, now), byte(p), 0)
	if up {
		b[len(b)-1] = 1
	}
	return b
}

// SetMAC encodes a SetMAC.
func (e *Encoder) SetMAC(b []byte, p unit.Port, m unit.MAC) []byte {
	six := m.Bytes()
	return append(append(b, entryMAC, byte(p)), six[:]...)
}

// Request encodes a Request.
func (e *Encoder) Request(b []byte, now unit.Time, r Request) []byte {
	text, err := json.Marshal(r)
	if err != nil { // its Args came as JSON
		panic(fmt.Sprintf("replay: request as JSON: %v", err))
	}
	b = binary.AppendUvarint(e.begin(b, entryRequest, now), uint64(len(text)))
	return append(b, text...)
}

// Events encodes the events that Work returned, at least one.
func (e *Encoder) Events(b []byte, events []event.Event) []byte {
	e.lines = e.lines[:0]
	for i := range events {
		e.lines = e.Node.Append(e.lines, events[i])
	}
	b = binary.AppendUvarint(append(b, entryEvents), uint64(len(e.lines)))
	return append(b, e.lines...)
}

// End ends the recording; full says that the recorder had no room for more.
func (e *Encoder) End(b []byte, full bool) []byte {
	b = append(b, entryEnd, 0)
	if full {
		b[len(b)-1] = 1
	}
	return b
}
