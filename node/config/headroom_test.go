package config

import (
	"reflect"
	"strings"
	"testing"

	"softswitch/buffer"
)

// headroomFile is a switch with two ports, whose keys are what they are in the file.
const headroomFile = `name: s1
id: 1
ports: [{name: a, rate: 10Gbit/s, peer: host}, {name: b, peer: switch, rate: 100Gbit/s, xoff: 56320}]
delay: 2us
`

func TestHeadroomIsBuilt(t *testing.T) {
	for _, c := range []struct {
		more string
		want buffer.Config
	}{
		{"", buffer.Config{Headroom: []int{30720, 56320}}},
		{"buffer: {cell: 208, headroom_pool: {size: 5000}}\n", buffer.Config{
			Headroom: []int{30720, 56320}, Cell: 208, HeadroomPool: &buffer.HeadroomPool{Bytes: 5000, Port: 10240},
		}},
		// Two priorities at each port: 2 x 30720 and 2 x 56320 less 10240 each, by 4.
		{"buffer: {headroom_pool: {ratio: 4}}\n", buffer.Config{
			Headroom: []int{30720, 56320}, HeadroomPool: &buffer.HeadroomPool{Bytes: (51200 + 102400) / 4, Port: 10240},
		}},
		{"buffer: {headroom_pool: {ratio: 1, port: 0}}\n", buffer.Config{
			Headroom: []int{30720, 56320}, HeadroomPool: &buffer.HeadroomPool{Bytes: 2 * (30720 + 56320)},
		}},
	} {
		s, _, err := LoadSwitch("s.yaml", []byte(headroomFile+c.more))
		if err != nil {
			t.Fatalf("%s: %v", c.more, err)
		}
		b := s.BuildBuffer()
		if got := (buffer.Config{Headroom: b.Headroom, HeadroomPool: b.HeadroomPool, Cell: b.Cell}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.more, got, c.want)
		}
		if err := b.Check(); err != nil {
			t.Errorf("%s: %v", c.more, err)
		}
		again, _, err := LoadSwitch("s.yaml", s.Marshal())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%s: %+v, %v; written and read again %+v", c.more, s, err, again)
		}
	}
	one, _, err := LoadSwitch("s.yaml", []byte("name: s1\nid: 1\nports: [{name: a}]\n"))
	if b := one.BuildBuffer(); err != nil || b.Headroom != nil || b.HeadroomPool != nil {
		t.Errorf("%v, %+v; want the profile's headroom", err, b)
	}
}

// A switch's own file: what its links need, as far as rate and delay are known.
func TestHeadroomIsWarnedOf(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"xoff: 56320", "xoff: 54605", "warning: s.yaml:3: ports[1].xoff: 54605 bytes, and port b (100Gbit/s, 2µs) needs 54606: lossless frames can be lost; use 55296 or more"},
		{", xoff: 56320", "", "warning: s.yaml:1: buffer.xoff: 30720 bytes, and port b (100Gbit/s, 2µs) needs 54606: lossless frames can be lost; use 55296 or more"},
		{"delay: 2us", "delay: 2us\npfc: {response: 802.3}", "warning: s.yaml:3: ports[1].xoff: 56320 bytes, and port b (100Gbit/s, 2µs) needs 79822: lossless frames can be lost; use 79872 or more"},
		{"delay: 2us", "delay: 2us\npfc: {response: 27}", "warning: s.yaml:3: ports[1].xoff: 56320 bytes, and port b (100Gbit/s, 2µs) needs 56334: lossless frames can be lost; use 57344 or more"},
		{"delay: 2us", "delay: 2us\npfc: {response: 27, lossless: []}", ""},
		{"delay: 2us", "buffer: {xoff: 4000}", "warning: s.yaml:4: buffer.xoff: 4000 bytes, and port a (10Gbit/s) needs 4606: lossless frames can be lost; use 5120 or more"},
		{"delay: 2us", "buffer: {headroom_pool: {ratio: 2}}", "warning: s.yaml:4: buffer.headroom_pool: s1: 76800 bytes, and all 4 groups at once can need 153600 in addition to the 10240 of each port: in an incast lossless frames can be lost although each port has what its link needs"},
		{"delay: 2us", "buffer: {headroom_pool: {ratio: 1}}", ""},
		{"delay: 2us", "pfc: {response: 802.1}", `s.yaml:4: pfc.response: "802.1": write a number of quanta, 0 to 65535, or 802.3 for those of IEEE 802.3, 31B.3.7, by the rate of a link`},
		{"100Gbit/s, xoff: 56320}]", "900Gbit/s}]\npfc: {response: 802.3}", `s.yaml:4: pfc.response: 802.3: its table ends at 800 Gbit/s, and a link has 900Gbit/s; write a number of quanta`},
		{"delay: 2us", "buffer: {headroom_pool: {}}", `s.yaml:4: buffer.headroom_pool: a pool has a size in bytes or a ratio: write one of the two, such as {ratio: 2}`},
		{"delay: 2us", "buffer: {headroom_pool: {size: 1, ratio: 2}}", `s.yaml:4: buffer.headroom_pool: a pool has a size in bytes or a ratio: write one of the two, such as {ratio: 2}`},
		{"delay: 2us", "buffer: {headroom_pool: {ratio: 0}}", `s.yaml:4: buffer.headroom_pool.ratio: 0: use 1 to 10000`},
		{"delay: 2us", "buffer: {cell: 65537}", `s.yaml:4: buffer.cell: 65537: use 0 to 65536`},
		{"xoff: 56320", "xoff: -1", `s.yaml:3: ports[1].xoff: -1: use 0 to 1073741824`},
	} {
		_, warnings, err := LoadSwitch("s.yaml", []byte(strings.Replace(headroomFile, c.from, c.to, 1)))
		got := strings.Join(warnings, "\nwarning: ")
		if got != "" {
			got = "warning: " + got
		}
		if err != nil {
			got += err.Error()
		}
		if got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.to, got, c.want)
		}
	}
}
