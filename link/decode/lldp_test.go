package decode_test

import (
	"strings"
	"testing"

	"softswitch/link/decode"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// TestLLDP: a frame of LLDP is a line with who sent it and what is lossless there, one that is cut
// short a line with what is wrong, and both are counted.
func TestLLDP(t *testing.T) {
	c := lldp.Config{Interval: 30 * unit.Second, System: "s1", Port: "to-s2", Chassis: 0x020000000100, MAC: 0x020000000101, DCBX: lldp.DCBX{PFC: lldp.NewPFC(1<<3 | 1<<4)}}
	frame := lldp.New(c).Append(0, nil)
	out, err := run(pcap(t, frame, frame[:30]), decode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"02:00:00:00:01:01 LLDP s1 port to-s2 of 02:00:00:00:01:00, lossless priorities 3, 4, for 121 s\n",
		"02:00:00:00:01:01 MALFORMED: " + lldp.ErrTruncated.Error() + "\n",
		"2 frames: 0 PFC, 0 802.3x PAUSE, 0 ITSY messages, 1 malformed, 0 other; 1 LLDP\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, err = run(pcap(t, frame), decode.Options{JSON: true})
	if want := `"kind":"lldp","lldp":{"chassis_id":"02:00:00:00:01:00","port_id":"to-s2","system":"s1","ttl":121,"lossless":[3,4]}`; err != nil || !strings.Contains(out, want) {
		t.Errorf("%v, no %s in %s", err, want, out)
	}
}
