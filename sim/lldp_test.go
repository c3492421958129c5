package sim

import (
	"strings"
	"testing"

	"softswitch/event"
)

// slowReceiver is a host that sends more in priority 4 than another takes, and LLDP.
const slowReceiver = `
name: slow
lldp: {interval: 1s}
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 100Mbit/s
  delay: 10us
flows:
  - {name: A, from: h1, to: h2, priority: 4, start: 10ms, stop: 900ms}
events:
  - {at: 20ms, do: slow, host: h2, rate: 20Mbit/s}
duration: 2s
`

// TestLLDP: all nodes know their far ends, in any number of partitions alike.
func TestLLDP(t *testing.T) {
	p := plan(t, slowReceiver)
	if one, two := run(t, p, 1, nil), partitioned(t, p, 1, 2, nil); one != two {
		t.Errorf("one partition %v, two %v", one, two)
	}
	known := map[string]int{}
	w, err := New(p, Options{Detectors: detectors, Events: func(n event.Node, e event.Event) {
		if e.Type == event.NeighbourLearned {
			known[n.Name]++
		}
		if e.Type >= event.NeighbourGone {
			t.Errorf("%s: %v", n.Name, e.Type)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	if known["s1"] != 2 || known["s2"] != 2 || known["h1"] != 1 || known["h2"] != 1 || len(v.DCBX) > 0 || v.LosslessLost > 0 || v.Invalid != "" {
		t.Errorf("neighbours %v, %+v, lost %d, invalid %q", known, v.DCBX, v.LosslessLost, v.Invalid)
	}
}

// TestMismatchLoses: a host for which priority 4 is lossy honours no pause of it. The switch, for
// which it is lossless, loses frames, and the verdict says why.
func TestMismatchLoses(t *testing.T) {
	p := plan(t, slowReceiver)
	p.Hosts[0].PFC.Lossless = []int{3}
	w, err := New(p, Options{Detectors: detectors})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	if len(v.DCBX) != 2 || v.LosslessLost == 0 || v.ExpectedMet {
		t.Fatalf("%+v, lost %d", v.DCBX, v.LosslessLost)
	}
	if want := "s1 to-h1 and h1 disagree on lossless priorities: 3, 4 at s1, 3 at h1"; !strings.HasSuffix(v.Reasons[0], want) || v.DCBX[0].String() != want {
		t.Errorf("reasons %q, want %q", v.Reasons, want)
	}
}

// TestLLDPOfOwnPorts: each port, and each NIC of a host that has several, says what is lossless there, and
// only ends that differ disagree.
func TestLLDPOfOwnPorts(t *testing.T) {
	w, err := New(plan(t, `
name: own
lldp: {interval: 1s}
topology:
  switches: [s1, s2]
  hosts: [h, g]
  links: [h--s1, h--s2, s1--s2, s2--g]
  ports:
    - {link: s1--s2, lossless: [2, 3, 4, 6]}
    - {link: h--s2, at: s2, lossless: [3]}
  rate: 100Mbit/s
duration: 2s
`), Options{Detectors: detectors})
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Run()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range v.DCBX {
		got = append(got, f.String())
	}
	want := "s2 to-h and h disagree on lossless priorities: 3 at s2, 3, 4 at h; h eth1 and s2 disagree on lossless priorities: 3, 4 at h, 3 at s2"
	if text := strings.Join(got, "; "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}
