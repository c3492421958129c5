package pcapng

import (
	"errors"
	"fmt"
	"io"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Read reads what a Writer has written, also while it is being written, and calls see
// for each Interface, Packet and Statistics, in order and as they come; for an
// Interface when it is first mentioned, or at the end. see owns a Packet's data.
//
// It returns nil at the end of the capture, ErrCut if that is inside a block.
func Read(r io.Reader, see func(block any)) error {
	c := reader{see: see}
	var err error
	if c.f, err = NewFrames(r, c.statistics); err != nil {
		return fmt.Errorf("pcapng: in the header: %w", err)
	}
	for err == nil {
		err = c.packet()
	}
	if errNew := c.newInterfaces(); err == io.EOF {
		err = errNew
	}
	if err != nil {
		return fmt.Errorf("pcapng: %w", err)
	}
	return nil
}

type reader struct {
	f          *Frames
	see        func(block any)
	interfaces int // told
}

func (c *reader) packet() error {
	data, ci, opt, err := c.f.Next()
	if err != nil {
		return err
	}
	if err := c.newInterfaces(); err != nil {
		return err
	}
	c.see(toPacket(data, ci, opt))
	return nil
}

func toPacket(data []byte, ci gopacket.CaptureInfo, opt pcapgo.NgPacketOptions) Packet {
	p := Packet{Interface: ci.InterfaceIndex, Time: ci.Timestamp.UnixNano(), Data: data}
	if opt.Flags != nil {
		p.Direction = Direction(opt.Flags.Direction)
	}
	if opt.DropCount != nil {
		p.Dropped = *opt.DropCount
	}
	for _, comment := range opt.Comments {
		p.Comment = comment
	}
	return p
}

func (c *reader) statistics(id int, st pcapgo.NgInterfaceStatistics) {
	if c.newInterfaces() != nil {
		return // the next packet, or the end, says so
	}
	s := Statistics{Interface: id, Time: st.LastUpdate.UnixNano(), End: !st.EndTime.IsZero()}
	if st.PacketsDropped != pcapgo.NgNoValue64 {
		s.Dropped = st.PacketsDropped
	}
	c.see(s)
}

// newInterfaces calls see for the interfaces described since its last call.
func (c *reader) newInterfaces() error {
	for ; c.interfaces < c.f.ng.NInterfaces(); c.interfaces++ {
		in, err := c.f.ng.Interface(c.interfaces)
		if err != nil {
			return err
		}
		if in.LinkType != layers.LinkTypeEthernet {
			return errors.New("an interface that is not Ethernet")
		}
		c.see(Interface{Name: in.Name, Description: in.Description})
	}
	return nil
}
