package buffer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"softswitch/unit"
)

// Platform is a switch as it is sold: what its maker's tables give to a lossless priority group.
// Sizes are in bytes, and 0 where the tables have none.
type Platform struct {
	Name string
	// Cell, XON and XONOffset are as in Config and Profile.
	Cell, XON, XONOffset int
	// Dynamic and DynamicTh are as in Profile.
	Dynamic   bool
	DynamicTh int

	spectrum *spectrum // whose headroom is computed; nil: it is looked up
	metres   []float64 // columns of table
	table    []cables  // by rate
}

// cables is the headroom at a rate, by the length of the cable.
type cables struct {
	gbits unit.Rate
	xoff  []int
}

// spectrum is what the arithmetic for Nvidia's chips takes of one of them
// (sonic-net/sonic-swss, cfgmgr/buffer_headroom_mellanox.lua).
type spectrum struct {
	mtu     int       // longest frame of any priority
	fastest unit.Rate // of a port, Gbit/s
	// standard takes the response of IEEE 802.3, 31B.3.7, instead of a fixed one; tile is in
	// bytes for each Gbit/s.
	standard bool
	tile     int
}

// What is the same for all of them: the longest frame of a lossless priority, what comes during the
// delays of MAC and PHY and during the fixed response, and the multiple to which a size is rounded up.
// All are from the same file, in bytes; with them 60 of 60 rows of Nvidia's tables are reproduced
// (docs/decisions/headroom.md).
const (
	spectrumLossless = 1024
	spectrumMACPHY   = 0.8 * 1024
	spectrumResponse = 3.8 * 1024
	spectrumUnit     = 1024
)

// platforms are the tables of sonic-net/sonic-buildimage: pg_profile_lookup.ini below
// device/mellanox (ACS-MSN2700, ACS-MSN3700, ACS-MSN4700, ACS-SN5600, which the arithmetic gives to
// the byte), device/common/profiles (td2/gen, th/gen, th2/7260), device/dell (Z9864f-O64) and
// device/nokia (IXR7220-H6-P128).
var platforms = []Platform{
	{Name: "sn2700", Cell: 96, XON: 19456, spectrum: &spectrum{mtu: 9100, fastest: 100}},
	{Name: "sn3700", Cell: 144, XON: 19456, spectrum: &spectrum{mtu: 9216, fastest: 200}},
	{Name: "sn4700", Cell: 144, XON: 19456, spectrum: &spectrum{mtu: 9216, fastest: 400}},
	{Name: "sn5600", Cell: 192, XON: 19456, spectrum: &spectrum{mtu: 9216, fastest: 800, standard: true, tile: 15}},
	{
		Name: "td2", Cell: 208, XON: 18432, XONOffset: 2496, Dynamic: true, DynamicTh: -1, metres: []float64{5, 40, 300},
		table: []cables{
			{10, []int{40560, 40560, 40560}},
			{40, []int{45136, 47216, 62816}},
			{50, []int{45344, 48048, 67600}},
			{100, []int{47216, 52624, 91728}},
		},
	},
	{
		Name: "tomahawk", Cell: 208, XON: 2288, XONOffset: 2288, metres: []float64{5, 40, 300},
		table: []cables{
			{10, []int{35776, 37024, 46176}},
			{25, []int{53248, 53248, 79040}},
			{40, []int{66560, 71552, 108160}},
			{50, []int{90272, 96096, 141856}},
			{100, []int{165568, 177632, 268736}},
		},
	},
	{
		Name: "tomahawk2", Cell: 208, XON: 1248, XONOffset: 2496, metres: []float64{5, 40, 300},
		table: []cables{
			{40, []int{29536, 31616, 48256}},
			{50, []int{54080, 59696, 101088}},
			{100, []int{54080, 59696, 101088}},
		},
	},
	{
		Name: "z9864f", Cell: 254, XONOffset: 3556, metres: []float64{5, 40, 300},
		table: []cables{
			{10, []int{91440, 94742, 258572}},
			{25, []int{91440, 94742, 258572}},
			{40, []int{106934, 113538, 258572}},
			{50, []int{106934, 113538, 258572}},
			{100, []int{147066, 160274, 258572}},
			{200, []int{229362, 255778, 452374}},
			{400, []int{393192, 446024, 839216}},
			{800, []int{729488, 835406, 1621536}},
		},
	},
	{
		Name: "tomahawk6", Cell: 420, XONOffset: 4200, metres: []float64{5, 300, 500},
		table: []cables{
			{10, []int{54180, 69300, 79380}},
			{25, []int{80220, 119280, 149520}},
			{40, []int{100380, 162540, 204540}},
			{50, []int{135660, 212940, 265860}},
			{100, []int{125580, 180180, 217560}},
			{200, []int{261660, 371700, 446880}},
			{400, []int{464520, 686280, 836640}},
			{800, []int{797580, 1239840, 1539720}},
		},
	},
}

const gbit unit.Rate = 1_000_000_000

// Platforms are the names of all platforms.
func Platforms() (names []string) {
	for _, p := range platforms {
		names = append(names, p.Name)
	}
	return names
}

// PlatformNamed is the platform of that name; the error lists all.
func PlatformNamed(name string) (*Platform, error) {
	i := slices.IndexFunc(platforms, func(p Platform) bool { return p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%q is no platform; valid: %s", name, strings.Join(Platforms(), ", "))
	}
	return &platforms[i], nil
}

// XOFF is the headroom of a group at a port of this rate with a cable of this many metres. In a
// table it is that of the shortest cable listed that is not shorter. The error says which rates
// and cables there are.
func (p *Platform) XOFF(rate unit.Rate, metres float64) (int, error) {
	if s := p.spectrum; s != nil {
		if rate <= 0 || rate > s.fastest*gbit {
			return 0, fmt.Errorf("a port of %s has up to %d Gbit/s, not %g", p.Name, s.fastest, float64(rate)/float64(gbit))
		}
		e := s.end(rate, metres, p.Cell)
		return (e.Headroom() + spectrumUnit - 1) / spectrumUnit * spectrumUnit, nil
	}
	var rates []string
	for _, row := range p.table {
		rates = append(rates, strconv.FormatInt(int64(row.gbits), 10))
		if row.gbits*gbit != rate {
			continue
		}
		for i, m := range p.metres {
			if metres <= m {
				return row.xoff[i], nil
			}
		}
		return 0, fmt.Errorf("the table of %s has cables of up to %g m, not %.1f", p.Name, p.metres[len(p.metres)-1], metres)
	}
	return 0, fmt.Errorf("the table of %s has ports of %s Gbit/s, not %g", p.Name, strings.Join(rates, ", "), float64(rate)/float64(gbit))
}

// end is what the arithmetic of a chip takes for a port. It does not count the pause itself, and
// charges the frame of the lossless priority its bytes, not whole cells.
func (s *spectrum) end(rate unit.Rate, metres float64, cell int) LinkEnd {
	e := LinkEnd{
		Rate: rate, Cable: metres, Own: s.mtu, Peer: spectrumLossless, Cell: cell,
		Fixed: spectrumMACPHY - pauseBytes + float64(s.tile)*float64(rate)/float64(gbit),
	}
	e.Response, _ = ResponseOf(rate)
	if !s.standard {
		e.Response, e.Fixed = 0, e.Fixed+spectrumResponse
	}
	return e
}
