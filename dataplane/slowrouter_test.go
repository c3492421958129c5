package dataplane

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"softswitch/internal/ether"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// slowRouter is the reference model of a router, as the RFCs have it and docs/router.md says
// it: plain maps and slices, nothing incremental, every rule where it is used. It has three
// subnets, at ports 0 and 1, 2 and 3, and 4, and a next hop for 10.9.0.0/16 at port 5.
type slowRouter struct {
	id    string // its router ID, "" for none
	now   unit.Time
	up    [6]bool
	macs  map[slowStation]slowSeen
	arps  map[string]slowSeen
	asked map[string]unit.Time
	told  [6]unit.Time // of the errors that a port may be told: what is left, in time
	sends [6][][]byte
}

type slowStation struct {
	subnet int
	mac    unit.MAC
}

type slowSeen struct {
	mac  unit.MAC
	port int
	at   unit.Time
}

var (
	slowPrefixes = []string{"10.0.1.0/24", "10.0.2.0/24", "10.0.3.0/29"}
	slowGateways = []string{"10.0.1.1", "10.0.2.1", "10.0.3.1"}
	slowID       = "10.9.255.1" // a route leads elsewhere with it
	slowPorts    = [][]int{{0, 1}, {2, 3}, {4}}
	slowSubnets  = []int{0, 0, 1, 1, 2, -1}
)

func slowConfig(c *Config) {
	c.MAC, c.Subnets = nil, nil
	for i, p := range slowPrefixes {
		sub := Subnet{Prefix: prefix(p), Gateway: netip.MustParseAddr(slowGateways[i])}
		for _, port := range slowPorts[i] {
			sub.Ports.Add(unit.Port(port))
		}
		c.Subnets = append(c.Subnets, sub)
	}
	c.Routes = []Route{{Prefix: prefix("10.9.0.0/16"), Ports: ports(5)}}
}

func newSlowRouter(id string, now unit.Time) *slowRouter {
	r := &slowRouter{id: id, now: now, macs: map[slowStation]slowSeen{}, arps: map[string]slowSeen{}, asked: map[string]unit.Time{}}
	for p := range r.up {
		r.up[p], r.told[p] = true, 100*unit.Millisecond
	}
	return r
}

func (r *slowRouter) advance(d unit.Time) {
	r.now += d
	for p := range r.told {
		r.told[p] = min(r.told[p]+d, 100*unit.Millisecond)
	}
}

func (r *slowRouter) link(p int, up bool) {
	r.up[p] = up
	for k, s := range r.macs {
		if s.port == p {
			delete(r.macs, k)
		}
	}
	for k, s := range r.arps {
		if s.port == p {
			delete(r.arps, k)
		}
	}
}

// nobody reports whether mac is an address that no station has: a group, none, or the router's.
func nobody(mac unit.MAC) bool {
	return mac>>40&1 == 1 || mac == 0 || mac >= portMAC(0) && mac <= portMAC(5)
}

// slowMartian reports whether ip is an address of which no datagram is, and to which none goes.
func slowMartian(ip string) bool {
	for _, p := range []string{"0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3", "10.0.1.255/32", "10.0.2.255/32", "10.0.3.7/32"} {
		if prefix(p).Contains(netip.MustParseAddr(ip)) {
			return true
		}
	}
	return false
}

func ipText(b []byte) string { return netip.AddrFrom4([4]byte(b)).String() }

// sum16 is the Internet checksum of b, word by word.
func sum16(b []byte) uint16 {
	n := 0
	for i := range b {
		if i%2 == 0 {
			n += int(b[i]) << 8
		} else {
			n += int(b[i])
		}
	}
	for n > 0xffff {
		n = n>>16 + n&0xffff
	}
	return ^uint16(n)
}

// put16 writes the checksum of b, which is at offset at.
func put16(b []byte, at int) {
	b[at], b[at+1] = 0, 0
	binary.BigEndian.PutUint16(b[at:], sum16(b))
}

func (r *slowRouter) send(p int, f []byte) { r.sends[p] = append(r.sends[p], bytes.Clone(f)) }

func (r *slowRouter) flood(ports []int, but int, f []byte) {
	for _, p := range ports {
		if p != but && r.up[p] {
			r.send(p, f)
		}
	}
}

// receive is what the router does with a whole frame that comes in by a port that is up.
func (r *slowRouter) receive(in int, f []byte) {
	dst, src, off := ether.ReadMAC(f), ether.ReadMAC(f[6:]), 14
	if f[12] == 0x81 {
		off = 18
	}
	kind := binary.BigEndian.Uint16(f[off-2:])
	sub := slowSubnets[in]
	if sub < 0 {
		if dst == portMAC(5) && kind == 0x0800 {
			r.route(in, f, off)
		}
		return
	}
	if !nobody(src) {
		r.macs[slowStation{sub, src}] = slowSeen{port: in, at: r.now}
	}
	switch {
	case kind == 0x0806:
		r.arp(in, sub, f, off)
	case dst != portMAC(unit.Port(in)) && dst != portMAC(unit.Port(slowPorts[sub][0])):
		r.bridge(in, sub, f)
	case kind == 0x0800:
		r.route(in, f, off)
	}
}

func (r *slowRouter) bridge(in, sub int, f []byte) {
	dst := ether.ReadMAC(f)
	s, known := r.macs[slowStation{sub, dst}]
	switch {
	case known && r.now-s.at <= 300*unit.Second:
		if s.port != in {
			r.send(s.port, f)
		}
	case dst>>40&1 == 1 || !nobody(dst) || dst == 0:
		r.flood(slowPorts[sub], in, f)
	}
}

func (r *slowRouter) arp(in, sub int, f []byte, off int) {
	a := f[off:]
	mac, ip, target := ether.ReadMAC(a[8:]), ipText(a[14:18]), ipText(a[24:28])
	net := prefix(slowPrefixes[sub])
	if nobody(mac) || ip == slowGateways[sub] || ip == net.Addr().String() || ip != "0.0.0.0" && slowBroadcast(ip) {
		return
	}
	if net.Contains(netip.MustParseAddr(ip)) {
		r.arps[ip] = slowSeen{mac, in, r.now}
		delete(r.asked, ip)
	}
	if target != slowGateways[sub] {
		r.bridge(in, sub, f)
		return
	}
	if a[7] != 1 {
		return
	}
	g := bytes.Clone(f)
	ether.PutMAC(g, mac)
	ether.PutMAC(g[6:], portMAC(unit.Port(slowPorts[sub][0])))
	b := g[off:]
	b[7] = 2
	copy(b[18:], a[8:18])
	copy(b[8:], g[6:12])
	copy(b[14:], a[24:28])
	r.send(in, g)
}

func slowBroadcast(ip string) bool {
	return ip == "10.0.1.255" || ip == "10.0.2.255" || ip == "10.0.3.7"
}

func (r *slowRouter) route(in int, f []byte, off int) {
	p := f[off:]
	h := int(p[0]&15) * 4
	src, dst := ipText(p[12:16]), ipText(p[16:20])
	if sum16(p[:h]) != 0 || slowMartian(src) || slowMartian(dst) {
		return
	}
	switch {
	case r.isOwn(dst):
		r.own(f, off)
	case !reachable(dst):
		r.tell(in, p, 3, 0)
	case p[8] <= 1:
		r.tell(in, p, 11, 0)
	default:
		r.forward(in, bytes.Clone(f), off)
	}
}

func (r *slowRouter) isOwn(ip string) bool { return slices.Contains(slowGateways, ip) || ip == r.id }

func reachable(ip string) bool {
	a := netip.MustParseAddr(ip)
	return slowSubnet(ip) >= 0 || prefix("10.9.0.0/16").Contains(a)
}

func slowSubnet(ip string) int {
	return slices.IndexFunc(slowPrefixes, func(p string) bool { return prefix(p).Contains(netip.MustParseAddr(ip)) })
}

// forward sends on a datagram that is the model's to change; in is -1 for one of the router's own.
func (r *slowRouter) forward(in int, f []byte, off int) {
	p := f[off:]
	h := int(p[0]&15) * 4
	ip := ipText(p[16:20])
	sub := slowSubnet(ip)
	if sub < 0 {
		if !r.up[5] {
			r.tell(in, p, 3, 0)
			return
		}
		p[8]--
		put16(p[:h], 10)
		ether.PutMAC(f, peerMAC(5))
		ether.PutMAC(f[6:], portMAC(5))
		r.send(5, f)
		return
	}
	n, known := r.arps[ip]
	age := r.now - n.at
	if known = known && age <= 4*3600*unit.Second; !known || age > (4*3600-60)*unit.Second {
		if silent := r.ask(ip, sub); silent && !known {
			r.tell(in, p, 3, 1)
		}
	}
	if !known {
		return
	}
	p[8]--
	put16(p[:h], 10)
	ether.PutMAC(f, n.mac)
	ether.PutMAC(f[6:], portMAC(unit.Port(slowPorts[sub][0])))
	if s, ok := r.macs[slowStation{sub, n.mac}]; ok && r.now-s.at <= 300*unit.Second {
		r.send(s.port, f)
	} else {
		r.flood(slowPorts[sub], in, f)
	}
}

// ask asks for ip in its subnet, once a second; silent says that it was asked for before, in the last
// minute.
func (r *slowRouter) ask(ip string, sub int) (silent bool) {
	at, before := r.asked[ip]
	if before && r.now-at < unit.Second {
		return false
	}
	silent = before && r.now-at < 60*unit.Second
	r.asked[ip] = r.now
	r.flood(slowPorts[sub], -1, arp(1, unit.Broadcast, portMAC(unit.Port(slowPorts[sub][0])), slowGateways[sub], 0, ip))
	return silent
}

// own answers an echo in priority 0.
func (r *slowRouter) own(f []byte, off int) {
	f = bytes.Clone(f)
	p := f[off:]
	total := int(binary.BigEndian.Uint16(p[2:]))
	src := ipText(p[12:16])
	if p[0] != 0x45 || p[9] != 1 || total < 28 || p[6]&0x3f != 0 || p[7] != 0 || p[20] != 8 || p[21] != 0 || !reachable(src) || r.isOwn(src) {
		return
	}
	if p[1]>>5 == 3 {
		p[1] = 0 // priority 3 is lossless
	}
	p[1] &^= 3
	copy(p[4:8], []byte{0, 0, 0x40, 0})
	p[8] = 65
	p = p[:total]
	for i := range 4 {
		p[12+i], p[16+i] = p[16+i], p[12+i]
	}
	whole := sum16(p[20:]) == 0
	p[20] = 0
	if whole {
		put16(p[20:], 2)
	} else { // as wrong as it was: the type is 0x0800 less
		sum := int(binary.BigEndian.Uint16(p[22:])) + 0x0800
		if sum >= 0xffff {
			sum -= 0xffff
		}
		binary.BigEndian.PutUint16(p[22:], uint16(sum))
	}
	r.forward(-1, f, off)
}

// tell tells the source of the datagram p of type and code of an error.
func (r *slowRouter) tell(in int, p []byte, kind, code byte) {
	h, total := int(p[0]&15)*4, int(binary.BigEndian.Uint16(p[2:]))
	src := ipText(p[12:16])
	if p[1]>>5 == 3 || p[6]&0x1f != 0 || p[7] != 0 || !reachable(src) || r.isOwn(src) ||
		p[9] == 1 && (total <= h || slices.Contains([]byte{3, 4, 5, 11, 12}, p[h])) || r.told[in] < 10*unit.Millisecond {
		return
	}
	r.told[in] -= 10 * unit.Millisecond
	speaker := slowGateways[max(0, slowSubnets[in])]
	if slowSubnets[in] < 0 && r.id != "" {
		speaker = r.id
	}
	quote := p[:min(total, 548)]
	f := make([]byte, max(60, 42+len(quote)))
	f[12] = 8
	q := f[14 : 42+len(quote)]
	q[0], q[6], q[8], q[9] = 0x45, 0x40, 65, 1
	binary.BigEndian.PutUint16(q[2:], uint16(len(q)))
	copy(q[12:], netip.MustParseAddr(speaker).AsSlice())
	copy(q[16:20], p[12:16])
	q[20], q[21] = kind, code
	copy(q[28:], quote)
	put16(q[20:], 2)
	r.forward(-1, f, 14)
}

var (
	slowIPs = []string{
		"10.0.1.0", "10.0.1.1", "10.0.1.10", "10.0.1.10", "10.0.1.11", "10.0.1.11", "10.0.1.12", "10.0.1.255",
		"10.0.2.1", "10.0.2.10", "10.0.2.10", "10.0.2.11", "10.0.2.255", "10.0.3.0", "10.0.3.1", "10.0.3.2", "10.0.3.2", "10.0.3.3", "10.0.3.7",
		"10.9.1.1", "10.9.1.1", slowID, "11.1.1.1", "0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.5", "240.0.0.1", "255.255.255.255",
	}
	slowMACs = []unit.MAC{
		stationMAC(0), stationMAC(0), stationMAC(1), stationMAC(2), stationMAC(3), stationMAC(4), peerMAC(5), unit.Broadcast, unit.Broadcast, 0x01005e000005, 0,
		portMAC(0), portMAC(1), portMAC(2), portMAC(3), portMAC(4), portMAC(5),
	}
)

// randomFrame is a frame that somebody may send into port in.
func randomFrame(r *rand.Rand, in unit.Port) []byte {
	src := stationMAC(in)
	if r.IntN(6) == 0 {
		src = pick(r, slowMACs...)
	}
	dst := pick(r, slowMACs...)
	if r.IntN(2) == 0 {
		dst = pick(r, portMAC(in), portMAC(in&^1))
	}
	var f []byte
	switch r.IntN(5) {
	case 0, 1:
		f = arp(uint16(1+r.IntN(2)), dst, src, pick(r, slowIPs...), pick(r, slowMACs...), pick(r, slowIPs...))
		if r.IntN(8) == 0 {
			ether.PutMAC(f[ether.HeaderLen+8:], pick(r, slowMACs...))
		}
	case 2, 3:
		f = randomDatagram(r, dst, src)
	default:
		f = plain(dst, src, 60)
	}
	if r.IntN(8) == 0 {
		f = tagged(f, 0)
	}
	return f
}

func randomDatagram(r *rand.Rand, dst, src unit.MAC) []byte {
	d := datagram{
		dst: dst, src: src, from: pick(r, slowIPs...), to: pick(r, slowIPs...), priority: pick[unit.Priority](r, 0, 0, 3),
		ecn: uint8(r.IntN(4)), ttl: pick[uint8](r, 1, 2, 64), size: pick(r, 60, 61, 98, 600, 1000),
	}
	f := d.frame()
	if r.IntN(2) == 0 {
		f = d.echo(d.size - 42)
		if r.IntN(3) == 0 {
			f[34] = byte(r.IntN(16))
			put16(f[34:], 2)
		}
	}
	ip := f[ether.HeaderLen:]
	switch r.IntN(12) {
	case 0:
		ip[6+r.IntN(2)] ^= byte(1 << r.IntN(6)) // a fragment, or one that may be
	case 1:
		ip[0] = 0x46 // a word of options
	case 2:
		binary.BigEndian.PutUint16(ip[2:], uint16(28+r.IntN(len(ip)-27))) // padding behind it
	case 3:
		ip[8] = 0
	}
	resum(f)
	if r.IntN(16) == 0 {
		ip[8+r.IntN(12)] ^= byte(1 << r.IntN(8)) // damaged
	}
	return f
}

// TestRouterAgainstReferenceModel: frames of hosts of three subnets and of a next hop, with links
// that go down and time that passes, leave as a slow router would have them.
func TestRouterAgainstReferenceModel(t *testing.T) {
	for _, id := range []string{"", slowID} {
		t.Run("router ID "+id, func(t *testing.T) {
			compareRouters(t, id, [6]unit.PortSet{ports(0), ports(1), ports(2), ports(3), ports(4), ports(5)})
		})
	}
}

// TestLAGsAgainstReferenceModel: a router whose ports are LAGs does what the slow router does with one
// port for each, whichever members frames come by and are up.
func TestLAGsAgainstReferenceModel(t *testing.T) {
	compareRouters(t, slowID, [6]unit.PortSet{ports(0), ports(1, 6, 10), ports(2), ports(3, 7), ports(4, 8, 9, 11), ports(5, 12)})
}

// compareRouters wants a router that has these ports for each of the model's to do what the model does.
func compareRouters(t *testing.T, id string, of [6]unit.PortSet) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	n := 0
	for _, all := range of {
		n += all.Len()
	}
	s := newTestSwitch(t, n, func(c *Config) {
		slowConfig(c)
		for p, all := range of {
			if all.Len() == 1 {
				continue
			}
			c.LAGs = append(c.LAGs, LAG{fmt.Sprintf("PortChannel%d", p), all})
			for i := range c.Subnets {
				if c.Subnets[i].Ports.Has(unit.Port(p)) {
					c.Subnets[i].Ports = c.Subnets[i].Ports.Or(all)
				}
			}
			if c.Routes[0].Ports.Has(unit.Port(p)) {
				c.Routes[0].Ports = all
			}
			for ; !all.Empty(); all.Pop() {
				c.Ports[all.First()].MAC, c.Ports[all.First()].PeerMAC = portMAC(unit.Port(p)), peerMAC(unit.Port(p))
			}
		}
		if id != "" {
			c.RouterID = netip.MustParseAddr(id)
		}
	})
	model := newSlowRouter(id, s.now)
	left := map[string]int{}
	for step := range testkit.Sized(20_000, 1_000_000) {
		d := pick(rng, 20*unit.Microsecond, unit.Millisecond, unit.Millisecond, 300*unit.Millisecond, unit.Second)
		if rng.IntN(100) == 0 {
			d = pick(rng, 100*unit.Second, 300*unit.Second, 2*3600*unit.Second, arpAge-arpRenew/2)
		}
		s.advance(d)
		model.advance(d)
		at := rng.IntN(6)
		in := of[at].Nth(rng.IntN(of[at].Len()))
		if up := s.LinkUp(in); rng.IntN(100) == 0 || !up && rng.IntN(4) == 0 {
			s.link(in, !up)
			if left := !of[at].And(s.up).Empty(); left != model.up[at] {
				model.link(at, left)
			}
		}
		f := randomFrame(rng, unit.Port(at))
		s.receive(in, f)
		model.sends = [6][][]byte{}
		if s.LinkUp(in) {
			model.receive(at, f)
		}
		for p := range of {
			var got [][]byte
			for all := of[p]; !all.Empty(); all.Pop() {
				got = append(got, s.drain(all.First())...)
			}
			want := model.sends[p]
			slices.SortFunc(got, bytes.Compare)
			slices.SortFunc(want, bytes.Compare)
			if !slices.EqualFunc(got, want, bytes.Equal) {
				t.Fatalf("step %d, port %d receives %s\nport %d sends %s\nwant %s", step, in, frameText([][]byte{f}), p, frameText(got), frameText(want))
			}
			for _, f := range got {
				left[frameKind(f)]++
			}
		}
		s.log, s.det.calls = nil, nil
	}
	for _, kind := range []string{"ARP 1", "ARP 2", "UDP", "ICMP 0", "ICMP 3 0", "ICMP 3 1", "ICMP 8", "ICMP 11 0", "other"} {
		if left[kind] < 10 {
			t.Errorf("%d frames of kind %s left: %v", left[kind], kind, left)
		}
	}
}

// frameKind tells what a frame is, for the count of what was tried.
func frameKind(f []byte) string {
	kind, off, _, _, _ := ether.Layer(f)
	p := f[off:]
	switch {
	case kind == ether.TypeARP:
		return fmt.Sprint("ARP ", p[7])
	case kind != ether.TypeIPv4:
		return "other"
	case p[9] != ether.ProtoICMP:
		return "UDP"
	}
	m := p[ether.IPv4(p).HeaderLen():]
	if m[0] == icmpUnreachable || m[0] == icmpTimeExceeded {
		return fmt.Sprintf("ICMP %d %d", m[0], m[1])
	}
	return fmt.Sprint("ICMP ", m[0])
}
