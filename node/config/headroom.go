package config

import (
	"fmt"
	"strconv"

	"softswitch/buffer"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// HeadroomPool is headroom that all priority groups share: XOFF is then only the most that
// one group may take of it. It has a size or a ratio.
type HeadroomPool struct {
	// Size in bytes.
	Size *int `yaml:"size,omitempty" schema:"0..1073741824"`
	// Ratio is the over-subscription, instead of a size: the pool is the headroom of all groups, less
	// what ports have of their own, divided by it.
	Ratio *int `yaml:"ratio,omitempty" schema:"1..10000"`
	// Port is what each port has of its own in bytes, which its groups use first.
	Port *int `yaml:"port,omitempty" schema:"0..1073741824,default=10240"` // as Nvidia's Spectrum (sonic-net/sonic-swss, cfgmgr/buffer_pool_mellanox.lua)
}

// mostBytes is the most that any size of a buffer may be.
const mostBytes = 1 << 30

// headroomStep is what sizes of headroom are rounded up to.
const headroomStep = 1024

// RoundHeadroom is n rounded up to whole KiB.
func RoundHeadroom(n int) int { return (n + headroomStep - 1) / headroomStep * headroomStep }

// responseOf802 is the response that is looked up by rate.
const responseOf802 = "802.3"

// ResponseQuanta is how many quanta a far end takes to stop at a link of this rate. The error says
// what Response can be.
func (p PFC) ResponseQuanta(rate unit.Rate) (int, error) {
	switch p.Response {
	case "":
		return 0, nil
	case responseOf802:
		q, ok := buffer.ResponseOf(rate)
		if !ok {
			return 0, fmt.Errorf("%s: its table ends at 800 Gbit/s, and a link has %s; write a number of quanta", responseOf802, rate)
		}
		return q, nil
	}
	q, err := strconv.Atoi(p.Response)
	if err != nil || q < 0 || q > 65535 {
		return 0, fmt.Errorf("%q: write a number of quanta, 0 to 65535, or %s for those of IEEE 802.3, 31B.3.7, by the rate of a link", p.Response, responseOf802)
	}
	return q, nil
}

// NeedsHeadroom is how many bytes of headroom a group at one end of a link needs, if p has been
// checked: at a host's with a cell of 0. delay is the longest of the link one way.
func (p PFC) NeedsHeadroom(rate unit.Rate, delay unit.Time, mtu, cell int) int {
	longest := MaxFrame(mtu)
	c := buffer.Config{Cell: cell}
	e := buffer.LinkEnd{
		Rate: rate, Delay: delay, Own: longest, Peer: c.Charge(longest), Above: c.Charge(longest), Response: must(p.ResponseQuanta(rate)), Cell: cell,
	}
	return e.Headroom()
}

// XOFFOf is the headroom of each group of a port of s, which is filled in.
func (s *Switch) XOFFOf(port int) int {
	if own := s.Ports[port].XOFF; own != nil {
		return *own
	}
	return *s.Buffer.XOFF
}

// headrooms are those of the ports, nil if all have the profile's.
func (s *Switch) headrooms() (bytes []int) {
	own := false
	for i, p := range s.Ports {
		own = own || p.XOFF != nil
		bytes = append(bytes, s.XOFFOf(i))
	}
	if !own {
		return nil
	}
	return bytes
}

// pooledHeadroom is what the headrooms of all groups of s take at most, in bytes, beyond the bytes that
// each port has of its own, port.
func (s *Switch) pooledHeadroom(port int) (bytes int) {
	for _, n := range s.groupSizes() {
		bytes += max(0, n-port)
	}
	return bytes
}

// BuildHeadroomPool is the pool of headroom of s, which is filled in and checked; nil if it has
// none.
func (s *Switch) BuildHeadroomPool() *buffer.HeadroomPool {
	h := s.Buffer.HeadroomPool
	if h == nil {
		return nil
	}
	pool := &buffer.HeadroomPool{Port: *h.Port}
	if h.Size != nil {
		pool.Bytes = *h.Size
		return pool
	}
	pool.Bytes = min(s.pooledHeadroom(pool.Port) / *h.Ratio, mostBytes)
	return pool
}

// checkHeadroom adds the faults of what b has about headroom, beside xoff, to d.
func checkHeadroom(d *strictyaml.Doc, b *Buffer) {
	h := b.HeadroomPool
	if h == nil || d.Faulty("buffer.headroom_pool") {
		return
	}
	if (h.Size == nil) == (h.Ratio == nil) {
		d.Faultf("buffer.headroom_pool", "a pool has a size in bytes or a ratio: write one of the two, such as {ratio: 2}")
	}
}

// warnHeadroom tells of ports of s, which has no faults, whose headroom is less than what can
// arrive once a group pauses, and of a pool of headroom that is less than all groups can need.
func warnHeadroom(d *strictyaml.Doc, s *Switch) []string {
	var short Shortages
	for i, p := range s.Ports {
		if len(s.PFC.LosslessAt(p)) == 0 {
			continue
		}
		key := "buffer.xoff"
		if p.XOFF != nil {
			key = fmt.Sprintf("ports[%d].xoff", i)
		}
		end := fmt.Sprintf("port %s", p.Name)
		delay := s.DelayOf(p)
		short.Add(Shortage{Key: key, End: end, Link: LinkText(p.Rate, delay), Has: s.XOFFOf(i), Needs: s.PFC.NeedsHeadroom(p.Rate, delay, s.MTU, s.Buffer.Cell), Step: 1})
	}
	warnings := short.Warnings(d)
	if w, ok := s.PoolShort(); ok {
		warnings = append(warnings, d.At("buffer.headroom_pool", s.Name+": "+w).String())
	}
	return warnings
}

// DelayOf is the longest delay of the wire at a port of s that is known.
func (s *Switch) DelayOf(p Port) (delay unit.Time) {
	if p.Peer == "switch" {
		delay = s.Delay
	}
	if p.Wire != nil {
		f := must(p.Wire.Build())
		delay = max(delay, f.Delay+f.Jitter)
	}
	return delay
}

// PoolShort tells by how much the pool of headroom of s, which is filled in and checked, is too
// small for all groups at once; ok is false if it is not.
func (s *Switch) PoolShort() (text string, ok bool) {
	pool := s.BuildHeadroomPool()
	if pool == nil {
		return "", false
	}
	needs := s.pooledHeadroom(pool.Port)
	if pool.Bytes >= needs {
		return "", false
	}
	return fmt.Sprintf("%d bytes, and all %d groups at once can need %d in addition to the %d of each port: in an incast lossless frames can be lost although each port has what its link needs",
		pool.Bytes, s.Groups(), needs, pool.Port), true
}

// LinkText is rate and delay of a link, in words.
func LinkText(rate unit.Rate, delay unit.Time) string {
	switch {
	case rate == 0:
		return "unlimited"
	case delay == 0:
		return rate.String()
	}
	return rate.String() + ", " + delay.String()
}

// Shortage is an end of a link with less headroom than it needs, in bytes.
type Shortage struct {
	Key       string // that gives it
	End, Link string // in words
	Has       int
	Needs     int
	// Step is how many bytes of the key make one of headroom: 4 of a host's buffer.
	Step int
	// Or is what else can be done than to write more, in words.
	Or string
}

// Shortages are those of a file. The zero value has none.
type Shortages struct {
	ends lists.Groups[Shortage, string]
}

// Add adds e if it is one.
func (s *Shortages) Add(e Shortage) {
	if e.Has < e.Needs {
		like := e
		like.End = ""
		s.ends.Add(like, e.End)
	}
}

// Warnings are a line for all ends that are alike, of keys of d.
func (s *Shortages) Warnings(d *strictyaml.Doc) (lines []string) {
	for _, e := range s.ends.Keys {
		ends, like := s.ends.Of[e], ""
		if n := len(ends) - 1; n > 0 {
			like = fmt.Sprintf("; %d more like it", n)
		}
		has := fmt.Sprintf("%d bytes", e.Has)
		if e.Step > 1 {
			has = fmt.Sprintf("%d bytes, of which 1/%d is headroom", e.Has*e.Step, e.Step)
		}
		do := "no buffer is as large: make the link shorter or slower"
		if n := e.Step * RoundHeadroom(e.Needs); n <= mostBytes {
			do = fmt.Sprintf("use %d or more%s", n, e.Or)
		}
		lines = append(lines, d.At(e.Key, fmt.Sprintf("%s, and %s (%s%s) needs %d: lossless frames can be lost; %s", has, ends[0], e.Link, like, e.Needs, do)).String())
	}
	return lines
}

// checkResponse adds the fault of a response to d, for links of these ports.
func checkResponse(d *strictyaml.Doc, p PFC, ports []Port) {
	for _, port := range ports {
		if _, err := p.ResponseQuanta(port.Rate); err != nil {
			d.Faultf("pfc.response", "%v", err)
			return
		}
	}
}
