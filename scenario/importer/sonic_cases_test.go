package importer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"softswitch/scenario"
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/unit"
)

// rack is the files of core7, edge3 below it, and a server at each. Links are of 40 Gbit/s, over cables of 70 m
// between the two and of 3 m to servers.
type rack map[string]map[string]map[string]map[string]any // by switch, table, key, field

func newRack() rack {
	r := rack{}
	for _, s := range [][3]string{{"core7", "edge3", "SpineRouter"}, {"edge3", "core7", "ToRRouter"}} {
		r.set(s[0]+" DEVICE_METADATA localhost", "hostname", s[0], "type", s[2])
		for i, far := range []string{s[1], "disk-" + s[0]} {
			port := fmt.Sprintf("Ethernet%d", 8*i)
			r.set(s[0]+" PORT "+port, "alias", fmt.Sprintf("lane%d", i), "speed", "40000", "mtu", "9000", "admin_status", "up")
			r.set(s[0]+" DEVICE_NEIGHBOR "+port, "name", far, "port", "Ethernet0")
			r.set(s[0]+" PORT_QOS_MAP "+port, "pfc_enable", "1,5", "dscp_to_tc_map", "points")
			r.set(s[0]+" BUFFER_PG "+port+"|1", "profile", "kept")
			r.set(s[0]+" BUFFER_PG "+port+"|5", "profile", "kept")
			r.set(s[0]+" CABLE_LENGTH all", port, []string{"70m", "3m"}[i])
		}
		r.set(s[0]+" DSCP_TO_TC_MAP points", "10", "1", "46", "5", "0", "0")
		r.set(s[0]+" BUFFER_PROFILE kept", "pool", "shared", "size", "3000", "xon", "2000", "xoff", "88000", "dynamic_th", "7")
		r.set(s[0]+" BUFFER_POOL shared", "size", "9000000")
	}
	return r
}

// set gives fields to a row, "switch TABLE KEY"; a value of nil takes one away.
func (r rack) set(row string, fields ...any) rack {
	w := strings.Fields(row)
	for i, m := 0, r; i == 0; i++ {
		if m[w[0]] == nil {
			m[w[0]] = map[string]map[string]map[string]any{}
		}
		if m[w[0]][w[1]] == nil {
			m[w[0]][w[1]] = map[string]map[string]any{}
		}
		if m[w[0]][w[1]][w[2]] == nil {
			m[w[0]][w[1]][w[2]] = map[string]any{}
		}
	}
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] == nil {
			delete(r[w[0]][w[1]][w[2]], fields[i].(string))
			continue
		}
		r[w[0]][w[1]][w[2]][fields[i].(string)] = fields[i+1]
	}
	return r
}

// drop takes rows or tables away.
func (r rack) drop(rows ...string) rack {
	for _, row := range rows {
		switch w := strings.Fields(row); len(w) {
		case 1:
			delete(r, w[0])
		case 2:
			delete(r[w[0]], w[1])
		default:
			delete(r[w[0]][w[1]], w[2])
		}
	}
	return r
}

// files are the files of the switches.
func (r rack) files(t testing.TB) (files []importer.SONiCFile) {
	t.Helper()
	for _, name := range []string{"core7", "edge3", "edge4"} {
		if r[name] == nil {
			continue
		}
		data, err := json.Marshal(r[name])
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, importer.SONiCFile{Switch: name, Data: data})
	}
	return files
}

// imports checks that the scenario is good, and has all of these texts.
func (r rack) imports(t *testing.T, want ...string) (string, *scenario.Plan) {
	t.Helper()
	text, plan := sonicImported(t, r.files(t))
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
	return text, plan
}

// refused checks that there is an error with these texts.
func (r rack) refused(t *testing.T, want ...string) {
	t.Helper()
	_, err := importer.SONiC("rack", r.files(t), "")
	if err == nil {
		t.Fatalf("no error; want %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v\nwant %s", err, w)
		}
	}
}

func TestSONiCMarks(t *testing.T) {
	marks := func() rack {
		r := newRack()
		for _, s := range []string{"core7", "edge3"} {
			r.set(s+" WRED_PROFILE early", "ecn", "ecn_all", "wred_green_enable", "true", "green_min_threshold", "60000", "green_max_threshold", "700000", "green_drop_probability", "8")
			r.set(s+" QUEUE Ethernet0,Ethernet8|5", "wred_profile", "early")
		}
		return r
	}
	marks().imports(t, "congestion: {ecn: {kmin: 60000, kmax: 700000, pmax: 8}, cnp_priority: 6}")
	marks().set("edge3 WRED_PROFILE early", "green_max_threshold", "650000").imports(t,
		"kmax: 700000", "# edge3 Ethernet0 and 1 more: WRED_PROFILE has {kmin: 60000, kmax: 650000, pmax: 8}: a scenario has one, here")
	marks().set("edge3 QUEUE Ethernet8|0", "wred_profile", "early").imports(t, "# edge3 Ethernet8: queue 0 is lossy and has WRED_PROFILE early")
	if text, _ := marks().drop("core7 QUEUE", "edge3 QUEUE").imports(t, "WRED_PROFILE|early (core7 and 1 more): no QUEUE of a lossless priority names it"); strings.Contains(text, "congestion") {
		t.Errorf("marks that no queue has in\n%s", text)
	}
	marks().set("core7 WRED_PROFILE early", "green_min_threshold", "few").refused(t, `core7.json: WRED_PROFILE|early: green_min_threshold is "few"; want 0 to 1073741824`)
	marks().set("core7 QUEUE Ethernet0,Ethernet8|5", "wred_profile", "late").refused(t, `wred_profile is "late"; WRED_PROFILE has early`)
}

func TestSONiCWatchdog(t *testing.T) {
	watched := func(action string) rack {
		r := newRack()
		for _, s := range []string{"core7", "edge3"} {
			r.set(s+" PFC_WD GLOBAL", "POLL_INTERVAL", "150")
			r.set(s+" PFC_WD Ethernet0", "action", action, "detection_time", "450", "restoration_time", "200")
		}
		return r
	}
	_, plan := watched("forward").imports(t, "detector: watchdog-forward\nwatchdog: {detection_time: 450ms, restoration_time: 200ms, poll: 150ms}\n",
		"# core7 Ethernet8 and 1 more: PFC_WD has none")
	if w := plan.Switches[0].Watchdog; *w.Detection != 450*unit.Millisecond || *w.Poll != 150*unit.Millisecond {
		t.Errorf("the watchdog of the plan is %s, %s", *w.Detection, *w.Poll)
	}
	watched("drop").set("edge3 PFC_WD Ethernet0", "detection_time", "700").set("edge3 PFC_WD Ethernet8", "detection_time", 450).imports(t,
		"# edge3 Ethernet0: detection_time of PFC_WD is 700 ms: a scenario has one, here that of most ports, 450 ms.",
		"# edge3 Ethernet8: PFC_WD has no restoration_time, without which SONiC does not end a storm by itself")
	watched("drop").set("core7 PFC_WD Ethernet0", "detection_time", nil).imports(t,
		"# core7 Ethernet0: PFC_WD has no detection_time, without which SONiC starts no watchdog.",
		"# core7 Ethernet0 and 2 more: PFC_WD has none")
	watched("drop").drop("core7 PFC_WD GLOBAL", "edge3 PFC_WD GLOBAL").imports(t, "restoration_time: 200ms, poll: 100ms}")
	watched("drop").set("core7 PFC_WD GLOBAL", "POLL_INTERVAL", "300").set("edge3 PFC_WD GLOBAL", "POLL_INTERVAL", "300").imports(t,
		"# POLL_INTERVAL of PFC_WD is 300 ms, which is longer than another of its times: poll is 200 ms here.", "poll: 200ms}")
	watched("sing").refused(t, `core7.json: PFC_WD|Ethernet0: action is "sing"; want drop, forward or alert`)
	watched("drop").set("core7 PFC_WD Ethernet0", "detection_time", "long").refused(t, `core7.json: PFC_WD|Ethernet0: detection_time is "long"; want 100 to 5000 (ms)`)
	watched("drop").set("core7 PFC_WD GLOBAL", "POLL_INTERVAL", "5").refused(t, `core7.json: PFC_WD|GLOBAL: POLL_INTERVAL is "5"; want 100 to 3000 (ms)`)
}

func TestSONiCSchedulers(t *testing.T) {
	r := newRack()
	for _, s := range []string{"core7", "edge3"} {
		r.set(s+" SCHEDULER even", "type", "DWRR", "weight", "12").set(s+" SCHEDULER first", "type", "STRICT").set(s+" SCHEDULER count", "type", "WRR", "weight", 3)
		r.set(s+" QUEUE Ethernet0,Ethernet8|1-5", "scheduler", "even").set(s+" QUEUE Ethernet0|7", "scheduler", "first").set(s+" QUEUE Ethernet8|7", "scheduler", "first")
	}
	_, plan := r.imports(t, "scheduler: {0: {type: dwrr, weight: 1}, 1: {type: dwrr, weight: 12}, ", "7: {type: strict}}",
		"# Strict priorities 7 go before lossless ones, as SCHEDULER has it")
	if s := plan.Scenario.Sched; s[5].Weight != 12 || s[7].Type != "strict" || s[0].Weight != 1 {
		t.Errorf("scheduler %v", s)
	}
	r.set("edge3 QUEUE Ethernet0|7", "scheduler", "count").imports(t, `- {link: "core7--edge3", cable: 70m, scheduler: [{`, "it is WRR, which counts packets")
	r.set("edge3 SCHEDULER count", "weight", "500").refused(t, `edge3.json: SCHEDULER|count: weight is "500"; want 1 to 100`)
	r.set("edge3 SCHEDULER count", "type", "LOTTERY").refused(t, `type is "LOTTERY"; want DWRR, WRR or STRICT`)
}

// A lossless priority without a priority group has no headroom in SONiC: the port is named, and sends no pauses.
func TestSONiCWithoutGroup(t *testing.T) {
	for name, r := range map[string]rack{
		"no row":            newRack().drop("edge3 BUFFER_PG Ethernet8|1", "edge3 BUFFER_PG Ethernet8|5"),
		"a profile without": newRack().set("edge3 BUFFER_PROFILE lossy", "pool", "shared", "size", "0").set("edge3 BUFFER_PG Ethernet8|1", "profile", "lossy").set("edge3 BUFFER_PG Ethernet8|5", "profile", "lossy"),
	} {
		t.Run(name, func(t *testing.T) {
			r.imports(t, `- {link: "edge3--disk-edge3", at: "edge3", pfc: rx}`,
				"# edge3 Ethernet8: BUFFER_PG has no lossless profile of priority 1,5, which pfc_enable names, so that SONiC has no headroom for it: it sends no pauses there, and drops.")
		})
	}
	newRack().drop("edge3 BUFFER_PG Ethernet8|5").imports(t, `- {link: "edge3--disk-edge3", lossless: [1]}`, "of priority 5, which pfc_enable names, so that SONiC has no headroom for it: it is lossy there.")
	made := newRack().set("edge3 BUFFER_PROFILE lossy", "pool", "shared", "size", "0")
	for _, row := range []string{"Ethernet0|1", "Ethernet0|5", "Ethernet8|1", "Ethernet8|5"} {
		made.set("edge3 BUFFER_PG "+row, "profile", "lossy")
	}
	made.imports(t, "# edge3 Ethernet0 and 1 more: BUFFER_PG has no lossless priority group of this switch", `- {link: ["core7--edge3", "edge3--disk-edge3"], at: "edge3", xoff: 30720}`)
	newRack().drop("core7 BUFFER_PG", "edge3 BUFFER_PG").imports(t, "# core7 Ethernet0 and 3 more: BUFFER_PG has no lossless priority group of this switch, which SONiC makes when a port comes up", "xoff: 30720 (40Gbit/s over 70m)")
}

// Switches that nothing links to the others are left out, and named.
func TestSONiCParts(t *testing.T) {
	text, _ := newRack().set("core7 PORT Ethernet0", "admin_status", "down").imports(t, "switches: [core7]\n", "hosts: [disk-core7]\n", "# edge3: it is not linked to most of the other switches, and left out.")
	if strings.Contains(text, "disk-edge3") {
		t.Errorf("a host of a switch that is left out in\n%s", text)
	}
}

// Ports between ToR and leaf may pause more priorities than others.
func TestSONiCExtraPriorities(t *testing.T) {
	r := newRack()
	for _, s := range []string{"core7", "edge3"} {
		r.set(s+" PORT_QOS_MAP Ethernet0", "pfc_enable", "0,1,5,7").set(s+" BUFFER_PG Ethernet0|0", "profile", "kept").set(s+" BUFFER_PG Ethernet0|7", "profile", "kept")
	}
	_, plan := r.imports(t, "pfc: {lossless: [0, 1, 5, 7]}", `- {link: ["core7--disk-core7", "edge3--disk-edge3"], lossless: [1, 5]}`, "# core7 Ethernet8 and 1 more: pfc_enable is \"1,5\"")
	if n := len(plan.Scenario.Lossless()); n != 4 {
		t.Errorf("%d lossless priorities", n)
	}
}

func TestSONiCNeighbours(t *testing.T) {
	newRack().set("edge3 DEVICE_NEIGHBOR Ethernet0", "port", "lane0").imports(t, "links: [core7--edge3, core7--disk-core7, edge3--disk-edge3]")
	newRack().set("edge3 DEVICE_NEIGHBOR Ethernet0", "port", "lane9").refused(t, "whose PORT has no lane9; it has Ethernet0, Ethernet8")
	newRack().drop("core7 DEVICE_NEIGHBOR", "edge3 DEVICE_NEIGHBOR").refused(t, "core7.json: DEVICE_NEIGHBOR: it is missing, as in the other files")
	newRack().drop("edge3 PORT").refused(t, "edge3.json: PORT: it is missing")
	older := newRack().drop("core7", "edge3 DEVICE_NEIGHBOR").set("edge3 DEVICE_NEIGHBOR core7", "local_port", "Ethernet0", "port", "Ethernet0", "type", "SpineRouter")
	older.imports(t, "edge3--core7", "# edge3 Ethernet0: it leads to a SpineRouter, of which there is no file: it is a host here.")
}

// A switch alone has priorities and headroom: a host is at each port that is up, also where nothing says so.
func TestSONiCAlone(t *testing.T) {
	one := newRack().drop("core7", "edge3 DEVICE_NEIGHBOR")
	text, plan := one.imports(t, "hosts: [edge3-Ethernet0, edge3-Ethernet8]", "pfc: {lossless: [1, 5]}", "xoff: 88000", "# edge3 Ethernet0 and 1 more: DEVICE_NEIGHBOR does not say where it leads: to a host.")
	if len(plan.Links) != 2 {
		t.Errorf("%d links of\n%s", len(plan.Links), text)
	}
	one.set("edge3 PORT Ethernet8", "admin_status", nil).imports(t, "hosts: [edge3-Ethernet0]\n")
	newRack().drop("core7").set("edge3 PORT Ethernet0", "admin_status", nil).imports(t, "# edge3 Ethernet0: it has no admin_status, so that it is down in SONiC: its link is left out.", "hosts: [disk-edge3]\n")
	one.set("edge3 PORT Ethernet0", "admin_status", "down").refused(t, "edge3.json: PORT: no link is left")
	newRack().set("edge3 PORT Ethernet0", "admin_status", nil).set("edge3 PORT Ethernet8", "admin_status", nil).set("core7 PORT Ethernet8", "admin_status", nil).
		refused(t, "no link is left: core7 Ethernet8: it has no admin_status, so that it is down in SONiC; so it is at 3 of 4 ports with a link")
	files := newRack().drop("core7").files(t)
	files[0].Switch = "config_db"
	if made, err := importer.SONiC("config_db", files, ""); err != nil || !strings.Contains(string(made.Text), "switches: [edge3]") {
		t.Errorf("%v of\n%s", err, made.Text)
	}
}

// In a fabric a port of a VLAN leads to a host, and another that no table knows has no link.
func TestSONiCPortsOfVLANs(t *testing.T) {
	r := newRack().set("edge3 PORT Ethernet16", "speed", "10000", "admin_status", "up", "mtu", 9000).set("edge3 PORT Ethernet24", "speed", "10000", "admin_status", "up", "mtu", 9000).
		set("edge3 VLAN_MEMBER Vlan40|Ethernet16", "tagging_mode", "untagged")
	text, _ := r.imports(t, "edge3--edge3-Ethernet16", "# edge3 Ethernet24: it is up, and DEVICE_NEIGHBOR has nothing of it: it has no link.")
	if strings.Contains(text, "edge3-Ethernet24") {
		t.Errorf("a host that nothing tells of in\n%s", text)
	}
}

// A server at two switches is a host with two NICs: of one address, or of two if the VLANs say so.
func TestSONiCSeveralNICs(t *testing.T) {
	twice := func() rack {
		r := newRack().set("core7 DEVICE_NEIGHBOR Ethernet8", "name", "disk").set("edge3 DEVICE_NEIGHBOR Ethernet8", "name", "disk")
		return r
	}
	_, plan := twice().imports(t, "hosts: [disk]\n  shared_address: [disk]\n")
	if i, ok := plan.Fabric.Node("disk"); !ok || !plan.Fabric.Nodes[i].Shared || len(plan.Fabric.Nodes[i].Ports) != 2 {
		t.Errorf("nodes %v", plan.Fabric.Nodes)
	}
	apart := twice()
	for i, s := range []string{"core7", "edge3"} {
		apart.set(fmt.Sprintf("%s VLAN_INTERFACE Vlan5|192.0.2.%d/25", s, 1+128*i)).set(s+" VLAN_MEMBER Vlan5|Ethernet8", "tagging_mode", "untagged")
	}
	if text, _ := apart.imports(t, "hosts: [disk]\n", "disk has 2 links in different subnets"); strings.Contains(text, "shared_address") {
		t.Errorf("one address in\n%s", text)
	}
}

func TestSONiCTaggedPriorities(t *testing.T) {
	r := newRack()
	for _, s := range []string{"core7", "edge3"} {
		r.drop(s+" DSCP_TO_TC_MAP").set(s+" DOT1P_TO_TC_MAP bits", "0", "0", "1", "1", "5", "5")
		for _, port := range []string{"Ethernet0", "Ethernet8"} {
			r.set(s+" PORT_QOS_MAP "+port, "dscp_to_tc_map", nil, "dot1p_to_tc_map", "bits")
		}
	}
	r.imports(t, "# core7 Ethernet0 and 3 more: dot1p_to_tc_map: priorities are told by the tag")
	r.set("edge3 DOT1P_TO_TC_MAP bits", "9", "1").refused(t, `"9": "1"; want a priority of a tag of 0 to 7`)
}

// A port whose map differs has a dscp_map of its own, by the code points of hosts of a scenario.
func TestSONiCOwnMap(t *testing.T) {
	r := newRack().set("edge3 DSCP_TO_TC_MAP odd", "10", "0", "46", "5").set("edge3 PORT_QOS_MAP Ethernet8", "dscp_to_tc_map", "odd")
	_, plan := r.imports(t, `- {link: "edge3--disk-edge3", at: "edge3", dscp_map: {8: 0}}`, "# edge3 Ethernet8: 10 is mapped to priority 0, and at most ports to 1")
	if !plan.Scenario.OwnClasses() {
		t.Error("no port tells priorities in another way")
	}
}

// Numbers without quotes, and rows as Redis has them, are read as SONiC's loader does.
func TestSONiCForms(t *testing.T) {
	want, _ := newRack().imports(t)
	got, _ := newRack().set("edge3 PORT Ethernet0", "speed", 40000, "mtu", 9000).set("edge3 BUFFER_PROFILE kept", "xoff", 88000).set("core7 PORT_QOS_MAP Ethernet0", "pfc_enable", []int{1, 5}).imports(t)
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var rows []importer.SONiCFile
	for name, tables := range newRack() {
		flat := map[string]any{}
		for table, keys := range tables {
			for key, fields := range keys {
				flat[table+"|"+key] = fields
			}
		}
		data, err := json.Marshal(flat)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, importer.SONiCFile{Switch: name, Data: data})
	}
	if flat, _ := sonicImported(t, rows); flat != want {
		t.Errorf("%s\nwant\n%s", flat, want)
	}
}

// The profile NULL is computed as SONiC computes it, where the platform is known.
func TestSONiCComputes(t *testing.T) {
	r := newRack()
	for _, s := range []string{"core7", "edge3"} {
		r.set(s+" DEVICE_METADATA localhost", "platform", "x86_64-mlnx_msn3700-r0").set(s+" LOSSLESS_TRAFFIC_PATTERN all", "mtu", "1024", "small_packet_percentage", "100").
			set(s+" DEFAULT_LOSSLESS_BUFFER_PARAMETER all", "default_dynamic_th", "0", "over_subscribe_ratio", "2")
		for _, group := range []string{"Ethernet0|1", "Ethernet0|5", "Ethernet8|1", "Ethernet8|5"} {
			r.set(s+" BUFFER_PG "+group, "profile", "NULL")
		}
	}
	// 9000 + 2 x 70 m at 40 Gbit/s (3536 bytes) + 819 of MAC and PHY + 118 quanta (7552), three cells each,
	// and a frame of 1024, in KiB.
	r.imports(t, "# core7 Ethernet0 and 3 more: SONiC computes the headroom of profile NULL, here in the same way for Spectrum-2.",
		"size: 19456, dynamic_th: 0, xon: 19456, xoff: 64512, headroom_pool: {ratio: 2}}")
}

// Where routes come from is what the files suggest, and what --routing says counts more.
func TestSONiCRouting(t *testing.T) {
	plain := func() rack {
		r := newRack()
		for _, s := range []string{"core7", "edge3"} {
			r.set(s+" DEVICE_METADATA localhost", "type", nil)
		}
		return r
	}
	for _, c := range []struct {
		r         rack
		asked     importer.Routing
		key, line string
	}{
		{newRack(), "", "bgp", "core7 is a SpineRouter, of a Clos"},
		{plain(), "", "igp", "no file has BGP_NEIGHBOR"},
		{plain().set("edge3 DEVICE_METADATA localhost", "bgp_asn", "64900"), "", "bgp", "edge3.json has a bgp_asn"},
		{plain().set("edge3 DEVICE_METADATA localhost", "bgp_asn", "None"), "", "igp", "no file has"},
		{plain().set("core7 BGP_NEIGHBOR 192.0.2.1", "asn", "64901"), "", "bgp", "core7.json has BGP_NEIGHBOR"},
		{newRack(), importer.RoutingBackups, "backups", "--routing says so"},
	} {
		made, err := importer.SONiC("rack", c.r.files(t), c.asked)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(made.Told[0], "Routing is "+c.key+", ") || !strings.Contains(made.Told[0], c.line) || !strings.Contains(string(made.Text), "  routing: "+c.key+"\n") {
			t.Errorf("%q; want %s: %s", made.Told[0], c.key, c.line)
		}
		if _, err := load.Scenario("rack.yaml", made.Text); err != nil {
			t.Error(err)
		}
	}
	if _, err := importer.ParseRouting("rip"); err == nil || !strings.Contains(err.Error(), "bgp, igp, backups") {
		t.Errorf("%v", err)
	}
}

// Files that are cut off, or of which parts are of the wrong kind, end in an error that names the line.
func TestSONiCBadFiles(t *testing.T) {
	file := newRack().files(t)[0]
	for _, c := range []struct{ data, want string }{
		{string(file.Data[:len(file.Data)/2]), "core7.json:1: no config_db.json: "},
		{"", "core7.json:1: no config_db.json: "},
		{"[1, 2]", "core7.json:1: no config_db.json: it is no object"},
		{"{\n\"PORT\": 5}", "core7.json: PORT: it is 5; want an object of rows"},
		{"{\n\"PORT\": {\"Ethernet0\": []}}", "core7.json: PORT|Ethernet0: it is []; want an object of fields"},
		{"{}\n{}", "core7.json:2: no config_db.json: something follows behind the object"},
		{"{\"PORT\": {\"Ethernet0\": {\"speed\": \"40000\"}},\n\n\"PORT\": {}}", "core7.json: PORT: it is missing"},
		{"{\n\"PORT\": {},\n\"PORT\": {\"Ethernet0\": 7", "core7.json:3: no config_db.json: "},
		{`{"PORT": {` + strings.Repeat(`"x":{},`, 300_000) + `"x":{}}}`, "no config_db.json: more than 200000 keys come more than once"},
		{`{"PORT": {"Ethernet0": {"speed": ` + strings.Repeat("[", 20_000), "core7.json:1: no config_db.json: "},
		{`{"PORT": {` + strings.Repeat("!", 1000), "core7.json:1: no config_db.json: "},
	} {
		_, err := importer.SONiC("rack", []importer.SONiCFile{{Switch: "core7", Data: []byte(c.data)}, newRack().files(t)[1]}, "")
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 10_000 {
			t.Errorf("%.80q: %.300v\nwant %s", c.data, err, c.want)
		}
	}
	var many strings.Builder
	many.WriteString(`{"PORT": {"Ethernet0": {"speed": "1"}`)
	for i := range 250_000 {
		fmt.Fprintf(&many, `,"e%d":{"mtu":1}`, i)
	}
	many.WriteString("}}")
	if _, err := importer.SONiC("many", []importer.SONiCFile{{Switch: "many", Data: []byte(many.String())}}, ""); err == nil || !strings.Contains(err.Error(), "more than 200000 rows and fields") {
		t.Errorf("many ports: %v", err)
	}
	faults := newRack()
	for i := range 300 {
		faults.set(fmt.Sprintf("core7 PORT_QOS_MAP Ethernet%d", 1000+i), "pfc_enable", "9")
	}
	faults.refused(t, "and 200 more errors")
	links := newRack().drop("core7", "edge3 DEVICE_NEIGHBOR")
	for i := range 300 {
		links.set(fmt.Sprintf("edge3 PORT Ethernet%d", 1000+i), "speed", "1000", "admin_status", "up")
	}
	links.refused(t, "edge3.json: PORT: 302 ports with a link; a switch of a scenario has at most 256")
}

// Each file of the fabric of a Clos is told of once, and switches of one AS number are together, but ToRs.
func TestSONiCAS(t *testing.T) {
	r := newRack().set("core7 DEVICE_METADATA localhost", "bgp_asn", 64700).set("edge3 DEVICE_METADATA localhost", "bgp_asn", 64700)
	text, _ := r.imports(t, "# core7 and edge3, which are linked, have the same bgp_asn: AS numbers are those of a Clos here, by tier.")
	if strings.Contains(text, "shared_as") {
		t.Errorf("AS numbers in\n%s", text)
	}
	files := sonicClos(t)
	for i := range files {
		asn := map[string]string{"leaf0": "1001", "leaf1": "1002"}[files[i].Switch]
		if asn == "" {
			asn = "2000"
		}
		data := string(files[i].Data)
		if !strings.Contains(data, `"65100"`) {
			data = strings.Replace(data, `"hostname"`, `"bgp_asn": "65100", "hostname"`, 1)
		}
		files[i].Data = []byte(strings.Replace(data, `"65100"`, `"`+asn+`"`, 1))
	}
	if text, plan := sonicImported(t, files); !strings.Contains(text, "  shared_as:\n    - [spine0, spine1]\n") || !slices.Contains([]int{2}, len(plan.Scenario.Fabric.Nodes[:2])) {
		t.Errorf("no shared_as in\n%s", text)
	}
}

// TestSONiCRandom: files with random rows, fields and values are refused, or make a scenario that is good.
func TestSONiCRandom(t *testing.T) {
	values := []any{"", "0", "1", "-1", "3", "7", "8", "9", "64", "100", "1500", "9216", "100000", "2147483647", "99999999999999", 5, true, "up", "down", "on", "off", "enable", "disable", "drop", "alert", "STRICT", "DWRR", "ecn_all", "ecn_none", "true", "NULL", "kept", "shared", "early", "first", "points", "core7", "edge3", "disk", "lane0", "Ethernet0", "Ethernet8", "0m", "40000m", "3,4", "0,1,2,3,4,5,6,7", "Server", "LeafRouter", "x86_64-mlnx_msn2700-r0", "dynamic", "null", "a b", "tür"}
	rows := []string{
		"PORT Ethernet0", "PORT Ethernet8", "PORT Ethernet16", "DEVICE_NEIGHBOR Ethernet0", "DEVICE_NEIGHBOR Ethernet8", "DEVICE_NEIGHBOR Ethernet16", "DEVICE_METADATA localhost", "DEVICE_NEIGHBOR_METADATA disk", "DEVICE_NEIGHBOR_METADATA core7",
		"PORT_QOS_MAP Ethernet0", "PORT_QOS_MAP Ethernet8", "PORT_QOS_MAP Ethernet16", "PORT_QOS_MAP global", "DSCP_TO_TC_MAP points", "DOT1P_TO_TC_MAP points", "BUFFER_PG Ethernet0|1", "BUFFER_PG Ethernet8|5", "BUFFER_PG Ethernet16|0-7", "BUFFER_PROFILE kept", "BUFFER_PROFILE early", "BUFFER_POOL shared", "BUFFER_POOL ingress_lossless_pool",
		"CABLE_LENGTH all", "DEFAULT_LOSSLESS_BUFFER_PARAMETER all", "LOSSLESS_TRAFFIC_PATTERN all", "QUEUE Ethernet0|0-7", "QUEUE Ethernet8|5", "SCHEDULER first", "WRED_PROFILE early", "PFC_WD Ethernet0", "PFC_WD GLOBAL", "PORTCHANNEL P1", "PORTCHANNEL_MEMBER P1|Ethernet0", "VLAN_MEMBER V1|Ethernet16", "BGP_NEIGHBOR x",
	}
	good := 0
	for seed := range uint64(1500) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		pick := func(list []string) string { return list[rnd.IntN(len(list))] }
		r := newRack()
		for range 1 + rnd.IntN(5) {
			row := pick([]string{"core7", "edge3"}) + " " + pick(rows)
			if rnd.IntN(8) == 0 {
				r.drop(row)
				continue
			}
			table := strings.Fields(row)[1]
			fields := strings.Fields(importer.SONiCFields(table))
			if len(fields) == 0 || fields[0] == "*" {
				fields = []string{"0", "1", "10", "46", "63", "Ethernet0", "Ethernet8", "Ethernet16"}
			}
			r.set(row, pick(fields), values[rnd.IntN(len(values))])
		}
		if rnd.IntN(4) == 0 {
			r.drop("core7")
		}
		files := r.files(t)
		made, err := importer.SONiC("rack", files, "")
		if err != nil {
			continue
		}
		good++
		if _, err := load.Plan("rack.yaml", made.Text, load.Instead{}); err != nil {
			t.Errorf("seed %d: %v\n%s\nof %s", seed, err, made.Text, files)
		}
	}
	if good < 300 {
		t.Errorf("%d of 1500 make a scenario", good)
	}
}
