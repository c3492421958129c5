// Package decode prints the flow control of a capture: each PFC frame, 802.3x
// PAUSE and message (ITSY or CLCM) of a pcap or pcapng file, one line each, and each frame of LLDP.
//
//	reader --> open: by magic --> frames --> read: untag, parse --> Record --> line
//	           pcap | pcapng                                                  text | JSON
//
// tcpdump shows a PFC frame as an unknown opcode and Wireshark stops after the timers;
// this package decodes the frame and the TLV in its padding.
//
// Read in this order: Decode (decode.go), capture.go (where frames come from),
// linktype.go (what is before and behind a frame), record.go (what a frame says),
// names.go (names of ports), text.go (how it is
// printed).
//
// Invariants:
//   - every frame of the capture is counted once: printed or other;
//   - a damaged control frame is printed with its reason, never left out;
//   - everything before a damaged part of the file is printed before the error;
//   - memory does not grow with the file: one frame at a time, of bounded size.
//
// What it does not do: it looks up no names, filters nothing and judges no pause.
package decode

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"softswitch/link/auth"
	"softswitch/unit"
)

// Options are the settings of Decode. The zero value prints lines for people.
type Options struct {
	// JSON prints one Record a line instead, and no summary.
	JSON bool
	// Keys, unless nil, are those by which the tags of frames are judged.
	Keys auth.Keys
	// Names are those of ports, for a capture that has none of its own.
	Names []PortName
}

// Decode reads a pcap or pcapng capture of Ethernet frames, with their FCS or without, or
// of Linux's "any", from r and writes a line
// to w for each PFC frame, 802.3x PAUSE and ITSY message frame, and for each frame
// that would be one but is malformed. Frames may carry 802.1Q tags, and need not have been
// padded yet. All others are only counted, and the text form ends with a summary line.
//
// Each line is one call to w, made before the next frame is awaited, so that a
// capture that is still being written shows at once.
//
// The error says which packet, counted from 1, if the capture is damaged; an empty
// input, a file that is no capture and a capture of other link types alone are errors
// too. Whatever was read before the error is printed, and so is the
// summary, which names the link types that were not read. A line that w refuses ends the work;
// the error wraps w's.
func Decode(r io.Reader, w io.Writer, opt Options) error {
	src, err := open(r)
	if err != nil {
		return err
	}
	p := printer{w: w, json: opt.JSON, names: newNames(opt.Names), count: counts{of: map[Kind]int{}, unread: map[uint16]int{}}}
	if opt.Keys != nil {
		p.witness = auth.NewWitness(opt.Keys)
	}
	err = p.printAll(src)
	if opt.JSON || p.broken {
		return err
	}
	if errWrite := p.write(p.count.summary()); err == nil {
		err = errWrite
	}
	return err
}

// printer writes the lines and keeps the counts.
type printer struct {
	w      io.Writer
	json   bool
	broken bool // writing to w has failed
	count  counts

	names   names
	witness *auth.Witness // nil without keys
}

func (p *printer) printAll(src source) error {
	for {
		f, err := src.next()
		if err == io.EOF {
			return p.count.nothingRead()
		}
		if err != nil {
			return fmt.Errorf("decode: packet %d: %w", p.count.frames+1, err)
		}
		p.count.frames++
		if !isRead(f.link) {
			p.count.unread[f.link]++
		}
		rec, ok := read(&f)
		if !ok {
			p.count.other++
			continue
		}
		if p.witness != nil && rec.Kind != KindMalformed && rec.Kind != KindLLDP && rec.Captured == 0 && len(rec.VLAN) == 0 {
			v, link := p.witness.Judge(f.data)
			rec.Auth = &Auth{Verdict: v.String(), Link: link}
		}
		rec.Frame = p.count.frames
		p.names.name(&rec, src.ports())
		p.count.add(rec)
		if err := p.print(rec); err != nil {
			return err
		}
	}
}

func (p *printer) print(rec Record) error {
	if !p.json {
		return p.write(rec.String())
	}
	b, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("decode: packet %d: %w", rec.Frame, err)
	}
	return p.write(string(b))
}

func (p *printer) write(line string) error {
	if _, err := io.WriteString(p.w, line+"\n"); err != nil {
		p.broken = true
		return fmt.Errorf("decode: writing a line: %w", err)
	}
	return nil
}

// counts is what the summary says.
type counts struct {
	frames, other, badTLV int
	of                    map[Kind]int
	unread                map[uint16]int // of the other ones: by link types that are not read
}

func (c *counts) add(rec Record) {
	c.of[rec.Kind]++
	if rec.Padding != "" {
		c.badTLV++
	}
}

// nothingRead is an error if no frame's link type is read, and there are frames.
func (c *counts) nothingRead() error {
	n := 0
	for _, frames := range c.unread {
		n += frames
	}
	if n == 0 || n < c.frames {
		return nil
	}
	return errLink(slices.Min(slices.Collect(maps.Keys(c.unread))))
}

func (c *counts) summary() string {
	s := fmt.Sprintf("%s: %d PFC, %d 802.3x PAUSE, %s, %d malformed, %d other",
		unit.Count(c.frames, "frame"), c.of[KindPFC], c.of[KindPause], unit.Count(c.of[KindITSY]+c.of[KindDiagnosis], "ITSY message"), c.of[KindMalformed], c.other)
	if n := c.of[KindCLCM]; n > 0 {
		s += fmt.Sprintf("; %d CLCM", n)
	}
	if n := c.of[KindGFC]; n > 0 {
		s += fmt.Sprintf("; %d GFC", n)
	}
	if n := c.of[KindLLDP]; n > 0 {
		s += fmt.Sprintf("; %d LLDP", n)
	}
	for _, link := range slices.Sorted(maps.Keys(c.unread)) {
		s += fmt.Sprintf("; %d of link type %d, which is not read", c.unread[link], link)
	}
	if c.badTLV > 0 {
		s += fmt.Sprintf("; %d PFC with padding that is no ITSY TLV", c.badTLV)
	}
	return s
}
