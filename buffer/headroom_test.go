package buffer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"softswitch/unit"
)

// The bound, by hand: 2 us at 100 Gbit/s both ways is 50,000 bytes, and a frame of 1500 at each
// end and the pause are 3,064.
func TestHeadroom(t *testing.T) {
	end := LinkEnd{Rate: 100 * gbit, Delay: 2000, Own: 1500, Peer: 1500}
	with := func(change func(*LinkEnd)) LinkEnd {
		e := end
		change(&e)
		return e
	}
	for _, c := range []struct {
		name string
		end  LinkEnd
		want int
	}{
		{"of a wire", end, 53_064},
		{"10 Gbit/s, 1 us", LinkEnd{Rate: 10 * gbit, Delay: 1000, Own: 1500, Peer: 1500}, 5_564},
		{"400 Gbit/s, 1515 ns", LinkEnd{Rate: 400 * gbit, Delay: 1515, Own: 1500, Peer: 1500}, 154_564},
		{"with the frame that reaches the threshold", with(func(e *LinkEnd) { e.Above = 1500 }), 54_564},
		{"a cable of as much", with(func(e *LinkEnd) { e.Delay, e.Cable = 0, 396 }), 53_064},
		{"quanta of 64 bytes", with(func(e *LinkEnd) { e.Response = 394 }), 53_064 + 25_216},
		{"cells of one byte", with(func(e *LinkEnd) { e.Cell = 1 }), 53_064},
		{"cells of 208", with(func(e *LinkEnd) { e.Cell, e.Peer = 208, 8*208 }), 1664 + 51_564*208/64},
		{"cells of 96", with(func(e *LinkEnd) { e.Cell, e.Peer = 96, 16*96 }), 1536 + 2*51_564},
		{"no wire at all", LinkEnd{Own: 1500, Peer: 1500, Delay: 2000}, 3_064},
	} {
		if got := c.end.Headroom(); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}

// IEEE 802.3, 31B.3.7, in bytes.
func TestResponseOf(t *testing.T) {
	for mbits, want := range map[unit.Rate]int{
		100: 64, 1_000: 128, 10_000: 4_288, 25_000: 5_120, 40_000: 7_552, 50_000: 9_408,
		100_000: 25_216, 200_000: 28_992, 400_000: 57_920, 800_000: 57_920, 60_000: 25_216,
	} {
		if q, ok := ResponseOf(mbits * 1_000_000); !ok || q*64 != want {
			t.Errorf("%d Mbit/s: %d quanta, %v; want %d bytes", mbits, q, ok, want)
		}
	}
	if q, ok := ResponseOf(800*gbit + 1); ok {
		t.Errorf("above 800 Gbit/s: %d quanta", q)
	}
}

// The headroom of Nvidia's tables comes out to the byte: 60 rows.
func TestSpectrumTables(t *testing.T) {
	rates := []unit.Rate{10, 25, 40, 50, 100, 200, 400, 800}
	rows := 0
	for _, c := range []struct {
		platform string
		first    int // of rates
		metres   float64
		xoff     []int
	}{
		{"sn2700", 0, 5, []int{29696, 29696, 29696, 29696, 30720}},
		{"sn2700", 0, 40, []int{29696, 31744, 32768, 33792, 38912}},
		{"sn2700", 0, 300, []int{36864, 48128, 59392, 66560, 104448}},
		{"sn3700", 0, 5, []int{32768, 32768, 33792, 33792, 33792, 35840}},
		{"sn3700", 0, 40, []int{33792, 35840, 37888, 38912, 44032, 55296}},
		{"sn3700", 0, 300, []int{40960, 54272, 66560, 75776, 117760, 203776}},
		{"sn4700", 6, 5, []int{38912}},
		{"sn4700", 6, 40, []int{77824}},
		{"sn4700", 6, 300, []int{373760}},
		{"sn5600", 0, 5, []int{45056, 48128, 57344, 63488, 113664, 131072, 231424, 257024}},
		{"sn5600", 0, 40, []int{46080, 52224, 62464, 69632, 126976, 157696, 283648, 362496}},
		{"sn5600", 0, 300, []int{56320, 76800, 101376, 118784, 225280, 355328, 677888, 1150976}},
	} {
		p, err := PlatformNamed(c.platform)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.xoff {
			rate := rates[c.first+i] * gbit
			if got, err := p.XOFF(rate, c.metres); err != nil || got != want {
				t.Errorf("%s, %d Gbit/s, %g m: %d bytes, %v; want %d", c.platform, rate/gbit, c.metres, got, err, want)
			}
			rows++
		}
	}
	if rows != 60 {
		t.Errorf("%d rows, want 60", rows)
	}
}

// A table that is looked up is whole, in whole cells, and a longer cable takes no less; so does a
// faster port, but of Tomahawk 6, whose table has more at 50 Gbit/s than at 100.
func TestLookedUpTables(t *testing.T) {
	looked := 0
	for _, p := range platforms {
		if p.spectrum != nil {
			continue
		}
		looked++
		if !slices.IsSorted(p.metres) || len(p.metres) == 0 {
			t.Errorf("%s: cables of %v m", p.Name, p.metres)
		}
		before := cables{xoff: make([]int, len(p.metres))}
		for _, row := range p.table {
			if row.gbits <= before.gbits || len(row.xoff) != len(p.metres) || !slices.IsSorted(row.xoff) {
				t.Errorf("%s: %d Gbit/s after %d: %v for cables of %v m", p.Name, row.gbits, before.gbits, row.xoff, p.metres)
				continue
			}
			for i, xoff := range row.xoff {
				if xoff%p.Cell != 0 || p.XONOffset%p.Cell != 0 {
					t.Errorf("%s, %d Gbit/s, %g m: %d bytes, xon_offset %d: no whole cells of %d", p.Name, row.gbits, p.metres[i], xoff, p.XONOffset, p.Cell)
				}
				if xoff < before.xoff[i] && (p.Name != "tomahawk6" || row.gbits != 100) {
					t.Errorf("%s, %g m: %d bytes at %d Gbit/s, less than at %d", p.Name, p.metres[i], xoff, row.gbits, before.gbits)
				}
			}
			before = row
		}
	}
	if looked != 5 {
		t.Errorf("%d tables, want 5", looked)
	}
}

func TestLookUp(t *testing.T) {
	p, err := PlatformNamed("tomahawk")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rate   unit.Rate
		metres float64
		want   string
	}{
		{40 * gbit, 0, "66560 <nil>"},
		{40 * gbit, 5, "66560 <nil>"},
		{40 * gbit, 5.1, "71552 <nil>"},
		{100 * gbit, 300, "268736 <nil>"},
		{100 * gbit, 301, "0 the table of tomahawk has cables of up to 300 m, not 301.0"},
		{400 * gbit, 5, "0 the table of tomahawk has ports of 10, 25, 40, 50, 100 Gbit/s, not 400"},
	} {
		xoff, err := p.XOFF(c.rate, c.metres)
		if got := fmt.Sprint(xoff, " ", err); got != c.want {
			t.Errorf("%d bit/s, %g m: %s, want %s", c.rate, c.metres, got, c.want)
		}
	}
	if p, _ := PlatformNamed("sn2700"); p != nil {
		if _, err := p.XOFF(200*gbit, 5); err == nil || !strings.Contains(err.Error(), "up to 100 Gbit/s, not 200") {
			t.Errorf("a port that sn2700 has not: %v", err)
		}
	}
	if _, err := PlatformNamed("tomahawk9"); err == nil || !strings.Contains(err.Error(), "sn2700") || !strings.Contains(err.Error(), "tomahawk6") {
		t.Errorf("a platform that is none: %v", err)
	}
}

// Measured on hardware: after how many frames of 64 bytes into a stopped port the first pause
// leaves, and the first frame is lost (sonic-net/sonic-mgmt, tests/qos/files/qos_params). What is
// between is the headroom, to a cell.
func TestHardwareCells(t *testing.T) {
	for _, c := range []struct {
		name        string
		cell        int
		pause, loss int // frames
		xoff        int
	}{
		{"Trident 2, 40G, 300 m", 208, 4703, 5006, platformXOFF(t, "td2", 40, 300)},
		{"Tomahawk, 40G, 300 m", 208, 6542, 7063, platformXOFF(t, "tomahawk", 40, 300)},
		{"Tomahawk, 50G, 300 m", 208, 6542, 7225, platformXOFF(t, "tomahawk", 50, 300)},
		{"Tomahawk, 100G, 300 m", 208, 6542, 7835, platformXOFF(t, "tomahawk", 100, 300)},
		{"Tomahawk 2, 100G, 300 m", 208, 19994, 20481, platformXOFF(t, "tomahawk2", 100, 300)},
		{"Tomahawk 5, 200G, 5 m", 254, 120117, 121302, 300990},
		{"Tomahawk 5, 800G, 5 m", 254, 142285, 145139, 724662},
	} {
		m, err := NewMMU(Config{
			Ports: 2, Lossless: 1 << 3, Shared: 1 << 26, Cell: c.cell, Headroom: []int{c.xoff, c.xoff},
			Profile: Profile{Size: c.cell, StaticTh: (c.pause - 1) * c.cell, XONOffset: c.cell},
		})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		pause, loss := 0, 0
		for n := 1; loss == 0 && n < 2*c.loss; n++ {
			v, xoff := m.Admit(0, 3, 60)
			if xoff {
				pause = n
			}
			if v == HeadroomFull {
				loss = n
			}
		}
		if pause != c.pause || loss-c.loss > 1 || c.loss-loss > 1 {
			t.Errorf("%s: first pause at frame %d, first loss at %d; hardware %d and %d", c.name, pause, loss, c.pause, c.loss)
		}
	}
}

func platformXOFF(t *testing.T, name string, gbits unit.Rate, metres float64) int {
	t.Helper()
	p, err := PlatformNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	xoff, err := p.XOFF(gbits*gbit, metres)
	if err != nil {
		t.Fatal(err)
	}
	return xoff
}
