package unit

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"strings"
)

// MAC is a MAC address in the low 48 bits.
type MAC uint64

// Broadcast is the address of every station.
const Broadcast MAC = 0xffff_ffff_ffff

// IsGroup reports whether m is a multicast or the broadcast address.
func (m MAC) IsGroup() bool { return m>>40&1 != 0 }

// Bytes is m as six bytes.
func (m MAC) Bytes() (b [6]byte) {
	binary.BigEndian.PutUint16(b[:], uint16(m>>32))
	binary.BigEndian.PutUint32(b[2:], uint32(m))
	return b
}

func (m MAC) String() string {
	b := m.Bytes()
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5])
}

// UnmarshalText reads the address of a station, such as "02:00:00:01:00:03". A group address and the
// zero address are errors.
func (m *MAC) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(strings.ReplaceAll(string(text), ":", ""))
	if err != nil || len(b) != 6 {
		b = make([]byte, 6)
	}
	*m = MAC(binary.BigEndian.Uint16(b))<<32 | MAC(binary.BigEndian.Uint32(b[2:]))
	if *m == 0 || m.IsGroup() || m.String() != strings.ToLower(string(text)) {
		return fmt.Errorf(`%q is not the MAC address of a station: write six bytes such as "02:00:00:01:00:03", the first of them even`, text)
	}
	return nil
}

// MarshalText writes m as UnmarshalText reads it; 0 is "".
func (m MAC) MarshalText() ([]byte, error) {
	if m == 0 {
		return nil, nil
	}
	return []byte(m.String()), nil
}

// Addr is an IPv4 address as a big-endian value; 0 is none.
type Addr uint32

// AddrOf is the value of an IPv4 address.
func AddrOf(a netip.Addr) Addr {
	b := a.As4()
	return Addr(binary.BigEndian.Uint32(b[:]))
}

// Netip is a as package netip has it.
func (a Addr) Netip() netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(a))
	return netip.AddrFrom4(b)
}

func (a Addr) String() string { return a.Netip().String() }

// UnmarshalText reads the address of a station, such as "10.0.1.2".
func (a *Addr) UnmarshalText(text []byte) error {
	ip, err := netip.ParseAddr(string(text))
	if err != nil || !ip.Is4() || ip.IsMulticast() || ip.IsUnspecified() || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return fmt.Errorf(`%q is not the IPv4 address of a station: write four numbers such as "10.0.1.2"`, text)
	}
	*a = AddrOf(ip)
	return nil
}

// MarshalText writes a as UnmarshalText reads it; 0 is "".
func (a Addr) MarshalText() ([]byte, error) {
	if a == 0 {
		return nil, nil
	}
	return a.Netip().MarshalText()
}

// Prefix is an IPv4 prefix; the zero value is none.
type Prefix struct{ netip.Prefix }

// UnmarshalText reads a prefix such as "10.0.1.0/24". Bits set behind it are an error.
func (p *Prefix) UnmarshalText(text []byte) (err error) {
	n, err := netip.ParsePrefix(string(text))
	if err != nil || !n.Addr().Is4() {
		return fmt.Errorf(`%q is not an IPv4 prefix: write an address and a length such as "10.0.1.0/24"`, text)
	}
	if n != n.Masked() {
		return fmt.Errorf("%q has bits set behind the prefix: write %q", text, n.Masked())
	}
	p.Prefix = n
	return nil
}

// Interface is the address of a host in a subnet whose prefix has Bits bits.
type Interface struct {
	IP   Addr
	Bits uint8
}

func (i Interface) String() string { return i.netip().String() }

func (i Interface) netip() netip.Prefix { return netip.PrefixFrom(i.IP.Netip(), int(i.Bits)) }

// Has reports whether a is in the subnet.
func (i Interface) Has(a Addr) bool { return (a^i.IP)>>(32-i.Bits) == 0 }

// UnmarshalText reads an address with the length of its prefix, such as "10.0.1.2/24". The first and
// the last address of the prefix are errors.
func (i *Interface) UnmarshalText(text []byte) error {
	p, err := netip.ParsePrefix(string(text))
	if err == nil {
		err = i.IP.UnmarshalText([]byte(p.Addr().String()))
	}
	if err != nil || p.Bits() > 30 || p == p.Masked() || i.IP|math.MaxUint32>>p.Bits() == i.IP {
		return fmt.Errorf(`%q is not a host's IPv4 address with its prefix length: write it as "10.0.1.2/24", neither the first nor the last of the prefix`, text)
	}
	i.Bits = uint8(p.Bits())
	return nil
}

// MarshalText writes i as UnmarshalText reads it; the zero value is "".
func (i Interface) MarshalText() ([]byte, error) {
	if i.IP == 0 {
		return nil, nil
	}
	return i.netip().MarshalText()
}
