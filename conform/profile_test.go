package conform

import (
	"reflect"
	"strings"
	"testing"

	"softswitch/unit"
)

const goodProfile = `
name: rack
ports: [{name: a}, {name: b}, {name: c, speed: 50Mbit/s}]
speed: 100Mbit/s
lossless: [3, 4]
`

func TestProfileDefaults(t *testing.T) {
	p, err := Load("good.yaml", []byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	if p.Ports[0].Speed != 100_000_000 || p.Ports[2].Speed != 50_000_000 || p.LosslessSet() != 1<<3|1<<4 || p.Sendable() != 0xff {
		t.Errorf("%+v", p)
	}
	if dscp, ok := p.CodePoint(3); !ok || dscp != 26 {
		t.Errorf("priority 3 has code point %d, %v", dscp, ok)
	}
	if p.PFC.Resume != "frame" || p.PFC.Quanta.Is || p.Ports[1].Address == 0 {
		t.Errorf("%+v", p)
	}
}

// Each fault of a profile is told with its line and what is valid.
func TestProfileFaults(t *testing.T) {
	for _, tt := range []struct{ add, want string }{
		{"losless: [3]", `bad.yaml:6: losless: unknown key "losless" (did you mean "lossless"?)`},
		{"trust: vlan", `bad.yaml:6: trust: "vlan"; use dscp, pcp, both`},
		{"dscp: {26: 3}", `4: no code point of dscp has this priority`},
		{"buffer: {xoff: 1000, xon: 1000}", `buffer.xon: 1000 bytes; use less than xoff, 1000`},
		{"watchdog: {detect: 200ms}", `watchdog: detect, restore and poll are needed, or contain`},
		{"watchdog: {contain: 1s, poll: 1s}", `watchdog.contain: beside detect, restore or poll`},
		{"forwarding: routed", `port "a" needs address, gateway and gateway_mac`},
		{"rings: [{kind: instances, of: [a, b, x]}]", `rings[0].of[2]: "x" is no port of the profile`},
		{"rings: [{kind: instances, of: [a, b]}]", `rings[0].of: 2 ports; use 3 or more`},
		{"pfc: {quanta: some}", `"some" is neither a number`},
		{"counters: {read: sonic}", `command is missing`},
		{"ecn: {3: {min: 2, max: 1}}", `ecn.3.min: 2 bytes is above max, 1`},
	} {
		_, err := Load("bad.yaml", []byte(goodProfile+tt.add+"\n"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %s", tt.add, err, tt.want)
		}
	}
	if _, err := Load("bad.yaml", []byte("name: x\nports: [{name: a}]\n")); err == nil || !strings.Contains(err.Error(), "1 port; use 2 to 64") || !strings.Contains(err.Error(), "speed") {
		t.Errorf("%v", err)
	}
}

func TestAllowance(t *testing.T) {
	p, err := Load("good.yaml", []byte(goodProfile+"pfc: {response: 10, slack: 1ms}\nbuffer: {delay: 2us}\n"))
	if err != nil {
		t.Fatal(err)
	}
	task := Task{Profile: p}
	want := 10*5120*unit.Nanosecond + unit.Rate(100_000_000).FrameTime(1514) + 4*unit.Microsecond + unit.Millisecond
	if got := task.Allowance(0); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// What Marshal writes, Load reads back.
func TestProfileRoundTrip(t *testing.T) {
	for _, more := range []string{"", `
pfc: {quanta: 100, response: 7, slack: 1ms, resume: expiry, source: any}
buffer: {xoff: 40960, xon: probe, cell: 208, delay: 2us}
watchdog: {detect: 200ms, restore: 300ms, poll: 100ms, action: forward}
scheduler: {3: {dwrr: 50}, 0: {strict: true}}
ecn: {3: {min: 50000, max: 200000, probability: 5%}}
rings: [{kind: instances, of: [a, b, c]}]
counters: {read: sonic, command: [ssh, dut, show, pfc, counters]}
`} {
		p, err := Load("good.yaml", []byte(goodProfile+more))
		if err != nil {
			t.Fatal(err)
		}
		q, err := Load("again.yaml", p.Marshal())
		if err != nil {
			t.Fatalf("%v\n%s", err, p.Marshal())
		}
		if !reflect.DeepEqual(p, q) {
			t.Errorf("%s\nis read as %+v\nwant %+v", p.Marshal(), q, p)
		}
	}
}
