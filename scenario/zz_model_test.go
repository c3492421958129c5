package scenario

import (
	"container/heap"
	"fmt"
	"os"
	"testing"
	"softswitch/config"
	"softswitch/topo"
)

type mev struct{ at int64; seq int; f func() }
type mheap []mev
func (h mheap) Len() int { return len(h) }
func (h mheap) Less(i, j int) bool { return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq }
func (h mheap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *mheap) Push(x any) { *h = append(*h, x.(mev)) }
func (h *mheap) Pop() any { o := *h; x := o[len(o)-1]; *h = o[:len(o)-1]; return x }

type mpkt struct{ flow, size, hop, in int }
type mport struct { q []mpkt; busy, paused bool; acct int; xoff bool; nx int; held map[int]int }

func TestModel(t *testing.T) {
	p := read(t, os.Getenv("SCN"))
	f := p.Fabric
	var h mheap; seq := 0; now := int64(0)
	at := func(d int64, fn func()) { seq++; heap.Push(&h, mev{now + d, seq, fn}) }
	P := make([][]*mport, len(f.Nodes))
	for i := range P { for range f.Nodes[i].Ports { P[i] = append(P[i], &mport{held: map[int]int{}}) } }
	b := p.Switches[0].Buffer
	thr := b.Size + *b.StaticTh; xon := max(*b.XON, thr-*b.XONOffset)
	jit := int64(0); if os.Getenv("JIT") != "" { fmt.Sscan(os.Getenv("JIT"), &jit) }
	rng := uint64(12345); rnd := func() int64 { if jit == 0 { return 0 }; rng = rng*6364136223846793005 + 1442695040888963407; return int64(rng>>33) % jit }
	recv := make([]int, len(p.Flows)); sent := make([]int, len(p.Flows))
	rate := func(i, j int) int64 { return int64(p.Scenario.Links[f.Nodes[i].Ports[j].Link].Rate) }
	drain := map[int]int64{}
	maxb := 0
	var kick func(i, j int)
	pause := func(i, j int, on bool) { // node i port j tells its peer
		pe := f.Nodes[i].Ports[j].Peer
		at(10000+rnd(), func() { P[pe.Node][pe.Port].paused = on; kick(pe.Node, int(pe.Port)) })
	}
	release := func(i, j, n int) { q := P[i][j]; q.acct -= n; if q.xoff && q.acct <= xon { q.xoff = false; pause(i, j, false) } }
	var arrive func(i, j int, k mpkt)
	rxq := map[int][]mpkt{}; rxb := map[int]int{}; rxx := map[int]bool{}; rxbusy := map[int]bool{}
	var drainHost func(i int)
	drainHost = func(i int) {
		if rxbusy[i] || len(rxq[i]) == 0 { return }
		k := rxq[i][0]; rxq[i] = rxq[i][1:]; rxbusy[i] = true
		d := int64(0); if drain[i] > 0 { d = int64(k.size+24) * 8 * 1e9 / drain[i] }
		at(d, func() { rxbusy[i] = false; rxb[i] -= k.size; recv[k.flow]++; if rxx[i] && rxb[i] <= 65536 { rxx[i] = false; pause(i, 0, false) }; drainHost(i) })
	}
	arrive = func(i, j int, k mpkt) {
		if f.Nodes[i].Kind == topo.Host {
			rxq[i] = append(rxq[i], k); rxb[i] += k.size
			if !rxx[i] && rxb[i] >= 98304 { rxx[i] = true; pause(i, 0, true) }
			drainHost(i); return
		}
		hop := p.Flows[k.flow].Hops[k.hop]; out := int(hop.Out)
		k.in = j; P[i][j].acct += k.size; P[i][out].held[j] += k.size
		maxb = max(maxb, P[i][j].acct)
		if !P[i][j].xoff && P[i][j].acct > thr { P[i][j].xoff = true; P[i][j].nx++; pause(i, j, true) }
		P[i][out].q = append(P[i][out].q, k); kick(i, out)
	}
	kick = func(i, j int) {
		q := P[i][j]
		if q.busy || q.paused || len(q.q) == 0 { return }
		k := q.q[0]; q.q = q.q[1:]; q.busy = true
		if f.Nodes[i].Kind == topo.Switch { q.held[k.in] -= k.size }
		at(int64(k.size+24)*8*1e9/rate(i, j), func() {
			q.busy = false
			if f.Nodes[i].Kind == topo.Switch { release(i, k.in, k.size); k.hop++ }
			pe := f.Nodes[i].Ports[j].Peer
			at(15000+rnd(), func() { arrive(pe.Node, int(pe.Port), k) })
			kick(i, j)
		})
	}
	for i, fl := range p.Scenario.Flows {
		r := int64(fl.Rate); if r == 0 { r = 100_000_000 }
		var send func()
		send = func() {
			if fl.Stop > 0 && now >= int64(fl.Stop) { return }
			q := P[fl.From][0]
			if len(q.q) < 4 { sent[i]++; q.q = append(q.q, mpkt{flow: i, size: fl.Frame}); kick(fl.From, 0) }
			at(int64(fl.Frame+24)*8*1e9/r+rnd()-jit/2, send)
		}
		at(int64(fl.Start), send)
	}
	for i := range p.Hosts {
		n := f.Switches() + i
		for _, a := range p.Hosts[i].Acts {
			ta, _ := config.ParseTime(a.At)
			r, _ := config.ParseRate(a.Rate)
			at(int64(ta), func() { drain[n] = int64(r); if a.Do == "storm" { drain[n] = 1 } })
		}
	}
	last := append([]int{}, recv...)
	next := int64(100e6)
	for len(h) > 0 && now < int64(p.Scenario.Duration) {
		e := heap.Pop(&h).(mev); now = e.at; e.f()
		if now >= next {
			fmt.Printf("%4dms", next/1e6)
			for i := range recv { fmt.Printf(" %s:%d", p.Scenario.Flows[i].Name, recv[i]-last[i]) }
			nx := 0; for i := range P { for j := range P[i] { nx += P[i][j].nx } }
			fmt.Printf(" xoffs %d\n", nx); copy(last, recv); next += 100e6
		}
	}
	for i := range f.Switches() { for j, q := range P[i] { for in, n := range q.held { if n > 0 { fmt.Printf("%s from %s to %s: %d (bucket %d xoff %v, egress paused %v)\n", f.Nodes[i].Name, f.Nodes[i].Ports[in].Name, f.Nodes[i].Ports[j].Name, n, P[i][in].acct, P[i][in].xoff, q.paused) } } } }
	fmt.Println("max bucket", maxb, "thr", thr, "xon", xon, sent, recv)
}
