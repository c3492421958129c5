package importer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/scenario"
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/unit"
)

// sonicClos are the files of a small Clos fabric; each pair of edits replaces a text of one of
// them by another: "leaf0", "old", "new".
func sonicClos(t testing.TB, edits ...string) (files []importer.SONiCFile) {
	t.Helper()
	paths, err := filepath.Glob("testdata/clos/*.json")
	if err != nil || len(paths) != 4 {
		t.Fatalf("%v, %v", paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		text := string(data)
		for i := 0; i < len(edits); i += 3 {
			if edits[i] != name {
				continue
			}
			if !strings.Contains(text, edits[i+1]) {
				t.Fatalf("%s has no %q", name, edits[i+1])
			}
			text = strings.Replace(text, edits[i+1], edits[i+2], 1)
		}
		files = append(files, importer.SONiCFile{Switch: name, Data: []byte(text)})
	}
	return files
}

func sonicImported(t *testing.T, files []importer.SONiCFile) (string, *scenario.Plan) {
	t.Helper()
	made, err := importer.SONiC("clos", files, "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := load.Plan("clos.yaml", made.Text, load.Instead{})
	if err != nil {
		t.Fatalf("%v\n%s", err, made.Text)
	}
	return unwrapped(made), plan
}

// unwrapped is the file of a scenario, with a line for each paragraph of its head.
func unwrapped(made importer.Imported) string {
	_, body, _ := strings.Cut(string(made.Text), "\nname: ")
	return "# " + strings.Join(made.Told, "\n# ") + "\nname: " + body
}

// TestClos: four switches, one of an older release, come out as a known file, and its plan
// has the links, speeds, priorities and buffers.
func TestClos(t *testing.T) {
	_, plan := sonicImported(t, sonicClos(t))
	made, err := importer.SONiC("clos", sonicClos(t), "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/clos.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(made.Text) != string(want) {
		t.Errorf("%s\nwant\n%s", made.Text, want)
	}
	speeds := map[string]unit.Rate{}
	for _, l := range plan.Links {
		speeds[l.Name] = l.Rate
	}
	if len(speeds) != 8 || speeds["leaf1--spine1"] != 100e9 || speeds["leaf0--srv1"] != 25e9 {
		t.Errorf("links %v", speeds)
	}
	if b := plan.Switches[0].Buffer; b.Pool != 13945824 || *b.DynamicTh != -3 || *b.XOFF != 165568 || *b.HeadroomPool.Size != 4194304 {
		t.Errorf("buffer %+v", b)
	}
}

// TestSays: what a scenario cannot say is told in its head, and what it can is in it.
func TestSays(t *testing.T) {
	for _, c := range []struct {
		edits []string
		want  string
	}{
		{[]string{"leaf0", `"name": "srv1"`, `"name": "srv0"`}, "hosts: [srv0, srv2, srv3]\n  links: "},
		{[]string{"leaf0", `"name": "srv1"`, `"name": "srv0"`}, "# srv0 has 2 links, some of them to one switch: each is a NIC with an address of its own.\n"},
		{[]string{"leaf0", `"admin_status": "up"`, `"admin_status": "down"`}, "# leaf0 Ethernet0: its admin_status is down: its link is left out.\n"},
		{[]string{"leaf0", `"admin_status": "up"`, `"admin_status": "DOWN"`}, "# leaf0 Ethernet0: its admin_status is DOWN: its link is left out.\n"},
		{[]string{"spine0", `"admin_status": "up"`, `"admin_status": "Down"`}, "# spine0 Ethernet0: its admin_status is Down: its link is left out.\n"},
		{[]string{"leaf0", `"admin_status": "up"`, `"admin_status": "down"`}, "links: [leaf0--spine1, leaf0--srv0,"},
		{[]string{"leaf0", `"admin_status": "down"`, `"admin_status": "up"`, "leaf1", `"admin_status": "down"`, `"admin_status": "up"`}, "# leaf0 Ethernet16 and 1 more: it is up, and DEVICE_NEIGHBOR has nothing of it: it has no link.\n"},
		{[]string{"leaf0", "pg_lossless_100000_5m_profile\"\n        },\n        \"Ethernet4|0", "pg_lossless_25000_5m_profile\"\n        },\n        \"Ethernet4|0"}, `- {link: ["leaf0--spine0", "leaf0--srv0", "leaf0--srv1"], at: "leaf0", xoff: 49952}`},
		{[]string{"leaf0", "pg_lossless_100000_5m_profile\"\n        },\n        \"Ethernet4|0", "pg_lossless_25000_5m_profile\"\n        },\n        \"Ethernet4|0", "leaf1", "pg_lossless_100000_5m_profile\"\n        },\n        \"Ethernet4|0", "pg_lossless_25000_5m_profile\"\n        },\n        \"Ethernet4|0"}, `- {link: ["leaf1--spine0", "leaf1--srv2", "leaf1--srv3"], at: "leaf1", xoff: 49952}`},
		{[]string{"leaf0", `"pfc_enable": "3,4"`, `"pfc_enable": " 4, 3"`}, "pfc: {lossless: [3, 4]}"},
		{[]string{"leaf0", `"pfc_enable": "3,4"`, `"pfc_enable": [3, "4"]`}, "pfc: {lossless: [3, 4]}"},
		{[]string{"leaf0", `"mtu": "9100"`, `"mtu": 1500`}, "# leaf0 Ethernet0: mtu is 1500: a scenario has one, and the largest is 9100.\n"},
		{[]string{"leaf0", `"mtu": "9100"`, `"mtu": null`}, "# leaf0 PORT|Ethernet0: mtu is null: it counts as missing.\n"},
		{[]string{"leaf0", `"pfc_asym": "off"`, `"pfc_asym": "on"`}, `- {link: "leaf0--spine0", at: "leaf0", pfc: asymmetric}`},
	} {
		if text, _ := sonicImported(t, sonicClos(t, c.edits...)); !strings.Contains(text, c.want) {
			t.Errorf("%q: no %q in\n%s", c.edits, c.want, text)
		}
	}
}

// TestSONiCPauses: priorities are those of most ports between switches, of a switch alone those of its
// ports to hosts. Ports that pause others have them, and it is told if nothing is lossless.
func TestSONiCPauses(t *testing.T) {
	alone := func(edits ...string) []importer.SONiCFile {
		edits = append(edits, "leaf0", `"type": "LeafRouter"`, `"type": "Server"`, "leaf0", `"type": "LeafRouter"`, `"type": "Server"`)
		return sonicClos(t, edits...)[:1]
	}
	without := func(name string, ports int) (edits []string) {
		for range ports {
			edits = append(edits, name, `"pfc_enable": "3,4"`, `"pfc_enable": ""`)
		}
		return edits
	}
	const nothing = "# No port has a pfc_enable: no priority is lossless.\n"
	for _, c := range []struct {
		name  string
		files []importer.SONiCFile
		want  []string
	}{
		{"a switch alone", alone(), []string{"pfc: {lossless: [3, 4]}", "xoff: 165568", "# By the files priority 3 is DSCP 3; priority 4 is DSCP 4.\n"}},
		{"a switch alone that pauses nothing", alone(without("leaf0", 4)...), []string{"pfc: {lossless: []}", nothing}},
		{"a switch alone that pauses at two ports", alone(without("leaf0", 2)...), []string{
			"pfc: {lossless: [3, 4]}",
			`# leaf0 Ethernet0 and 1 more: pfc_enable is "": see topology.ports; pfc.lossless is "3,4", that of most others.`,
			`- {link: ["leaf0--spine0", "leaf0--spine1"], lossless: []}`,
		}},
		{"a port to a host that pauses less", sonicClos(t, "leaf0", "\"Ethernet8\": {\n            \"dscp_to_tc_map\": \"AZURE\",\n            \"tc_to_pg_map\": \"AZURE\",\n            \"pfc_to_queue_map\": \"AZURE\",\n            \"pfc_enable\": \"3,4\"", `"Ethernet8": {"pfc_enable": "3"`), []string{
			"pfc: {lossless: [3, 4]}",
			`# leaf0 Ethernet8: pfc_enable is "3": see topology.ports; pfc.lossless is "3,4", that of most others.`,
			`    - {link: "leaf0--srv0", lossless: [3]}`,
		}},
		{"ends that pause different ones", sonicClos(t, "leaf1", `"pfc_enable": "3,4"`, `"pfc_enable": "3"`), []string{
			"pfc: {lossless: [3, 4]}",
			`    - {link: "leaf1--spine0", at: "leaf1", lossless: [3]}`,
		}},
	} {
		text, _ := sonicImported(t, c.files)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
		if c.name != "a switch alone that pauses nothing" && strings.Contains(text, nothing) {
			t.Errorf("%s: it says that no priority is lossless:\n%s", c.name, text)
		}
	}
}

// TestSONiCFaults: each fault names the file, the table and key, the value and what it should
// be; several are told at once.
func TestSONiCFaults(t *testing.T) {
	spine1Port := "\"spine1\",\n            \"port\": \"Ethernet0\""
	for _, c := range []struct {
		edits []string
		want  []string
	}{
		{[]string{"leaf0", `"DEVICE_METADATA": {`, `"DEVICE_METADATA": [`}, []string{"leaf0.json:3: no config_db.json: "}},
		{[]string{"leaf0", `"hostname": "leaf0"`, `"hostname": "tor0"`}, []string{"spine0.json: DEVICE_NEIGHBOR|Ethernet0: it leads to leaf0, a ToRRouter, and there is no leaf0.json"}},
		{[]string{"leaf0", spine1Port, strings.Replace(spine1Port, "Ethernet0", "Ethernet4", 1)}, []string{
			"leaf0.json: DEVICE_NEIGHBOR|Ethernet4: it leads to spine1 Ethernet4, which by spine1.json leads to leaf1 Ethernet4",
			"spine1.json: DEVICE_NEIGHBOR|Ethernet0: it leads to leaf0 Ethernet4, which by leaf0.json leads to spine1 Ethernet4",
		}},
		{[]string{"leaf0", spine1Port, strings.Replace(spine1Port, "Ethernet0", "Ethernet99", 1)}, []string{
			"leaf0.json: DEVICE_NEIGHBOR|Ethernet4: it leads to spine1 Ethernet99, whose PORT has no Ethernet99; it has Ethernet0, Ethernet4, Ethernet16",
		}},
		{[]string{"leaf0", spine1Port, strings.Replace(spine1Port, "Ethernet0", "Ethernet16", 1)}, []string{
			"leaf0.json: DEVICE_NEIGHBOR|Ethernet4: it leads to spine1 Ethernet16, and spine1.json has no DEVICE_NEIGHBOR|Ethernet16",
		}},
		{[]string{"leaf0", "\"DEVICE_NEIGHBOR\": {\n        \"Ethernet0\"", "\"DEVICE_NEIGHBOR\": {\n        \"Ethernet40\""}, []string{
			"leaf0.json: DEVICE_NEIGHBOR|Ethernet40: PORT has no Ethernet40; it has Ethernet0, Ethernet4, Ethernet8, Ethernet12, Ethernet16",
			"spine0.json: DEVICE_NEIGHBOR|Ethernet0: it leads to leaf0 Ethernet0, and leaf0.json has no DEVICE_NEIGHBOR|Ethernet0",
		}},
		{[]string{"leaf0", `"Ethernet0|3-4": {`, `"Ethernet0,Ethernet40|3-4": {`}, []string{
			"leaf0.json: BUFFER_PG|Ethernet0,Ethernet40|3-4: PORT has no Ethernet40; it has Ethernet0, Ethernet4, Ethernet8, Ethernet12, Ethernet16",
		}},
		{[]string{"leaf0", `"PORT_QOS_MAP": {`, `"PORT_QOS_MAP": {"Ethernet41": {},`}, []string{
			"leaf0.json: PORT_QOS_MAP|Ethernet41: PORT has no Ethernet41; it has Ethernet0, Ethernet4, Ethernet8, Ethernet12, Ethernet16",
		}},
		{[]string{"spine0", `"speed": "100000"`, `"speed": "40000"`}, []string{`leaf0.json: PORT|Ethernet0: speed is "100000", and that of spine0 Ethernet0, to which it leads, "40000"`}},
		{[]string{"leaf0", `"pfc_asym": "off"`, `"pfc_asym": "yes"`}, []string{`leaf0.json: PORT|Ethernet0: pfc_asym is "yes"; want on or off`}},
		{[]string{"leaf0", `"speed": "100000"`, `"speed": "fast"`}, []string{`leaf0.json: PORT|Ethernet0: speed is "fast"; want Mbit/s, such as "100000"`}},
		{[]string{"leaf0", "\"name\": \"srv1\"", "\"name\": \"spine9\"", "leaf0", "\"srv1\": {\n            \"hwsku\": \"Server\",\n            \"lo_addr\": \"10.0.0.1\",\n            \"type\": \"Server\"", "\"spine9\": {\n            \"type\": \"LeafRouter\""}, []string{
			"leaf0.json: DEVICE_NEIGHBOR|Ethernet12: it leads to spine9, a LeafRouter, and there is no spine9.json",
		}},
		{[]string{"leaf0", `"pfc_enable": "3,4"`, `"pfc_enable": {"3": true}`}, []string{
			`leaf0.json: PORT_QOS_MAP|Ethernet0: pfc_enable is {"3":true}; want a text, such as "3,4"`,
		}},
		{[]string{"leaf0", `"pfc_enable": "3,4"`, `"pfc_enable": "3,8"`}, []string{`leaf0.json: PORT_QOS_MAP|Ethernet0: pfc_enable is "3,8"; want priorities 0 to 7`}},
		{[]string{"leaf1", `"26": "1"`, `"96": "3"`}, []string{`leaf1.json: DSCP_TO_TC_MAP|AZURE: "96": "3"; want a DSCP of 0 to 63 and a priority of 0 to 7`}},
		{[]string{"spine1", `[DSCP_TO_TC_MAP|AZURE]`, `[DSCP_TO_TC_MAP|MINE]`}, []string{`spine1.json: PORT_QOS_MAP|Ethernet0,Ethernet4: dscp_to_tc_map is "MINE"; DSCP_TO_TC_MAP has AZURE`}},
		{[]string{"spine1", "[BUFFER_PROFILE|pg_lossless_100000_5m_profile]", "[BUFFER_PROFILE|none]"}, []string{`spine1.json: BUFFER_PG|Ethernet0|3-4: profile is "none"; BUFFER_PROFILE has ingress_lossy_profile, pg_lossless_25000_5m_profile, pg_lossless_100000_5m_profile`}},
		{[]string{"spine0", `"xoff": "165568"`, `"xoff": "much"`}, []string{`spine0.json: BUFFER_PROFILE|pg_lossless_100000_5m_profile: xoff is "much"; want a whole number`}},
		{[]string{"spine0", `"xoff": "165568"`, `"xoff": "-5"`}, []string{`spine0.json: BUFFER_PROFILE|pg_lossless_100000_5m_profile: xoff is "-5"; want a whole number, 0 or above, and at most 1073741824`}},
		{[]string{"spine0", `"xoff": "4194304"`, `"xoff": "4 MB"`}, []string{`spine0.json: BUFFER_POOL|ingress_lossless_pool: xoff is "4 MB"; want a whole number`}},
		{[]string{"spine0", `"xoff": "4194304"`, `"xoff": "-1"`}, []string{`spine0.json: BUFFER_POOL|ingress_lossless_pool: xoff is "-1"; want a whole number`}},
		{[]string{"spine0", `"mtu": "9100"`, `"mtu": "9217"`}, []string{`spine0.json: PORT|Ethernet0: mtu is "9217"; want 68 to 9216`}},
		{[]string{"spine0", `"mtu": "9100"`, `"mtu": "jumbo"`}, []string{`spine0.json: PORT|Ethernet0: mtu is "jumbo"; want 68 to 9216`}},
		{[]string{"spine0", `"PORT": {`, `"CABLE_LENGTH": {"AZURE": {"Ethernet0": "40", "Ethernet4": "-1m", "Ethernet40": "far"}}, "PORT": {`}, []string{
			`spine0.json: CABLE_LENGTH|AZURE: Ethernet0 is "40"; want metres, such as "300m"`,
			`spine0.json: CABLE_LENGTH|AZURE: Ethernet4 is "-1m"; want metres, such as "300m"`,
		}},
		{[]string{"spine0", `"profile": "pg_lossless_100000_5m_profile"`, `"profile": "NULL"`, "spine0", `"PORT": {`, `"DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "half"}}, "PORT": {`}, []string{
			`spine0.json: DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE: default_dynamic_th is "half"; want a whole number`,
		}},
		{[]string{"spine0", `"size": "13945824"`, `"size": "13 MB"`}, []string{`spine0.json: BUFFER_POOL|ingress_lossless_pool: size is "13 MB"; want a whole number`}},
	} {
		_, err := importer.SONiC("clos", sonicClos(t, c.edits...), "")
		if err == nil {
			t.Errorf("%q: no error", c.edits)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v\nwant %s", c.edits, err, want)
			}
		}
	}
	if _, err := importer.SONiC("none", nil, ""); err == nil || !strings.Contains(err.Error(), "no file") {
		t.Errorf("no file: %v", err)
	}
}

// FuzzSONiC: whatever the files of two switches are, they are refused or make a text
// that can be read line by line, and never a panic.
func FuzzSONiC(f *testing.F) {
	files, pair := sonicClos(f), sonicPair(pairDB{}, pairDB{})
	f.Add(files[0].Data, files[2].Data)
	f.Add([]byte(`{"PORT": {"e": {"speed": "1", "admin_status": "up"}}, "DEVICE_NEIGHBOR": {"e": {"name": "b", "port": "e"}}}`), []byte(`{"PORT": {"e": {"speed": "1", "admin_status": "up"}}, "DEVICE_NEIGHBOR": {"e": {"name": "a", "port": "e"}}}`))
	f.Add([]byte(`{"PORT": {"e": {"speed": "1", "admin_status": "up"}, "f": {"speed": "1", "admin_status": "up"}}, "DEVICE_NEIGHBOR": {"e": {"name": "a", "port": "f"}, "f": {"name": "a", "port": "e"}}}`), []byte(`{}`))
	f.Add(pair[0].Data, pair[1].Data)
	f.Add([]byte(`{"PORT": {"e": {"speed": "1", "admin_status": "up"}}, "DEVICE_NEIGHBOR": {"e": {"name": "h"}}, "PORT_QOS_MAP": {"e": {"pfc_enable": "3"}}, "BUFFER_PG": {"e|3": {"profile": "p"}}, "BUFFER_PROFILE": {"p": {"xoff": "1"}}}`), []byte(`null`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		made, err := importer.SONiC("fuzz", []importer.SONiCFile{{Switch: "a", Data: a}, {Switch: "b", Data: b}}, "")
		if err != nil {
			if len(err.Error()) == 0 {
				t.Error("an error without words")
			}
			return
		}
		if _, err := load.Scenario("fuzz.yaml", made.Text); err != nil && (strings.Contains(err.Error(), "unknown key") || strings.Contains(err.Error(), "not YAML") || strings.Contains(err.Error(), "given twice")) {
			t.Errorf("%v\n%s", err, made.Text)
		}
	})
}
