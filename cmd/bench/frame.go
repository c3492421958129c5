package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"softswitch/internal/ether"
	"softswitch/unit"
)

// Lengths of the frames of a load: the minimum of Ethernet, and the maximum with an MTU of 1500.
const (
	MinFrame = ether.MinLen
	MaxFrame = ether.HeaderLen + 1500
)

// loadDSCP is the DSCP of priority 3, which is lossless by default.
const loadDSCP = 26

// Stations of the load.
const (
	sourceMAC unit.MAC = 0x02_00_00_00_00_01
	sinkMAC   unit.MAC = 0x02_00_00_00_00_02
	sourceIP           = 10<<24 | 1
	sinkIP             = 10<<24 | 2
)

// Offsets in a frame of the load.
const (
	offIP      = ether.HeaderLen
	offID      = offIP + 4
	offIPSum   = offIP + 10
	offUDP     = offIP + ether.IPv4Len
	offUDPSum  = offUDP + 6
	offPayload = offUDP + ether.UDPLen
)

// loadFrame returns a RoCE-like frame: UDP to port 4791 in a lossless priority, n bytes long, with both
// checksums. Its payload counts up, so that a lost or moved byte is noticed.
func loadFrame(n int) []byte {
	f := make([]byte, n)
	putHeaders(f, n)
	for i := offPayload; i < n; i++ {
		f[i] = byte(i)
	}
	binary.BigEndian.PutUint16(f[offUDPSum:], udpSum(f))
	return f
}

// putHeaders writes the headers of a frame of n bytes, without the UDP checksum.
func putHeaders(f []byte, n int) {
	ether.SetAddresses(f, sinkMAC, sourceMAC)
	binary.BigEndian.PutUint16(f[12:], ether.TypeIPv4)
	ether.PutIPv4(f[offIP:], loadDSCP<<2, 64, ether.ProtoUDP, n-offIP, sourceIP, sinkIP)
	binary.BigEndian.PutUint16(f[offUDP:], 49152)
	binary.BigEndian.PutUint16(f[offUDP+2:], 4791)
	binary.BigEndian.PutUint16(f[offUDP+4:], uint16(n-offUDP))
}

// announcement returns a frame from which a bridge learns the sink's port.
func announcement() []byte {
	f := make([]byte, ether.MinLen)
	ether.SetAddresses(f, sourceMAC, sinkMAC)
	binary.BigEndian.PutUint16(f[12:], 0x88b5)
	return f
}

// pseudoHeader returns the part of the IPv4 header that UDP's checksum covers.
func pseudoHeader(f []byte) []byte {
	p := append([]byte(nil), f[offIP+12:offUDP]...)
	p = append(p, 0, ether.ProtoUDP)
	return append(p, f[offUDP+4:offUDP+6]...)
}

// udpSum returns the UDP checksum of a frame whose checksum field is zero.
func udpSum(f []byte) uint16 {
	if sum := ether.Checksum(append(pseudoHeader(f), f[offUDP:]...)); sum != 0 {
		return sum
	}
	return 0xffff // RFC 768: zero means no checksum
}

// errOther says that a frame is not part of the load: it has another station or protocol.
var errOther = errors.New("not a frame of the load")

// checkFrame compares a received frame with the sent one. The kernel numbers the frames of a burst, so
// the IPv4 identification, and with it the header checksum, may differ; both checksums must be right.
func checkFrame(sent, got []byte) error {
	if len(got) < ether.HeaderLen || !bytes.Equal(got[:ether.HeaderLen], sent[:ether.HeaderLen]) {
		return errOther
	}
	if len(got) != len(sent) {
		return fmt.Errorf("a frame of %d bytes arrived as %d", len(sent), len(got))
	}
	want := bytes.Clone(sent)
	copy(want[offID:], got[offID:offID+2])
	copy(want[offIPSum:], got[offIPSum:offIPSum+2])
	for i := range want {
		if want[i] != got[i] {
			return fmt.Errorf("byte %d of a frame of %d arrived as %#02x, sent was %#02x", i, len(sent), got[i], want[i])
		}
	}
	if ether.Checksum(got[offIP:offUDP]) != 0 {
		return errors.New("a frame arrived with a wrong IPv4 checksum")
	}
	return nil
}
