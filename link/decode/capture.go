package decode

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket/pcapgo"

	"softswitch/link/pcapng"
	"softswitch/unit"
)

// maxFrame limits the length of one packet of a capture, in bytes: tcpdump's largest
// snapshot length.
const maxFrame = 1 << 18

// captured is one frame of a capture.
type captured struct {
	data   []byte // as its link type has it; belongs to the receiver
	length int    // on the wire; more than len(data) if the capture kept less
	at     time.Time
	iface  string // "" if the capture does not say
	link   uint16 // its link type
	fcs    int    // octets of frame check sequence at its end; 0 if the capture does not say
}

// source yields the frames of a capture; io.EOF at its proper end. ports are the names of interfaces by
// the ports that labels speak of, as far as the capture has told: those of softswitch describe an
// interface as "switch 5 port 2".
type source interface {
	next() (captured, error)
	ports() map[unit.NodePort]string
}

// open distinguishes pcap and pcapng by their first four bytes.
func open(r io.Reader) (source, error) {
	br := bufio.NewReader(r)
	magic, err := br.Peek(4)
	if len(magic) == 0 {
		if err == io.EOF {
			return nil, errors.New("decode: the input is empty; want a pcap or pcapng capture")
		}
		return nil, fmt.Errorf("decode: %w", err)
	}
	if len(magic) == 4 {
		switch m := binary.BigEndian.Uint32(magic); m {
		case 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1:
			return openPcap(br)
		case 0x0a0d0d0a:
			return openPcapng(br)
		}
	}
	return nil, fmt.Errorf("decode: not a capture: it begins with % x; want pcap (a1 b2 c3 d4 or a1 b2 3c 4d, in either byte order) or pcapng (0a 0d 0d 0a)", magic)
}

// pcapSource is a pcap file: one interface, which it does not name.
type pcapSource struct {
	r    *pcapgo.Reader
	link uint16
	fcs  int
}

func openPcap(r *bufio.Reader) (source, error) {
	const headerLen = 24
	header, _ := r.Peek(headerLen) // what is missing the reader says
	pr, err := pcapgo.NewReader(r)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, fmt.Errorf("decode: in the pcap header: %w", pcapng.ErrCut)
	case err != nil:
		return nil, fmt.Errorf("decode: in the pcap header: %w", err)
	}
	s := pcapSource{r: pr}
	var order binary.ByteOrder = binary.BigEndian
	if header[0] != 0xa1 {
		order = binary.LittleEndian
	}
	if s.link, s.fcs = linkWord(order.Uint32(header[20:])); !isRead(s.link) {
		return nil, errLink(s.link)
	}
	// Writers do not keep to the length they announce; nor may they make us allocate a
	// huge one.
	pr.SetSnaplen(maxFrame)
	return s, nil
}

func (s pcapSource) ports() map[unit.NodePort]string { return nil }

func (s pcapSource) next() (captured, error) {
	data, ci, err := s.r.ReadPacketData()
	// EOF with a length: the header was there, the packet was not.
	if err == io.ErrUnexpectedEOF || err == io.EOF && ci.CaptureLength > 0 {
		return captured{}, pcapng.ErrCut
	}
	if err != nil {
		return captured{}, err
	}
	return captured{data: data, length: ci.Length, at: ci.Timestamp, link: s.link, fcs: s.fcs}, nil
}

// ngSource is a pcapng file: interfaces with names and link types of their own.
type ngSource struct {
	f     *pcapng.Frames
	known map[unit.NodePort]string
	seen  int // interfaces
}

func openPcapng(r io.Reader) (source, error) {
	f, err := pcapng.NewFrames(r, nil)
	if err != nil {
		return nil, fmt.Errorf("decode: in the pcapng header: %w", err)
	}
	return &ngSource{f: f, known: map[unit.NodePort]string{}}, nil
}

func (s *ngSource) ports() map[unit.NodePort]string { return s.known }

func (s *ngSource) next() (captured, error) {
	data, ci, _, err := s.f.Next()
	for _, in := range s.f.Interfaces(s.seen) {
		s.seen++
		var at unit.NodePort
		if n, _ := fmt.Sscanf(in.Description, "switch %d port %d", &at.Node, &at.Port); n == 2 {
			s.known[at] = in.Name
		}
	}
	if err != nil {
		return captured{}, err
	}
	name, link, err := s.f.Interface(ci)
	if name == "" {
		name = fmt.Sprintf("if%d", ci.InterfaceIndex)
	}
	return captured{data: data, length: ci.Length, at: ci.Timestamp, iface: name, link: link, fcs: s.f.FCSLen(ci)}, err
}
