package fuzz

import (
	"cmp"
	"fmt"
	"slices"
)

// Modes in which what moves is the judge (rest.go). They differ in the thresholds.
const (
	TruthStatic   Mode = "truth-static"   // those of mode usual
	TruthOffset   Mode = "truth-offset"   // XON less than a frame below XOFF
	TruthJumbo    Mode = "truth-jumbo"    // the default thresholds, frames of up to 9014 bytes
	TruthDynamic  Mode = "truth-dynamic"  // dynamic ones in small pools
	TruthFailures Mode = "truth-failures" // as TruthDynamic, and one to six links fail
	TruthSONiC    Mode = "truth-sonic"    // as switches that run SONiC have them, frames of up to 9014 bytes
	TruthCells    Mode = "truth-cells"    // those of any mode above, cells, and one headroom for all groups
)

// TruthModes are all of them. The cases of each have a stream of random numbers of their own.
var TruthModes = []Mode{TruthStatic, TruthOffset, TruthJumbo, TruthDynamic, TruthFailures, TruthSONiC, TruthCells, TruthBuilt}

// truthMTU is the MTU of cases with long frames.
const truthMTU = 9000

// Dynamic is thresholds that follow what is left of the pool: the XOFF threshold of a group is Size
// and alpha = 2^Th times that, its XON what a switch makes of XON and XONOffset.
type Dynamic struct {
	Pool, Size, Th, XON, XONOffset int
}

// text is a profile with further keys, as the scenario's key has it.
func (d *Dynamic) text(more string) string {
	return fmt.Sprintf("{pool: %d, size: %d, dynamic_th: %d, xon: %d, xon_offset: %d%s}", d.Pool, d.Size, d.Th, d.XON, d.XONOffset, more)
}

// truth makes a case of one of TruthModes: a fabric and traffic as in mode usual, and thresholds as the
// mode has them.
func (m *maker) truth() {
	m.fabric(shapes)
	m.traffic()
	for i := range m.Flows { // all stop in time: to go on for ever is to stop late
		m.Flows[i].Stop = cmp.Or(m.Flows[i].Stop, m.end)
	}
	m.sameWays()
	m.trouble()
	if m.Mode == TruthFailures {
		for range m.between(1, 6) {
			m.failLink()
		}
	}
	m.thresholds()
	m.last()
}

// sameWays sends what there is in another lossless priority too, in a third of the cases that have one.
func (m *maker) sameWays() {
	if len(m.Lossless) < 2 || !m.one(3) {
		return
	}
	for _, f := range slices.Clone(m.Flows) {
		if f.Priority == m.Lossless[0] {
			f.Priority, f.Start = m.Lossless[1], f.Start+m.ticks(0, 5)
			if f.Start < f.Stop {
				m.Flows = append(m.Flows, f)
			}
		}
	}
}

// thresholds draws those of the mode.
func (m *maker) thresholds() {
	if m.Mode == TruthCells {
		m.thresholdsOf(pick(m, TruthStatic, TruthOffset, TruthDynamic, TruthSONiC))
		m.cells()
		return
	}
	m.thresholdsOf(m.Mode)
}

// cells draws a cell, and whether the groups share their headroom. Then it holds that of all groups,
// without which lossless frames are lost.
func (m *maker) cells() {
	m.Cell = pick(m, 0, 80, 96, 144, 192, 208, 254, 420)
	m.Headroom = m.Headroom * max(1, (m.Cell+control-1)/control) * pick(m, 1, 2)
	if m.Cell == 0 || m.one(2) {
		m.HeadroomPool = fmt.Sprintf(", headroom_pool: {ratio: 1, port: %d}", pick(m, 0, 1, m.between(1, m.Headroom), 10_240))
	}
	if d := m.Dynamic; d == nil {
		m.Threshold += m.Cell // of the frame that fills it
	}
}

// thresholdsOf draws those of a mode.
func (m *maker) thresholdsOf(mode Mode) {
	switch mode {
	case TruthStatic, TruthBuilt:
		m.buffers()
	case TruthOffset:
		m.buffers()
		m.XONOffset = m.between(1, full-1)
	case TruthJumbo:
		m.longPauses()
		m.headroom()
		m.Threshold, m.XONOffset, m.Headroom = 40960, 4096, max(m.Headroom, 30720)
	case TruthDynamic, TruthFailures:
		m.longPauses()
		m.headroom()
		m.dynamic(&Dynamic{
			Pool: m.between(4*full, pick(m, 20, 60, 150)*full), Size: pick(m, 64, 600, 1600, 4096), Th: m.between(-7, 3),
			XON: pick(m, 0, m.between(1, 8*full)), XONOffset: pick(m, 0, m.between(1, full-1), m.between(full, 6*full)),
		})
	case TruthSONiC:
		m.longPauses()
		m.headroom()
		m.Headroom = max(m.Headroom, m.between(20_000, 100_000))
		m.dynamic(&Dynamic{
			Pool: m.between(1<<20, 4<<20), Size: m.between(1000, 5000), Th: pick(m, 0, -1),
			XON: pick(m, 0, 18_432), XONOffset: pick(m, 0, 2496, 3600),
		})
	}
}

// longPauses draws how long pauses last: so long that none expires because the node that repeats it is
// late. When a pause expires, the paused node may send, and nothing is for ever.
func (m *maker) longPauses() {
	m.timers()
	fastest := m.fastest()
	if fastest.QuantaTime(uint16(m.Quanta)) < 3*(m.Refresh+m.hop())/2 {
		m.Quanta = 65535
		m.Refresh = fastest.QuantaTime(uint16(m.Quanta)) / 3
	}
}

// dynamic gives the case dynamic thresholds. No group can hold more than Threshold then.
func (m *maker) dynamic(d *Dynamic) { m.Dynamic, m.Threshold = d, d.Size+d.Pool }
