package config

import (
	"softswitch/internal/ether"
	"softswitch/internal/strictyaml"
)

// MaxMTU is the longest IP packet of jumbo frames, in bytes.
const MaxMTU = 9216

// MaxFrame is the longest frame for an MTU, in bytes without FCS and 802.1Q tag: 1514
// for 1500, 9230 for 9216.
func MaxFrame(mtu int) int { return mtu + ether.HeaderLen }

// CheckMTU adds to d the fault of an MTU, at d's key path. It returns the MTU by which to
// judge the other keys: the default in the place of a wrong one.
func CheckMTU(d *strictyaml.Doc, path string, mtu int) int {
	if !d.Within(path, mtu, DefaultMTU, MaxMTU) {
		return DefaultMTU
	}
	return mtu
}

// CheckFrame adds to d the fault of a flow's length of frames in bytes, at d's key path.
func CheckFrame(d *strictyaml.Doc, path string, frame, mtu int) {
	if longest := MaxFrame(mtu); frame < minFrame || frame > longest {
		d.Faultf(path, "%d: use %d to %d, as the mtu is %d", frame, minFrame, longest, mtu)
	}
}
