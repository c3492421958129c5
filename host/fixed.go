package host

import (
	"fmt"
	"strconv"

	"softswitch/host/roce"
)

// Fixed is the numbers of a reliable connection that a file gives, volume 1's queue pair number, packet
// sequence number, R_Key and virtual address. What it leaves out follows from the number n of the flow,
// which in a scenario is its place in the order of all flows, from 0. A connection whose PSN or address is
// given has one life.
type Fixed struct {
	// QPN is the queue pair of the sender, to which answers go; default 2n+3 for flow number n, from 0.
	QPN *uint32 `yaml:"qpn,omitempty" schema:"2..16777215"`
	// ToQPN is the queue pair of the receiver, to which messages go; default 2n+2.
	ToQPN *uint32 `yaml:"to_qpn,omitempty" schema:"2..16777215"`
	// PSN is that of the sender's first packet; default by the time at which the connection begins, 0 with
	// an address.
	PSN *uint32 `yaml:"psn,omitempty" schema:"0..16777215"`
	// RKey is the R_Key of the memory that messages are written to; default n+1, and the receiver takes
	// any.
	RKey *uint32 `yaml:"r_key,omitempty" schema:"0..4294967295"`
	// Address is where that memory begins, 64 bits, such as 0x7f0000001000. Each message is written there,
	// and the receiver refuses what is outside; default by when the connection begins, and the receiver
	// takes any.
	Address *MemoryAddress `yaml:"address,omitempty" schema:"memory address"`
}

// PeerRC is what the far end of a reliable connection that comes to a host may do.
type PeerRC struct {
	// Recovery is the far end's: with selective the host keeps what comes behind a gap. Default
	// go-back-n.
	Recovery string `yaml:"recovery,omitempty" schema:"go-back-n|selective"`
	// Message is how many bytes from address on may be written; no bound without an address.
	Message int `yaml:"message,omitempty" schema:"1..2147483648,default=65536"`
	Fixed   `yaml:",inline"`
}

// MemoryAddress is a virtual address in the memory of a receiver.
type MemoryAddress uint64

// UnmarshalText reads a number, in hexadecimal after "0x".
func (a *MemoryAddress) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 0, 64)
	if err != nil {
		return fmt.Errorf("%q is not an address in memory: use 0 to 0xffffffffffffffff", text)
	}
	*a = MemoryAddress(n)
	return nil
}

// String returns a as UnmarshalText reads it.
func (a MemoryAddress) String() string { return fmt.Sprintf("%#x", uint64(a)) }

// MarshalText returns a as UnmarshalText reads it.
func (a MemoryAddress) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// QPNs are the queue pairs of flow n: of its sender, and of its receiver. 0 and 1 are the subnet's own
// (volume 1, 3.5.10).
func (k *Fixed) QPNs(n uint32) (from, to uint32) {
	from, to = 2*n+3, 2*n+2
	if k.QPN != nil {
		from = *k.QPN
	}
	if k.ToQPN != nil {
		to = *k.ToQPN
	}
	return from, to
}

// oneLife reports whether the connection has one life alone: neither its first PSN nor the address of its
// messages can tell of another.
func (k *Fixed) oneLife() bool { return k.PSN != nil || k.Address != nil }

// firstPSN is that of the one life of a connection.
func (k *Fixed) firstPSN() uint32 {
	if k.PSN == nil {
		return 0
	}
	return *k.PSN
}

// memory is what a receiver lets be written.
func (k *PeerRC) memory() roce.Memory {
	return roce.Memory{RKey: k.RKey, Address: (*uint64)(k.Address), Length: uint64(k.Message)}
}

// check returns an error that names a number that is out of its range.
func (k *Fixed) check() error {
	for _, n := range []struct {
		what      string
		is        *uint32
		low, high uint32
	}{{"QPN", k.QPN, 2, roce.QPMask}, {"QPN of the receiver", k.ToQPN, 2, roce.QPMask}, {"PSN", k.PSN, 0, roce.PSNMask}} {
		if n.is != nil && (*n.is < n.low || *n.is > n.high) {
			return fmt.Errorf("%s %d; valid: %d to %d", n.what, *n.is, n.low, n.high)
		}
	}
	return nil
}

// checkQPNs returns an error that names a queue pair that two connections have.
func (c *Config) checkQPNs() error {
	of := map[uint32]uint32{}
	claim := func(qpn, flow uint32) error {
		if other, taken := of[qpn]; taken {
			return fmt.Errorf("flow %d: QPN %d is that of flow %d; valid: one for each", flow, qpn, other)
		}
		of[qpn] = flow
		return nil
	}
	for _, f := range c.Flows {
		if f.RC == nil {
			continue
		}
		qpn, _ := f.RC.QPNs(f.Number)
		if err := claim(qpn, f.Number); err != nil {
			return err
		}
	}
	for _, p := range c.Peers {
		_, qpn := p.RC.QPNs(p.Number)
		if err := claim(qpn, p.Number); err != nil {
			return err
		}
	}
	return nil
}
