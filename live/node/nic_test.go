package node

import (
	"testing"
)

func TestParseSocketLosses(t *testing.T) {
	const snmp = "Ip: Forwarding DefaultTTL\nIp: 1 64\nUdp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors\nUdp: 10 2 95 20 93 0\nUdpLite: InDatagrams RcvbufErrors\nUdpLite: 5 6\n"
	if n, err := parseSocketLosses(snmp); err != nil || n != 93 {
		t.Errorf("%d, %v; want 93", n, err)
	}
	for _, bad := range []string{"", "Udp: InDatagrams\nUdp: 1\n", "Udp: RcvbufErrors\nUdp: x\n", "Udp: InDatagrams RcvbufErrors\nUdp: 1\n"} {
		if n, err := parseSocketLosses(bad); err == nil {
			t.Errorf("%q is read as %d", bad, n)
		}
	}
}
