package importer_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"softswitch/scenario/importer"
	"softswitch/topo"
	"softswitch/unit"
)

// pairDB is what the config_db.json of one of two switches has.
type pairDB struct {
	up, down string // fields of PORT beside the speed: of the port to the other switch, and to a host
	profile  string // of the priority groups; default "fixed"
	tables   string // more tables
}

// sonicPair is two switches, a and b, with a link at 200 Gbit/s and a host each at 50 Gbit/s.
func sonicPair(a, b pairDB) []importer.SONiCFile {
	file := func(name, far string, db pairDB) importer.SONiCFile {
		if db.profile == "" {
			db.profile = "fixed"
		}
		return importer.SONiCFile{Switch: name, Data: fmt.Appendf(nil, `{
"PORT": {"Ethernet0": {"speed": "200000", "admin_status": "up"%[3]s}, "Ethernet8": {"speed": "50000", "admin_status": "up"%[4]s}},
"DEVICE_NEIGHBOR": {"Ethernet0": {"name": %[2]q, "port": "Ethernet0"}, "Ethernet8": {"name": "host-%[1]s"}},
"PORT_QOS_MAP": {"Ethernet0,Ethernet8": {"pfc_enable": "5"}},
"BUFFER_PROFILE": {
  "fixed": {"pool": "ingress_lossless_pool", "size": "4096", "xoff": "90000", "dynamic_th": "-1"},
  "small": {"pool": "ingress_lossless_pool", "xoff": "10000", "static_th": "50000"},
  "computed": {"pool": "ingress_lossless_pool", "headroom_type": "dynamic", "dynamic_th": "-2"}},
"BUFFER_PG": {"Ethernet0,Ethernet8|5": {"profile": %[5]q}}%[6]s}`, name, far, db.up, db.down, db.profile, db.tables)}
	}
	return []importer.SONiCFile{file("a", "b", a), file("b", "a", b)}
}

// xoffNote is the headroom of a port in the head of a scenario.
var xoffNote = regexp.MustCompile(`xoff: (\d+) \(`)

const cables = `, "CABLE_LENGTH": {"RACK": {"Ethernet0": "%s", "Ethernet8": "%s"}}`

// TestSONiCHeadroom: what the files have of cables, mtu and headroom is in the scenario, which is
// good, and what a scenario cannot say is in its head.
func TestSONiCHeadroom(t *testing.T) {
	both := func(db pairDB) [2]pairDB { return [2]pairDB{db, db} }
	withCables := func(up, down string) string { return fmt.Sprintf(cables, up, down) }
	pool := func(fields string) string {
		return `, "BUFFER_POOL": {"ingress_lossless_pool": {"size": "7000000"` + fields + `}}`
	}
	parameter := func(fields string) string {
		return `, "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"RACK": {` + fields + `}}`
	}
	for _, c := range []struct {
		name   string
		dbs    [2]pairDB
		want   []string
		not    []string
		warned bool // by validate
	}{
		{
			"cables", both(pairDB{tables: withCables("70m", "3m")}),
			[]string{"\n  cable: 3m\n", `- {link: "a--b", rate: 200Gbit/s, cable: 70m}`, "# Cables are as long as CABLE_LENGTH says: 3m to 70m.\n"},
			[]string{"differ", "no length", "xoff is"},
			false,
		},
		{
			"ends that differ",
			[2]pairDB{{tables: withCables("70m", "0m")}, {tables: withCables("80m", "3m")}},
			[]string{"\n  cable: 80m\n", "# a Ethernet0: CABLE_LENGTH is 70m, and at the far end 80m: the longer counts.\n", "# a--host-a: CABLE_LENGTH has no length of it: no delay.\n"},
			nil, false,
		},
		{
			"one end alone",
			[2]pairDB{{tables: withCables("70m", "3m")}, {}},
			[]string{"\n  cable: 70m\n", "\n# b--host-b: CABLE_LENGTH has no length of it: no delay.\n"},
			[]string{"the longer counts"},
			false,
		},
		{
			"mtus that differ",
			[2]pairDB{{up: `, "mtu": "4000"`, down: `, "mtu": "1500"`}, {up: `, "mtu": "4000"`, down: `, "mtu": "1500"`}},
			[]string{"\n  mtu: 4000\n", "# a Ethernet8 and 1 more: mtu is 1500: a scenario has one, and the largest is 4000.\n"},
			[]string{"PORT has no mtu"},
			false,
		},
		{
			"mtus of which one is not said",
			[2]pairDB{{up: `, "mtu": "4000"`, down: `, "mtu": "4000"`}, {up: `, "mtu": "4000"`}},
			[]string{"\n  mtu: 9100\n", "# b Ethernet8: PORT has no mtu: 9100, as SONiC has it.\n", "# a Ethernet0 and 2 more: mtu is 4000: "},
			nil, false,
		},
		{
			"short packets", both(pairDB{up: `, "mtu": "1280"`, down: `, "mtu": "1280"`}),
			[]string{"# mtu is 1280: a scenario has 1500 or more.\n"},
			[]string{"\n  mtu:"},
			false,
		},
		{
			"an mtu that xoff does not hold", both(pairDB{profile: "small"}),
			[]string{"# mtu is 9100, for which a scenario has an xoff of 10628 or more, and it is 10000: mtu is left out.\n", "xoff: 10000}"},
			[]string{"\n  mtu:"},
			false,
		},
		{
			"a pool of headroom", both(pairDB{tables: pool(`, "xoff": "600000"`)}),
			[]string{"pool: 7000000", "xoff: 90000, headroom_pool: {size: 600000, port: 0}}"},
			[]string{"BUFFER_POOL has no size"},
			false,
		},
		{
			"a pool of headroom that is off", both(pairDB{tables: pool(`, "xoff": "0"`)}),
			[]string{"xoff: 90000}"},
			[]string{"headroom_pool"},
			false,
		},
		{
			"a pool of headroom beside what Nvidia's ports have", both(pairDB{tables: pool(`, "xoff": "600000"`) + `, "DEVICE_METADATA": {"localhost": {"platform": "x86_64-nvidia_sn5600-r0"}}`}),
			[]string{"headroom_pool: {size: 600000}}"},
			nil, false,
		},
		{
			"pools that differ",
			[2]pairDB{{tables: pool(`, "xoff": "600000"`)}, {tables: pool(`, "xoff": "500000"`)}},
			[]string{"# b Ethernet0 and 1 more: headroom_pool of profile fixed is {size: 500000, port: 0}: a scenario has one, here {size: 600000, port: 0}.\n"},
			nil, false,
		},
		{
			"headroom that is too short", both(pairDB{tables: withCables("700m", "3m")}),
			// 700 m at 200 Gbit/s: 176,750 bytes both ways, three frames of 9114 and a pause.
			[]string{"# a Ethernet0 and 1 more: xoff is 90000, and 200Gbit/s over 700m with an mtu of 9100 needs 204156: lossless frames can be lost.\n", "xoff: 90000}"},
			nil, true,
		},
		{
			"NULL", both(pairDB{profile: "NULL", tables: withCables("300m", "3m") + pool("") + parameter(`"default_dynamic_th": "1"`)}),
			[]string{"buffer: {pool: 7000000, dynamic_th: 1}\n", "# SONiC computes the headroom of profile NULL, for a platform that is not known here. Each port without an xoff has what its link needs, xoff: "},
			[]string{"LOSSLESS_BUFFER", "headroom_pool"},
			false,
		},
		{
			"NULL with an over-subscription", both(pairDB{profile: "NULL", tables: withCables("300m", "3m") + pool("") + parameter(`"over_subscribe_ratio": "2"`)}),
			[]string{"buffer: {pool: 7000000, headroom_pool: {ratio: 2, port: 0}}\n"},
			[]string{"LOSSLESS_BUFFER"},
			false,
		},
		{
			"NULL with an over-subscription that is off", both(pairDB{profile: "NULL", tables: pool("") + parameter(`"over_subscribe_ratio": "0"`)}),
			nil,
			[]string{"headroom_pool"},
			false,
		},
		{
			"NULL without a pool", both(pairDB{profile: "NULL"}),
			[]string{"# BUFFER_POOL has no size of the pool: it is the default of a scenario.\n"},
			[]string{"buffer:"},
			false,
		},
		{
			"a computed profile", both(pairDB{profile: "computed", tables: pool("")}),
			[]string{"buffer: {pool: 7000000, dynamic_th: -2}\n", "# SONiC computes the headroom of profile computed, for a platform that is not known here. "},
			nil, false,
		},
		{
			"a profile of one switch alone",
			[2]pairDB{{profile: "NULL"}, {}},
			[]string{`- {link: ["a--b", "b--host-b"], at: "b", xoff: 90000}`, "# b Ethernet0 and 1 more: size of profile fixed is 4096: a scenario has one, here none.\n"},
			nil, false,
		},
		{
			"tables that are not used", both(pairDB{tables: parameter(`"default_dynamic_th": "1"`) + `, "NTP": {"global": {}}, "QUEUE": {}, "bgpraw": "", "a\nb": {"c": {}}`}),
			[]string{`# Unknown, and not used: "a\nb" (a.json and 1 more).` + "\n", "# Without effect on frames: NTP: they manage the switch.\n"},
			[]string{"QUEUE", "bgpraw"},
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, plan := sonicImported(t, sonicPair(c.dbs[0], c.dbs[1]))
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range c.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
			s := plan.Scenario
			if notes := xoffNote.FindAllStringSubmatch(text, -1); notes != nil {
				var told, has []string
				for _, n := range notes {
					told = append(told, n[1])
				}
				for i, n := range s.Fabric.Nodes[:s.Fabric.Switches()] {
					for j := range n.Ports {
						if xoff := strconv.Itoa(s.XOFF(topo.End{Node: i, Port: unit.Port(j)})); !strings.Contains(text, ", xoff: "+xoff+"}") { // a port's own
							has = append(has, xoff)
						}
					}
				}
				slices.Sort(told)
				slices.Sort(has)
				if told, has = slices.Compact(told), slices.Compact(has); !slices.Equal(told, has) {
					t.Errorf("the head has %v, and ports have %v", told, has)
				}
			}
			warned := slices.ContainsFunc(s.Warnings, func(s string) bool { return strings.Contains(s, "buffer.xoff") })
			if told := strings.Contains(text, ": xoff is "); warned != c.warned || told != warned {
				t.Errorf("validate says %q, and the head\n%s", s.Warnings, text)
			}
		})
	}
}
