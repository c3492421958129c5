package roce

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	ipLen  = 20
	udpLen = 8
)

// InvariantCRC is the ICRC of a packet (volume 1, 7.8.1 and annex A17.3.3): of ip, from its
// IPv4 header of 20 octets to its last octet before the ICRC. What switches may change
// counts as ones: type of service, TTL and the header's checksum, the UDP checksum, and
// the octet of the BTH with FECN and BECN; so does the InfiniBand header that RoCE lacks.
func InvariantCRC(ip []byte) uint32 {
	// Not by hash/crc32, for which a masked copy would have to be allocated.
	crc := afterLRH
	for i, b := range ip[:len(masked)] {
		crc = crc32.IEEETable[byte(crc)^(b|masked[i])] ^ crc>>8
	}
	return crc32.Update(^crc, crc32.IEEETable, ip[len(masked):])
}

// masked is the bits of the headers that count as ones.
var masked = [ipLen + udpLen + BTHLen]byte{1: 0xff, 8: 0xff, 10: 0xff, 11: 0xff, ipLen + 6: 0xff, ipLen + 7: 0xff, ipLen + udpLen + 4: 0xff}

// afterLRH is the state of the CRC after the eight octets of the header that RoCE lacks.
var afterLRH = ^crc32.ChecksumIEEE([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})

// Seal writes the ICRC behind the packet in ip, which ends with room for it.
func Seal(ip []byte) {
	end := len(ip) - ICRCLen
	binary.LittleEndian.PutUint32(ip[end:], InvariantCRC(ip[:end]))
}

// Sealed reports whether ip ends with its ICRC.
func Sealed(ip []byte) bool {
	end := len(ip) - ICRCLen
	return binary.LittleEndian.Uint32(ip[end:]) == InvariantCRC(ip[:end])
}
