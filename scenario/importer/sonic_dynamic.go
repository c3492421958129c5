package importer

import (
	"math"
	"strconv"
	"strings"

	"softswitch/buffer"
)

// asic is what SONiC computes headroom with of a switch's chip, in bytes (sonic-net/sonic-buildimage,
// platform/mellanox/asic_table.j2 and platform/barefoot/asic_table.j2).
type asic struct {
	name      string
	cell      float64
	pipeline  int     // while which data still comes, which is xon
	response  float64 // of a peer whose speed has no standard one
	tile      float64 // for each Gbit/s
	more      int     // beside what is computed
	barefoot  bool
	platforms string // parts of their names
}

// macPHY is what comes during the delay of MAC and PHY, of all of them.
const macPHY = 0.8 * 1024

var asics = []asic{
	{name: "Spectrum", cell: 96, pipeline: 19 << 10, response: 3.8 * 1024, platforms: "sn2010 sn2100 sn2201 sn2410 sn2700 sn2740"},
	{name: "Spectrum-2", cell: 144, pipeline: 19 << 10, response: 3.8 * 1024, platforms: "sn3420 sn3700 sn3800"},
	{name: "Spectrum-3", cell: 144, pipeline: 19 << 10, response: 3.8 * 1024, platforms: "sn4280 sn4410 sn4600 sn4700 sn4800"},
	{name: "Spectrum-4", cell: 192, pipeline: 19 << 10, response: 3.8 * 1024, tile: 15, platforms: "sn5400 sn5600 sn5610"},
	{name: "Spectrum-5", cell: 192, pipeline: 19 << 10, response: 3.8 * 1024, tile: 15, platforms: "sn5640"},
	{name: "Spectrum-6", cell: 256, pipeline: 42 << 10, response: 3.8 * 1024, more: 18 << 10, platforms: "sn6600 sn6810"},
	{name: "Tofino 2", cell: 176, pipeline: 68 << 10, response: 9 * 1024, barefoot: true, platforms: "as9516"},
}

// asicOf is the chip of a switch, by its platform; nil if it is none for which SONiC computes headroom in a
// way that is known.
func asicOf(c *configDB) *asic {
	platform := strings.ToLower(c.field("DEVICE_METADATA", "localhost", "platform"))
	for i := range asics {
		for _, part := range strings.Fields(asics[i].platforms) {
			if strings.Contains(platform, part) {
				return &asics[i]
			}
		}
	}
	return nil
}

// What SONiC takes where LOSSLESS_TRAFFIC_PATTERN says nothing: the longest packet of a lossless priority,
// and how many of 100 packets are small (sonic-net/sonic-buildimage, files/build_templates/buffers_config.j2).
const (
	losslessMTU  = 1024
	smallPackets = 100
)

// compute gives p the headroom that SONiC computes for a port, if it is known how.
func (r *sonicReader) compute(l *sonicLink, e end, p *profile) {
	chip := asicOf(e.at)
	if chip == nil {
		return
	}
	number := func(name string, usual int) int {
		if n, err := strconv.Atoi(r.first(e.at, "LOSSLESS_TRAFFIC_PATTERN", name)); err == nil {
			return n
		}
		return usual
	}
	mtu, err := strconv.Atoi(e.at.field("PORT", e.port, "mtu"))
	if err != nil {
		mtu = sonicMTU
	}
	lanes := len(strings.Split(e.at.field("PORT", e.port, "lanes"), ","))
	xoff, xon := chip.headroom(l, r.cable(e), mtu, number("mtu", losslessMTU), number("small_packet_percentage", smallPackets), lanes, p.shared != "" || p.ratio != "")
	p.xoff, p.xon = strconv.Itoa(xoff), strconv.Itoa(xon)
	p.size = p.xon
	r.tellAt(e.String(), "SONiC computes the headroom of profile %s, here in the same way for %s", quoted(p.name), chip.name)
}

// headroom is xoff and xon of a port in bytes, as SONiC computes them (sonic-net/sonic-swss,
// cfgmgr/buffer_headroom_mellanox.lua and buffer_headroom_barefoot.lua).
func (a *asic) headroom(l *sonicLink, metres, mtu, lossless, small, lanes int, pool bool) (xoff, xon int) {
	const smallest = 64
	speed := float64(l.speed)
	quanta, standard := buffer.ResponseOf(l.rate())
	response := float64(quanta) * 64
	if !standard {
		response = a.response
	}
	if a.barefoot && l.speed == 400_000 {
		response *= 2
	}
	kilo := 1000.0
	if a.barefoot {
		kilo = 1024
	}
	cable := 2 * float64(metres) * speed * 1e9 / 198_000_000 / (8 * kilo)
	delay := float64(mtu) + cable + macPHY + response + a.tile*speed/1000
	factor := a.cell / smallest
	if a.cell <= 2*smallest {
		factor = 2 * a.cell / (1 + a.cell)
	}
	percent := float64(small)
	if !a.barefoot {
		factor = math.Ceil(factor)
		percent = 100 * smallest / ((percent*smallest + (100-percent)*float64(lossless)) / 100)
	}
	occupancy := (100 - percent + percent*factor) / 100
	up := func(bytes float64) int { return int(math.Ceil(bytes/1024)) * 1024 }
	xoff = up(float64(lossless)+delay*occupancy) + a.more
	if worst := up(float64(lossless) + delay*factor); !a.barefoot && !pool && small != 100 && xoff+2048 < worst {
		xoff += 2048
	}
	if xon = a.pipeline; lanes == 8 && !a.barefoot {
		xon *= 2
	}
	return xoff, up(float64(xon))
}
