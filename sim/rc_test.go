package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"softswitch/host"
	"softswitch/internal/testkit"
	"softswitch/scenario"
)

// line is n switches in a row with a host at each end and links of these rates and delays,
// and one connection from end to end.
func line(rates []string, delays []int, flow string) string {
	text, links := "", ""
	n := len(rates) - 1
	for i := range n {
		text += fmt.Sprintf("s%d, ", i)
	}
	for i := range n + 1 {
		a, b := fmt.Sprintf("s%d", i-1), fmt.Sprintf("s%d", i)
		if i == 0 {
			a = "a"
		}
		if i == n {
			b = "b"
		}
		links += fmt.Sprintf("    - {link: %s--%s, rate: %s, delay: %dns}\n", a, b, rates[i], delays[i])
	}
	pairs := ""
	for i := range n + 1 {
		switch i {
		case 0:
			pairs += "a--s0"
		case n:
			pairs += fmt.Sprintf(", s%d--b", n-1)
		default:
			pairs += fmt.Sprintf(", s%d--s%d", i-1, i)
		}
	}
	return fmt.Sprintf(`
name: line
topology:
  switches: [%s]
  hosts: [a, b]
  links: [%s]
  rate: 1Gbit/s
  overrides:
%sflows:
  - {name: A, from: a, to: b, transport: rc, %s}
duration: 1s
`, text[:len(text)-2], pairs, links, flow)
}

// play plays a scenario that is written down in a test, with seed 1.
func play(t *testing.T, text string) (*World, *scenario.Plan) {
	t.Helper()
	p := plan(t, text)
	w, err := New(p, Options{Seed: 1, Detectors: detectors})
	if err != nil {
		t.Fatal(err)
	}
	return w, p
}

// A connection that has the path for itself takes as long as Plan.Alone says, to the
// nanosecond: its slowdown is 1. Where a later link is slower the sender is paused, and it may
// take a thousandth longer.
func TestAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 200 {
		n := 2 + r.IntN(5)
		rates, delays := make([]string, n), make([]int, n)
		for i := range n {
			rates[i], delays[i] = "1Gbit/s", r.IntN(20_000)
		}
		for range r.IntN(3) {
			rates[r.IntN(n)] = "400Mbit/s"
		}
		message := 1000 + r.IntN(100_000)
		if r.IntN(4) == 0 {
			message = 1000 + r.IntN(2000) // hundreds of them, of which 64 fill the path
		}
		mtu, recovery := 256<<r.IntN(3), ""
		if r.IntN(4) == 0 { // as much in flight as the path holds of full packets
			message, recovery = mtu*(1+r.IntN(50)), ", recovery: selective"
		}
		flow := fmt.Sprintf("size: %d, rc: {message: %d, window: 64, path_mtu: %d%s}", 1+r.IntN(1_000_000), message, mtu, recovery)
		text := line(rates, delays, flow)
		w, p := play(t, text)
		v, err := w.Run()
		if err != nil {
			t.Fatal(err)
		}
		m := v.Flows[0].Messages
		got, want := m.Completion, p.Alone(0)
		exact := !slices.Contains(rates, "400Mbit/s")
		if exact && got != want || got < want || got > want+want/1000 || m.Again != 0 {
			t.Errorf("%s\ntook %d ns, want %d; %+v", text, got, want, m)
		}
	}
}

// Where messages are not followed one by one, it counts which of their packets ask for an
// acknowledgement: the last of them delays that of the last packet.
func TestAloneOfManyMessages(t *testing.T) {
	rates := []string{"400Mbit/s", "1Gbit/s", "1Gbit/s"}
	for size := 340_000; size < 360_000; size += testkit.Sized(3*97, 97) {
		w, p := play(t, line(rates, []int{12_887, 5_321, 7_464}, fmt.Sprintf("size: %d, rc: {message: 2425, window: 64, path_mtu: 256}", size)))
		v, err := w.Run()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := v.Flows[0].Messages.Completion, p.Alone(0); got != want {
			t.Errorf("%d bytes took %d ns, want %d", size, got, want)
		}
	}
}

// A connection whose numbers are given takes as long as any other.
func TestFixedNumbers(t *testing.T) {
	numbers := "rc: {qpn: 0x11, to_qpn: 0x22, psn: 0xffffff, r_key: 0x1234, address: 0x7f0000001000}"
	w, p := play(t, line([]string{"1Gbit/s", "1Gbit/s"}, []int{100, 100}, "size: 200000, "+numbers))
	v, err := w.Run()
	if err != nil || v.Invalid != "" {
		t.Fatal(err, v.Invalid)
	}
	if m := v.Flows[0].Messages; m.Bytes != 200_000 || m.Completion != p.Alone(0) {
		t.Errorf("took %d ns, want %d; %+v", m.Completion, p.Alone(0), m)
	}
}

// Frames are lost at random on every link, from 0.01 % to 5 %, data and acknowledgements
// alike: every message is complete once, in order, and what is delivered is what was sent.
func TestLossyFabric(t *testing.T) {
	seed := testkit.Seed(t)
	runs := testkit.Sized(100, 1000)
	for i := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, i))
		message := 1 + r.IntN(30_000)
		most := min(200_000, 1000*message) // as the run is long enough for
		sizes := [2]int{1 + r.IntN(most), 1 + r.IntN(most)}
		share := func() string { return []string{"0.01%", "0.1%", "1%", "5%"}[r.IntN(4)] }
		loss := share()
		w, _ := play(t, fmt.Sprintf(`
name: lossy
topology: {switches: [s1, s2], hosts: [a, b, c], links: [a--s1, b--s1, s1--s2, s2--c], rate: 10Gbit/s, delay: 1us, loss: %s, duplicate: %s, reorder: %s}
flows:
  - {name: A, from: a, to: c, transport: rc, size: %d, rc: {message: %d, window: %d, timeout: 200us, retries: 1000000}}
  - {name: B, from: b, to: c, transport: rc, size: %d, rc: {message: %d, path_mtu: 256, timeout: 200us, retries: 1000000}}
duration: 500ms
`, loss, share(), share(), sizes[0], message, 1+r.IntN(8), sizes[1], message))
		v, err := w.Run()
		if err != nil || v.Invalid != "" {
			t.Fatal(err, v.Invalid)
		}
		taken := map[uint32]uint64{}
		w.EachHost(func(h *host.Host) {
			for _, f := range h.Receivers() {
				taken[f.Number] = f.Packets.Bytes
			}
		})
		for k, size := range sizes {
			m, messages := v.Flows[k].Messages, (size+message-1)/message
			if m.Done != int64(messages) || m.Bytes != int64(size) || taken[uint32(k)] != uint64(size) || m.Completion == 0 {
				t.Errorf("run %d, loss %s: flow %d of %d bytes in messages of %d: %+v, taken %d bytes", i, loss, k, size, message, m, taken[uint32(k)])
			}
			if loss == "5%" && size > 100_000 && m.Again == 0 {
				t.Errorf("run %d: 5 %% lost, and nothing of %d bytes was sent again", i, size)
			}
		}
	}
}
