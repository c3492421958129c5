package frames

import (
	"encoding/binary"
	"math/rand/v2"

	"softswitch/internal/ether"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/link/forge"
	"softswitch/link/impair"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Stations and their addresses: station i is behind port i % ports. Those beyond stations are
// made up.
const stations = 8

func stationMAC(i int) unit.MAC { return 0x02aa00000000 + unit.MAC(i) }
func stationIP(i int) uint32    { return 10<<24 | 1<<16 | uint32(i+1) }

// gatewayMAC is that of port p of the switch.
func gatewayMAC(p unit.Port) unit.MAC { return 0x020000010000 + unit.MAC(p) }

// generator makes frames.
type generator struct {
	rng    *rand.Rand
	ports  int
	fabric forge.Fabric
	far    []*auth.End // by port: an honest far end of an authenticated link; nil
	nonce  []uint64    // by port: of the last challenge that the switch sent
	last   []byte      // the last control frame, for replays
}

// frame makes the frame that comes next to port in, in buf, which has room for the longest.
func (g *generator) frame(in unit.Port, buf []byte) []byte {
	r := g.rng
	var f []byte
	switch k := r.IntN(100); {
	case k < 55:
		f = g.data(in, buf)
	case k < 60:
		f = g.arp(in, buf)
	case k < 75:
		f = append(buf[:0], g.fabric.Frame(r, 0x02bb00000000+unit.MAC(in))...)
	case k < 82 && g.far[in] != nil:
		f = g.honest(in, buf)
	case k < 85 && g.last != nil:
		f = append(buf[:0], g.last...)
	case k < 89:
		f = g.group(buf)
	case k < 90:
		f = g.pause(in, buf)
	default:
		f = g.noise(buf[:r.IntN(1600)])
		if len(f) > 14 && r.IntN(2) == 0 {
			binary.BigEndian.PutUint16(f[12:], [...]uint16{0x0800, 0x0806, 0x8100, 0x8808, 0x88b5, 0x86dd}[r.IntN(6)])
		}
	}
	if r.IntN(10) == 0 {
		f = forge.Mutate(r, f)
	}
	if len(f) > cap(buf) {
		f = f[:cap(buf)]
	}
	if impair.IsControl(f) && r.IntN(10) == 0 {
		g.last = append(g.last[:0], f...)
	}
	return f
}

// data is an IPv4 datagram from a station behind the port to another, routed or bridged, of any
// priority, tagged or not; some are for nobody, or to a group.
func (g *generator) data(in unit.Port, buf []byte) []byte {
	r := g.rng
	from := int(in) + g.ports*r.IntN(3)
	to := r.IntN(stations + 2)
	n := 60 + r.IntN(200)
	if r.IntN(3) > 0 {
		n = 1000 + r.IntN(515)
	}
	off := ether.HeaderLen
	f := buf[:n]
	ether.SetAddresses(f, stationMAC(to), stationMAC(from))
	switch r.IntN(8) {
	case 0, 1:
		ether.PutMAC(f, gatewayMAC(in))
	case 2:
		if r.IntN(4) == 0 {
			ether.PutMAC(f, unit.Broadcast)
		}
	}
	if r.IntN(8) == 0 {
		binary.BigEndian.PutUint16(f[12:], ether.TypeVLAN)
		binary.BigEndian.PutUint16(f[14:], uint16(r.IntN(8))<<13|1)
		off += ether.VLANLen
	}
	binary.BigEndian.PutUint16(f[off-2:], ether.TypeIPv4)
	priority := [...]uint8{3, 3, 3, 4, 0, 7}[r.IntN(6)]
	ether.PutIPv4(f[off:], priority<<5, uint8(r.IntN(70)), ether.ProtoUDP, n-off, stationIP(from), stationIP(to))
	return f
}

// pause is an 802.3x PAUSE, to the group of MAC Control or to the port.
func (g *generator) pause(in unit.Port, buf []byte) []byte {
	f := buf[:pfcframe.Len]
	clear(f)
	ether.SetAddresses(f, [...]unit.MAC{0x0180c2000001, gatewayMAC(in)}[g.rng.IntN(2)], farMAC(in))
	binary.BigEndian.PutUint16(f[12:], pfcframe.EtherType)
	binary.BigEndian.PutUint16(f[14:], pfcframe.OpcodePause)
	binary.BigEndian.PutUint16(f[16:], [...]uint16{0, g.fabric.Quanta, 65535}[g.rng.IntN(3)])
	return f
}

func (g *generator) arp(in unit.Port, buf []byte) []byte {
	r := g.rng
	f := buf[:ether.MinLen]
	clear(f)
	from, to := int(in)+g.ports*r.IntN(400), r.IntN(stations+2)
	ether.SetAddresses(f, unit.Broadcast, stationMAC(from))
	binary.BigEndian.PutUint16(f[12:], ether.TypeARP)
	ether.PutARP(f[ether.HeaderLen:], uint16(1+r.IntN(2)), stationMAC(from), stationIP(from), 0, stationIP(to))
	return f
}

// honest is what the far end of an authenticated link sends: the answer to a challenge, a pause,
// or a message.
func (g *generator) honest(in unit.Port, buf []byte) []byte {
	far := g.far[in]
	if g.rng.IntN(4) == 0 {
		f := buf[:itsyhdr.MessageLen]
		far.PutHello(f, unit.NodePort{Node: 9, Port: in}, auth.Hello{Flags: auth.FlagAnswer, Value: g.nonce[in]})
		return f
	}
	f := append(buf[:0], g.fabric.Frame(g.rng, farMAC(in))...)
	at := len(f) - auth.TagLen
	switch {
	case pfcframe.IsMACControl(f):
		at = pfcframe.PadOffset + itsyhdr.AuthOffset
	case len(f) == itsyhdr.MessageLen:
		at = itsyhdr.MessageTLV + itsyhdr.AuthOffset
	}
	far.Sign(f, at)
	return f
}

func farMAC(in unit.Port) unit.MAC { return 0x02cc00000000 + unit.MAC(in) }

// group is a frame to one of the addresses that no bridge forwards, or of MAC Control to another.
func (g *generator) group(buf []byte) []byte {
	f := g.noise(buf[:14+g.rng.IntN(100)])
	ether.PutMAC(f, 0x0180c2000000+unit.MAC(g.rng.IntN(20)))
	if g.rng.IntN(2) == 0 {
		binary.BigEndian.PutUint16(f[12:], pfcframe.EtherType)
	}
	return f
}

// noise fills f with random bytes.
func (g *generator) noise(f []byte) []byte {
	for i := range f {
		f[i] = byte(g.rng.Uint32())
	}
	return f
}
