package buffer

import (
	"math"

	"softswitch/unit"
)

// Light takes 5.05 ns for a metre of fibre: 198,000 km/s (sonic-net/sonic-swss,
// cfgmgr/buffer_headroom_mellanox.lua).
const metresPerSecond = 198e6

const (
	// quantumBytes is how much a link carries in a quantum of 512 bit times (IEEE 802.3, 31B.2).
	quantumBytes = 64
	// pauseBytes is a PFC frame with its FCS: 60 octets and 4 (docs/format/pfc.md).
	pauseBytes = 64
)

// LinkEnd is what the headroom of a priority group depends on: the end of a link that pauses,
// and the peer that it pauses.
type LinkEnd struct {
	Rate unit.Rate
	// Delay is that of the wire one way at most, Cable its length in metres. Of a wire that is
	// given by one of them the other is 0.
	Delay unit.Time
	Cable float64
	// Own is the longest frame, of any priority, that this end may have begun to send, in bytes
	// without FCS: the pause waits for it.
	Own int
	// Peer is what the longest frame of the paused priority is charged ([Config.Charge]), which the
	// peer may have begun.
	Peer int
	// Above is how much of the frame by which a group reaches its XOFF threshold may be above it:
	// as much as Peer at most. Makers' tables have nothing for it.
	Above int
	// Response is how many quanta the peer takes to stop: see [ResponseOf].
	Response int
	// Fixed is what else arrives before the stop, in bytes on the wire: during the delays of MACs
	// and PHYs, say.
	Fixed float64
	// Cell is as in Config.
	Cell int
}

// Headroom is how many bytes a group at this end is charged at most above its XOFF threshold, until
// the peer stops: for the frame that reaches it, and for what arrives during the frame that this
// end is sending, the pause, the wire there, the response, the frame that the peer is sending, and
// the wire back.
//
//	2 Delay Rate + Own + 64 + 64 Response + Fixed + Peer + Above
//
// With cells all but the last two may come in the frames that fill cells worst: see occupancy. An
// end of an unlimited rate has none that is large enough: its Headroom is that without a wire.
func (e LinkEnd) Headroom() int {
	seconds := float64(e.Delay)/1e9 + e.Cable/metresPerSecond
	wire := 2*seconds*float64(e.Rate)/8 + float64(e.Own+pauseBytes+quantumBytes*e.Response) + e.Fixed
	return e.Peer + e.Above + int(math.Ceil(wire*occupancy(e.Cell)))
}

// occupancy is how many bytes of cells a byte on the wire takes at most: in the shortest frames,
// of 64 bytes (with the FCS, the shortest that IEEE 802.3 has, 3.2.8), or in those that need one byte of a
// second cell, and so nearly twice their length.
func occupancy(cell int) float64 {
	if cell <= 1 {
		return 1
	}
	return max(2, float64(cell)/64)
}

// responses is IEEE 802.3, 31B.3.7, as sonic-net/sonic-swss has it
// (cfgmgr/buffer_headroom_mellanox.lua).
var responses = [...]struct {
	mbits  unit.Rate
	quanta int
}{
	{100, 1},
	{1_000, 2},
	{10_000, 67},
	{25_000, 80},
	{40_000, 118},
	{50_000, 147},
	{100_000, 394},
	{200_000, 453},
	{400_000, 905},
	{800_000, 905},
}

// ResponseOf is how many quanta a MAC may take to stop (IEEE 802.3, 31B.3.7): those of the
// slowest standard rate that is not below rate. ok is false above 800 Gbit/s.
func ResponseOf(rate unit.Rate) (quanta int, ok bool) {
	for _, r := range responses {
		if rate <= r.mbits*1_000_000 {
			return r.quanta, true
		}
	}
	return 0, false
}
