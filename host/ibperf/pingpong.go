package ibperf

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// PingPongLen is the length in octets of what ibv_rc_pingpong tells of a queue pair (rdma-core,
// libibverbs/examples/rc_pingpong.c): LID, QPN, PSN and GID in hexadecimal, and a zero. The client is first, and
// says Done when it has the server's. Neither says how many messages there will be, how long they are, nor the path
// MTU.
const PingPongLen = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1

// What ibv_rc_pingpong does unless it is told otherwise.
const (
	PingPongMTU      = 1024
	PingPongSize     = 4096
	PingPongMessages = 1000
)

// PingPongText is the line in PingPongLen octets.
func (l Line) PingPongText() []byte {
	gid := l.GID.As16()
	return append(fmt.Appendf(nil, "%04x:%06x:%06x:%x", 0, l.QPN, l.PSN, gid[:]), 0)
}

// ParsePingPong reads such a line.
func ParsePingPong(b []byte) (Line, error) {
	text, _, _ := bytes.Cut(b, []byte{0})
	bad := fmt.Errorf("ibv_rc_pingpong: line %q; valid: LID, QPN, PSN and GID in hexadecimal, with colons between them", text)
	f := strings.Split(string(text), ":")
	if len(f) != 4 {
		return Line{}, bad
	}
	_, err1 := strconv.ParseUint(f[0], 16, 16)
	qpn, err2 := strconv.ParseUint(f[1], 16, 24)
	psn, err3 := strconv.ParseUint(f[2], 16, 24)
	gid, err4 := hex.DecodeString(f[3])
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || len(gid) != 16 {
		return Line{}, bad
	}
	return Line{QPN: uint32(qpn), PSN: uint32(psn), GID: netip.AddrFrom16([16]byte(gid))}, nil
}
