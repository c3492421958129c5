package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/internal/testkit"
	"softswitch/scenario"
	"softswitch/unit"
)

// heedCase is an incast in which some senders ignore pauses.
type heedCase struct {
	text    string
	ignores map[string]bool // by host
}

// randomHeedCase is 2 to 5 senders at one or two switches, with any rate, delay, length of frames and speed
// of the receiver, which changes.
func randomHeedCase(r *rand.Rand) heedCase {
	c := heedCase{ignores: map[string]bool{}}
	senders := 2 + r.IntN(4)
	rate := []string{"100Mbit/s", "200Mbit/s", "1Gbit/s"}[r.IntN(3)]
	hosts, links, flows, ports := []string{"r"}, []string{"s1--s2", "r--s1"}, []string{}, []string{}
	for i := range senders {
		h := fmt.Sprintf("h%d", i)
		hosts = append(hosts, h)
		links = append(links, fmt.Sprintf("%s--s%d", h, 1+r.IntN(2)))
		transport := ""
		if r.IntN(4) == 0 {
			transport = ", transport: rc"
		}
		flows = append(flows, fmt.Sprintf("  - {name: %s, from: %s, to: r%s}\n", h, h, transport))
		if r.IntN(3) == 0 {
			c.ignores[h] = true
			ports = append(ports, fmt.Sprintf("    - {link: %s, at: %s, pfc: tx}\n", links[len(links)-1], h))
		}
	}
	detector := "detector: none\n"
	if r.IntN(3) == 0 {
		detector = "detector: itsy\nresponse: cure\n"
	}
	text := fmt.Sprintf("name: heed\ntopology:\n  switches: [s1, s2]\n  hosts: [%s]\n  links: [%s]\n  rate: %s\n  delay: %dus\n",
		strings.Join(hosts, ", "), strings.Join(links, ", "), rate, 1+r.IntN(300))
	if r.IntN(2) == 0 {
		text += fmt.Sprintf("  jitter: %dus\n", r.IntN(1000))
	}
	if len(ports) > 0 {
		text += "  ports:\n" + strings.Join(ports, "")
	}
	text += "flows:\n" + strings.Join(flows, "") + "events:\n"
	for at := 10; at < 250; at += 20 + r.IntN(100) {
		text += fmt.Sprintf("  - {at: %dms, do: slow, host: r, rate: %dMbit/s}\n", at, 1+r.IntN(90))
	}
	c.text = text + "duration: 300ms\n" + detector
	return c
}

// heeding is what a run of such a case says of each port of a switch.
type heeding struct {
	named, mattered map[string]bool // by switch and port
	count           map[string]dataplane.PortCounters
}

// playHeed plays a case. A port is one where it mattered if its group lost frames and was XOFF without end for
// much longer than it takes to say so.
func playHeed(t *testing.T, text string, seed uint64) heeding {
	t.Helper()
	out := heeding{map[string]bool{}, map[string]bool{}, map[string]dataplane.PortCounters{}}
	since, longest := map[string]unit.Time{}, map[string]unit.Time{}
	key := func(n event.Node, p unit.Port) string { return n.Name + " " + n.Ports[p] }
	s, err := scenario.Parse("heed", []byte(text), scenario.Known{Detectors: []string{"itsy"}, Responses: []string{"cure"}})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(p, Options{Seed: seed, Detectors: detectors, Events: func(n event.Node, e event.Event) {
		switch e.Type {
		case event.PauseUnheeded:
			out.named[key(n, e.Port)] = true
		case event.PauseSent:
			since[key(n, e.Port)] = e.At
		case event.XON:
			k := key(n, e.Port)
			longest[k] = max(longest[k], e.At-since[k])
			delete(since, k)
		}
	}})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	v, err := w.Run()
	if err != nil || v.Invalid != "" {
		t.Fatalf("%v %s\n%s", err, v.Invalid, text)
	}
	w.EachSwitch(func(s *dataplane.Switch) {
		c := s.Config()
		for i, p := range c.Ports {
			k := c.Name + " " + p.Name
			n := *s.Counters(unit.Port(i))
			out.count[k] = n
			if at, open := since[k]; open {
				longest[k] = max(longest[k], 300*unit.Millisecond-at)
			}
			out.mattered[k] = n.HeadroomLost[3] > 0 && p.HeedBytes > 0 && longest[k] > p.Rate.FrameTime(p.HeedBytes)+4*c.Refresh
		}
	})
	return out
}

// TestWhoIgnoresPausesIsNamed: in random incasts nobody is named who obeys, and everybody who ignores pauses
// where frames are lost by it.
func TestWhoIgnoresPausesIsNamed(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	named, mattered := 0, 0
	cases := testkit.Sized(60, 1000)
	for range cases {
		c := randomHeedCase(r)
		got := playHeed(t, c.text, seed)
		for k, n := range got.count {
			host := strings.TrimPrefix(k[3:], "to-")
			obeys := !c.ignores[host]
			if obeys && (got.named[k] || n.RxUnheeded[3] > 0 || n.PausesInVain[3] > 0) {
				t.Errorf("seed %d: %s obeys, and is named: %v, %d frames late\n%s", seed, k, got.named[k], n.RxUnheeded[3], c.text)
			}
			if got.mattered[k] && !obeys {
				if mattered++; !got.named[k] {
					t.Errorf("seed %d: %s ignores pauses, %d frames are lost, and it is not named; %d pauses in vain, %d frames after them\n%s", seed, k, n.HeadroomLost[3], n.PausesInVain[3], n.RxUnheeded[3], c.text)
				}
			}
			if got.named[k] {
				named++
			}
			if got.named[k] && n.UnheededLost[3] > n.HeadroomLost[3] {
				t.Errorf("seed %d: %s: %d frames lost by it, and %d in all", seed, k, n.UnheededLost[3], n.HeadroomLost[3])
			}
		}
	}
	t.Logf("seed %d: %d cases, %d ports named, at %d it mattered", seed, cases, named, mattered)
	if mattered == 0 {
		t.Errorf("seed %d: it mattered nowhere: nothing was proved", seed)
	}
}
