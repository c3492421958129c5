package lldp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"unicode"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// EtherType is LLDP's, and Address the group to which it is sent: the nearest bridge, which no
// bridge forwards.
const (
	EtherType          = 0x88cc
	Address   unit.MAC = 0x0180c200000e
)

// Reasons for which a frame is malformed.
var (
	ErrTruncated = errors.New("LLDP: a TLV is cut short, or the last one is missing")
	ErrOrder     = errors.New("LLDP: it does not begin with chassis ID, port ID and time to live, once each")
	ErrShort     = errors.New("LLDP: chassis ID, port ID or time to live is too short")
)

// Is reports whether a frame that has no 802.1Q tag is one of LLDP to the nearest bridge.
func Is(frame []byte) bool {
	return len(frame) >= ether.HeaderLen && ether.Dst(frame) == Address && binary.BigEndian.Uint16(frame[12:]) == EtherType
}

// Capabilities are what a system is (802.1AB, 8.5.8): those that are enabled.
type Capabilities uint16

// Capabilities that are said here.
const (
	Bridge  = Capabilities(layers.LLDPCapsBridge)
	Router  = Capabilities(layers.LLDPCapsRouter)
	Station = Capabilities(layers.LLDPCapsStationOnly)
)

// capabilityCodes are the usual letters, in the order of the bits: other, repeater, bridge, WLAN access
// point, router, telephone, DOCSIS cable device, station.
const capabilityCodes = "OPBWRTCS"

// String is the codes of the capabilities: "BR".
func (c Capabilities) String() string {
	var s strings.Builder
	for i, code := range capabilityCodes {
		if c>>i&1 != 0 {
			s.WriteRune(code)
		}
	}
	return s.String()
}

// id names a chassis or a port.
type id struct {
	subtype byte
	octets  string
}

// Subtypes of IDs that are addresses; of others the octets are text.
const (
	chassisMAC     = byte(layers.LLDPChassisIDSubTypeMACAddr)
	chassisNetwork = byte(layers.LLDPChassisIDSubTypeNetworkAddr)
	portMAC        = byte(layers.LLDPPortIDSubtypeMACAddr)
	portNetwork    = byte(layers.LLDPPortIDSubtypeNetworkAddr)
)

// text is an ID for people; mac and network are the subtypes of addresses.
func (i id) text(mac, network byte) string {
	b := []byte(i.octets)
	switch {
	case i.subtype == mac && len(b) == 6:
		return ether.ReadMAC(b).String()
	case i.subtype == network && len(b) > 1:
		if a, ok := netip.AddrFromSlice(b[1:]); ok {
			return a.String()
		}
		return hex.EncodeToString(b[1:])
	}
	return printable(i.octets)
}

// printable keeps what a stranger sends from breaking a line or a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(s, "?"))
}

// appendFrame appends the frame that says c. Names that are longer than a TLV allows are cut.
func (c *Config) appendFrame(dst []byte) []byte {
	values := []layers.LinkLayerDiscoveryValue{
		value(layers.LLDPTLVPortDescription, []byte(cut(c.Port))),
		value(layers.LLDPTLVSysName, []byte(cut(c.System))),
		value(layers.LLDPTLVSysCapabilities, binary.BigEndian.AppendUint32(nil, uint32(c.Capabilities)<<16|uint32(c.Capabilities))),
	}
	for _, t := range c.DCBX.tlvs() {
		values = append(values, value(layers.LLDPTLVOrgSpecific, t))
	}
	return c.append(dst, c.ttl(), values)
}

// appendGoodbye appends the frame that ends what c has said.
func (c *Config) appendGoodbye(dst []byte) []byte { return c.append(dst, 0, nil) }

// append appends a frame with this time to live, in seconds, and these TLVs after those that have to be there.
func (c *Config) append(dst []byte, ttl uint16, values []layers.LinkLayerDiscoveryValue) []byte {
	mac, chassis := c.MAC.Bytes(), c.Chassis.Bytes()
	l := layers.LinkLayerDiscovery{
		ChassisID: layers.LLDPChassisID{Subtype: layers.LLDPChassisIDSubTypeMACAddr, ID: chassis[:]},
		PortID:    layers.LLDPPortID{Subtype: layers.LLDPPortIDSubtypeIfaceName, ID: []byte(cut(c.Port))},
		TTL:       ttl,
		Values:    values,
	}
	b := gopacket.NewSerializeBuffer()
	if err := l.SerializeTo(b, gopacket.SerializeOptions{}); err != nil {
		panic("lldp: a frame of bounded size is not serialised: " + err.Error())
	}
	group := Address.Bytes()
	dst = append(append(dst, group[:]...), mac[:]...)
	dst = append(binary.BigEndian.AppendUint16(dst, EtherType), b.Bytes()...)
	for len(dst) < ether.MinLen {
		dst = append(dst, 0)
	}
	return dst
}

// cut is the octets of a name that a TLV has room for (802.1AB, 8.5.3.3).
func cut(name string) string { return name[:min(len(name), 255)] }

func value(t layers.LLDPTLVType, v []byte) layers.LinkLayerDiscoveryValue {
	return layers.LinkLayerDiscoveryValue{Type: t, Length: uint16(len(v)), Value: v}
}

// Parse reads a frame that Is knows to be one: what it says, and for how many seconds. A TLV that is not known is left out,
// and one of DCBX that is wrong is discarded (802.1AB, 9.2.7.7).
func Parse(frame []byte) (n Neighbour, ttl uint16, err error) {
	data := frame[ether.HeaderLen:]
	p := gopacket.NewPacket(data, layers.LayerTypeLinkLayerDiscovery, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	l, ok := p.Layer(layers.LayerTypeLinkLayerDiscovery).(*layers.LinkLayerDiscovery)
	if err := checkOrder(data); err != nil {
		return n, 0, err
	}
	if !ok {
		return n, 0, ErrTruncated
	}
	n.chassis, n.port = id{byte(l.ChassisID.Subtype), string(l.ChassisID.ID)}, id{byte(l.PortID.Subtype), string(l.PortID.ID)}
	n.Chassis, n.Port = n.chassis.text(chassisMAC, chassisNetwork), n.port.text(portMAC, portNetwork)
	for _, v := range l.Values {
		switch v.Type {
		case layers.LLDPTLVPortDescription:
			n.PortDescription = printable(string(v.Value))
		case layers.LLDPTLVSysName:
			n.System = printable(string(v.Value))
		case layers.LLDPTLVSysCapabilities:
			if len(v.Value) >= 4 {
				n.Capabilities = Capabilities(binary.BigEndian.Uint16(v.Value[2:]))
			}
		case layers.LLDPTLVOrgSpecific:
			if !n.DCBX.read(v.Value) {
				n.Discarded++
			}
		}
	}
	return n, l.TTL, nil
}

// checkOrder finds what the library does not look at: that the first three TLVs are those that
// have to be first, and that none of them comes again (802.1AB, 9.2.7.7.1).
func checkOrder(data []byte) error {
	for i := 0; len(data) >= 2; i++ {
		head := binary.BigEndian.Uint16(data)
		t, n := layers.LLDPTLVType(head>>9), int(head&0x1ff)
		mandatory := t >= layers.LLDPTLVChassisID && t <= layers.LLDPTLVTTL
		switch {
		case i < 3 && int(t) != i+1, i >= 3 && mandatory:
			return ErrOrder
		case len(data) < 2+n:
			return ErrTruncated
		case mandatory && n < 2:
			return ErrShort
		case t == layers.LLDPTLVEnd:
			return nil
		}
		data = data[2+n:]
	}
	return ErrTruncated
}
