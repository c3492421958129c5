package decode

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"softswitch/link/pcapng"
)

// maxFrame limits the length of one packet of a capture, in bytes: tcpdump's largest
// snapshot length.
const maxFrame = 1 << 18

// captured is one frame of a capture.
type captured struct {
	data     []byte // from the destination address on; belongs to the receiver
	length   int    // on the wire; more than len(data) if the capture kept less
	at       time.Time
	iface    string // "" if the capture does not say
	ethernet bool
}

// source yields the frames of a capture; io.EOF at its proper end.
type source interface{ next() (captured, error) }

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
type pcapSource struct{ r *pcapgo.Reader }

func openPcap(r io.Reader) (source, error) {
	pr, err := pcapgo.NewReader(r)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, fmt.Errorf("decode: in the pcap header: %w", pcapng.ErrCut)
	case err != nil:
		return nil, fmt.Errorf("decode: in the pcap header: %w", err)
	case pr.LinkType() != layers.LinkTypeEthernet:
		return nil, fmt.Errorf("decode: link type %d; want 1 (Ethernet): capture on an interface, not on \"any\"", pr.LinkType())
	}
	// Writers do not keep to the length they announce; nor may they make us allocate a
	// huge one.
	pr.SetSnaplen(maxFrame)
	return pcapSource{pr}, nil
}

func (s pcapSource) next() (captured, error) {
	data, ci, err := s.r.ReadPacketData()
	// EOF with a length: the header was there, the packet was not.
	if err == io.ErrUnexpectedEOF || err == io.EOF && ci.CaptureLength > 0 {
		return captured{}, pcapng.ErrCut
	}
	if err != nil {
		return captured{}, err
	}
	return captured{data: data, length: ci.Length, at: ci.Timestamp, ethernet: true}, nil
}

// ngSource is a pcapng file: interfaces with names and link types of their own.
type ngSource struct{ f *pcapng.Frames }

func openPcapng(r io.Reader) (source, error) {
	f, err := pcapng.NewFrames(r, nil)
	if err != nil {
		return nil, fmt.Errorf("decode: in the pcapng header: %w", err)
	}
	return ngSource{f}, nil
}

func (s ngSource) next() (captured, error) {
	data, ci, _, err := s.f.Next()
	if err != nil {
		return captured{}, err
	}
	name, ethernet, err := s.f.Interface(ci)
	if name == "" {
		name = fmt.Sprintf("if%d", ci.InterfaceIndex)
	}
	return captured{data: data, length: ci.Length, at: ci.Timestamp, iface: name, ethernet: ethernet}, err
}
