package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"softswitch/buffer"
	"softswitch/topo"
	"softswitch/unit"
)

// longLinks is a scenario whose keys are what each case adds: 100 Gbit/s need more than the usual
// headroom from 845 ns on.
func longLinks(link, more string) string {
	return "name: long\ntopology:\n  switches: [s1, s2]\n  hosts: [h1, h2]\n  links: [h1--s1, s1--s2, s2--h2]\n  rate: 100Gbit/s\n  " + link + "\n" + more + "duration: 1ms\n"
}

// buffers are the headroom of each port of the switches, and the receive buffers of the hosts.
func buffers(p *Plan) string {
	var b strings.Builder
	for i := range p.Switches {
		for j, port := range p.Switches[i].Ports {
			own := ""
			if port.XOFF != nil {
				own = "!"
			}
			fmt.Fprintf(&b, "%s:%d%s ", port.Name, p.Scenario.XOFF(topo.End{Node: i, Port: unit.Port(j)}), own)
		}
	}
	for _, h := range p.Hosts {
		fmt.Fprintf(&b, "%s:%d ", h.Name, h.RxBuffer)
	}
	return strings.TrimSpace(b.String())
}

func TestHeadroomOfLinks(t *testing.T) {
	const usual = "to-h1:30720 to-s2:30720 to-s1:30720 to-h2:30720 h1:131072 h2:131072"
	for _, c := range []struct{ name, link, more, want, warnings string }{
		{"usual", "delay: 1us", "", usual, ""},
		{"long", "delay: 2us", "", "to-h1:55296! to-s2:55296! to-s1:55296! to-h2:55296! h1:221184 h2:221184", ""},
		{"of one link", "overrides: [{link: s1--s2, delay: 1us, jitter: 1us}]", "", "to-h1:30720 to-s2:55296! to-s1:55296! to-h2:30720 h1:131072 h2:131072", ""},
		{"a cable", "cable: 300m", "", "to-h1:43008! to-s2:43008! to-s1:43008! to-h2:43008! h1:172032 h2:172032", ""},
		{"a cable for a delay", "delay: 2us\n  overrides: [{link: s1--s2, cable: 5m}]", "", "to-h1:55296! to-s2:30720 to-s1:30720 to-h2:55296! h1:221184 h2:221184", ""},
		{"a response", "delay: 1us", "pfc: {response: 802.3}\n", "to-h1:55296! to-s2:55296! to-s1:55296! to-h2:55296! h1:221184 h2:221184", ""},
		{"quanta", "delay: 1us", "pfc: {response: 100}\n", "to-h1:36864! to-s2:36864! to-s1:36864! to-h2:36864! h1:147456 h2:147456", ""},
		{"cells", "delay: 1us", "buffer: {cell: 208}\n", "to-h1:90112! to-s2:90112! to-s1:90112! to-h2:90112! h1:131072 h2:131072", ""},
		{"jumbo frames", "mtu: 9216", "", usual, ""},
		{"no lossless priority", "delay: 2us", "pfc: {lossless: []}\n", usual, ""},
		{
			"xoff", "delay: 2us", "buffer: {xoff: 30720}\n", "to-h1:30720 to-s2:30720 to-s1:30720 to-h2:30720 h1:221184 h2:221184",
			"long.yaml:8: buffer.xoff: 30720 bytes, and s1 to h1 (100Gbit/s, 2µs; 3 more like it) needs 54606: lossless frames can be lost; use 55296 or more, or leave it out",
		},
		{
			"rx_buffer", "delay: 2us", "host: {rx_buffer: 131072}\n", "to-h1:55296! to-s2:55296! to-s1:55296! to-h2:55296! h1:131072 h2:131072",
			"long.yaml:8: host.rx_buffer: 131072 bytes, of which 1/4 is headroom, and h1 to s1 (100Gbit/s, 2µs; 1 more like it) needs 54606: lossless frames can be lost; use 221184 or more, or leave it out",
		},
		{"a larger rx_buffer", "delay: 1us", "host: {rx_buffer: 1048576}\n", "to-h1:30720 to-s2:30720 to-s1:30720 to-h2:30720 h1:1048576 h2:1048576", ""},
		{
			"a pool", "delay: 2us", "buffer: {headroom_pool: {ratio: 4}}\n", "to-h1:55296! to-s2:55296! to-s1:55296! to-h2:55296! h1:221184 h2:221184",
			"long.yaml:8: buffer.headroom_pool: s1 and 1 more switch: 50176 bytes, and all 4 groups at once can need 200704 in addition to the 10240 of each port: in an incast lossless frames can be lost although each port has what its link needs",
		},
		{
			"a platform for shorter frames", "mtu: 9216\n  cable: 5m", "platform: sn2700\n", "to-h1:30720 to-s2:30720 to-s1:30720 to-h2:30720 h1:131072 h2:131072",
			"long.yaml:9: platform: 30720 bytes, and s1 to h1 (100Gbit/s, 25ns; 3 more like it) needs 38462: lossless frames can be lost; use 38912 or more as buffer.xoff",
		},
		{
			"too long a link", "delay: 100ms", "", "to-h1:939524096! to-s2:939524096! to-s1:939524096! to-h2:939524096! h1:939524096 h2:939524096",
			"long.yaml:1: host.rx_buffer: 939524096 bytes, of which 1/4 is headroom, and h1 to s1 (100Gbit/s, 100ms; 1 more like it) needs 2500004606: lossless frames can be lost; no buffer is as large: make the link shorter or slower\n" +
				"long.yaml:1: buffer.xoff: 939524096 bytes, and s1 to h1 (100Gbit/s, 100ms; 3 more like it) needs 2500004606: lossless frames can be lost; no buffer is as large: make the link shorter or slower",
		},
		{"a whole pool", "delay: 2us", "buffer: {headroom_pool: {ratio: 1}}\n", "to-h1:55296! to-s2:55296! to-s1:55296! to-h2:55296! h1:221184 h2:221184", ""},
		{"a platform", "cable: 300m", "platform: tomahawk\n", "to-h1:268736! to-s2:268736! to-s1:268736! to-h2:268736! h1:172032 h2:172032", ""},
		{"a computed platform", "cable: 40m", "platform: sn3700\n", "to-h1:44032! to-s2:44032! to-s1:44032! to-h2:44032! h1:131072 h2:131072", ""},
		{
			"a platform and xoff", "cable: 300m", "platform: tomahawk\nbuffer: {xoff: 62400}\n", "to-h1:62400 to-s2:62400 to-s1:62400 to-h2:62400 h1:172032 h2:172032",
			"long.yaml:9: buffer.xoff: 62400 bytes, and s1 to h1 (100Gbit/s, 1.515µs; 3 more like it) needs 131551: lossless frames can be lost; use 132096 or more, or leave it out",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compile(t, "long.yaml", longLinks(c.link, c.more))
			checkPlan(t, p)
			if got := strings.Join(p.Scenario.Warnings, "\n"); buffers(p) != c.want || got != c.warnings {
				t.Errorf("%s\nwant %s\nwarnings:\n%s\nwant:\n%s", buffers(p), c.want, got, c.warnings)
			}
			slow, err := p.Scenario.Slow(400)
			if err != nil {
				t.Fatal(err)
			}
			q, err := Compile(slow)
			if err != nil || buffers(q) != c.want {
				t.Errorf("slowed down: %v, %s, want %s", err, buffers(q), c.want)
			}
			for i := range p.Switches {
				if !reflect.DeepEqual(p.Switches[i].BuildBuffer(), q.Switches[i].BuildBuffer()) {
					t.Errorf("slowed down %s has the buffer %+v, before %+v", p.Switches[i].Name, q.Switches[i].BuildBuffer(), p.Switches[i].BuildBuffer())
				}
			}
		})
	}
}

// What a platform gives beside headroom, and that what the file says comes first.
func TestPlatform(t *testing.T) {
	for _, c := range []struct {
		more                 string
		cell, xon, xonOffset int
		profile              buffer.Profile
	}{
		{"platform: td2\n", 208, 18432, 2496, buffer.Profile{Dynamic: true, DynamicTh: -1}},
		{"platform: td2\nbuffer: {dynamic_th: 1, cell: 0, xon: 5000, xon_offset: 6}\n", 0, 5000, 6, buffer.Profile{Dynamic: true, DynamicTh: 1}},
		// With static thresholds xon_offset decides, and xon would be without effect.
		{"platform: tomahawk\n", 208, 0, 2288, buffer.Profile{StaticTh: 36864}},
		{"platform: sn2700\nbuffer: {dynamic_th: 0}\n", 96, 19456, 4096, buffer.Profile{Dynamic: true}},
		{"platform: z9864f\n", 254, 0, 3556, buffer.Profile{StaticTh: 36864}},
	} {
		p := compile(t, "long.yaml", longLinks("cable: 5m", c.more))
		b := p.Switches[0].BuildBuffer()
		got := buffer.Profile{Dynamic: b.Profile.Dynamic, DynamicTh: b.Profile.DynamicTh, StaticTh: b.Profile.StaticTh}
		if b.Cell != c.cell || b.Profile.XON != c.xon || b.Profile.XONOffset != c.xonOffset || got != c.profile || len(p.Scenario.Warnings) > 0 {
			t.Errorf("%s: %+v, warnings %q", c.more, b, p.Scenario.Warnings)
		}
	}
}

func TestHeadroomRefused(t *testing.T) {
	for _, c := range []struct{ link, more, want string }{
		{"cable: 300m\n  delay: 1us", "", `long.yaml:7: topology.cable: 300m, and delay is 1µs: write one of the two`},
		{"cable: 300", "", `long.yaml:7: topology.cable: "300" is not the length of a cable: write metres, such as "300m"; at most 198000000m, in which light is under way for a second`},
		{"cable: 200000000m", "", `long.yaml:7: topology.cable: "200000000m" is not the length of a cable: write metres, such as "300m"; at most 198000000m, in which light is under way for a second`},
		{"overrides: [{link: h1--s1, cable: -1m}]", "", `long.yaml:7: topology.overrides[0].cable: "-1m" is not the length of a cable: write metres, such as "300m"; at most 198000000m, in which light is under way for a second`},
		{`overrides: [{link: h1--s1, rate: "0"}]`, "", `long.yaml:7: topology.overrides[0].rate: 0: link h1--s1 without a rate: a pause has no length there, and no headroom is enough; write a rate such as "100Mbit/s"`},
		{"delay: 1us", "platform: tomahawk5\n", `long.yaml:8: platform: "tomahawk5" (did you mean "tomahawk" or "tomahawk2" or "tomahawk6"?); use sn2700, sn3700, sn4700, sn5600, td2, tomahawk, tomahawk2, z9864f, tomahawk6`},
		{"cable: 301m", "platform: tomahawk\n", `long.yaml:8: platform: the table of tomahawk has cables of up to 300 m, not 301.0 (s1 to h1); write buffer.xoff, or another platform`},
		{"overrides: [{link: s1--s2, rate: 400Gbit/s}]", "platform: sn3700\n", `long.yaml:8: platform: a port of sn3700 has up to 200 Gbit/s, not 400 (s1 to s2); write buffer.xoff, or another platform`},
		{"delay: 1us", "host: {rx_buffer: 8191}\n", `long.yaml:8: host.rx_buffer: 8191: use 8192 to 1073741824`},
		{"mtu: 9216", "host: {rx_buffer: 8192}\n", `long.yaml:8: host.rx_buffer: 8192: use 36936 to 1073741824, as the mtu is 9216`},
		{"delay: 1us", "pfc: {response: fast}\n", `long.yaml:8: pfc.response: "fast": write a number of quanta, 0 to 65535, or 802.3 for those of IEEE 802.3, 31B.3.7, by the rate of a link`},
	} {
		if _, err := Parse("long.yaml", []byte(longLinks(c.link, c.more)), known); err == nil || err.Error() != c.want {
			t.Errorf("%s, %s:\n%v\nwant\n%s", c.link, c.more, err, c.want)
		}
	}
}
