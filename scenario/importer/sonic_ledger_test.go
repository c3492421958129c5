package importer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// oneSwitch is the file of a switch with a host, and more tables.
func oneSwitch(tables string) []SONiCFile {
	return []SONiCFile{{Switch: "rack9", Data: fmt.Appendf(nil, `{
"PORT": {"Ethernet12": {"speed": "50000", "admin_status": "up"}},
"DEVICE_NEIGHBOR": {"Ethernet12": {"name": "disk7"}}%s}`, tables)}}
}

// TestSONiCTellsMadeUp: what nobody knows is named as unknown, wherever it is: at the top, as a field of a
// table of which some are used, as a row as Redis has it.
func TestSONiCTellsMadeUp(t *testing.T) {
	for _, c := range []struct{ tables, want string }{
		{`, "GARDEN": {"rose": {"colour": "red"}}`, "GARDEN (rack9.json)"},
		{`, "GARDEN|rose": {"colour": "red"}`, "GARDEN (rack9.json)"},
		{`, "PORT|Ethernet16": {"speed": "50000", "colour": "red"}`, "PORT.colour (rack9 Ethernet16)"},
	} {
		wantUnknown(t, oneSwitch(c.tables), c.want)
	}
	places := 0
	for _, name := range keysOf(sonicLedger) {
		f := sonicLedger[name]
		if f.whole() || has(f.used, "*") {
			continue
		}
		places++
		row := rowIn(name)
		files := oneSwitch(fmt.Sprintf(`, %q: {%q: {"colour_of_it": "red"}}`, name, row))
		for _, own := range []string{"PORT", "DEVICE_NEIGHBOR"} {
			if name == own {
				files[0].Data = []byte(strings.Replace(string(oneSwitch("")[0].Data), `"Ethernet12": {`, `"Ethernet12": {"colour_of_it": "red", `, 1+slices.Index([]string{"PORT", "DEVICE_NEIGHBOR"}, own)))
			}
		}
		wantUnknown(t, files, name+".colour_of_it (rack9 "+row+")")
	}
	if places < 15 {
		t.Errorf("%d tables have fields of which some are used", places)
	}
}

// rowIn is the key of a row that a table may have.
func rowIn(table string) string {
	if table == "PORTCHANNEL_MEMBER" {
		return "PortChannel3|Ethernet12"
	}
	return "Ethernet12"
}

// wantUnknown checks that an import names something as unknown, and counts it.
func wantUnknown(t *testing.T, files []SONiCFile, want string) {
	t.Helper()
	m, err := SONiC("x", files, "")
	if err != nil {
		t.Errorf("%s: %v", want, err)
		return
	}
	if i := slices.IndexFunc(m.Told, func(s string) bool { return strings.HasPrefix(s, "Unknown, and not used: ") }); i < 0 || !strings.Contains(m.Told[i], want) || m.Unused == 0 {
		t.Errorf("no %s as unknown, and %d unused, in\n%s", want, m.Unused, strings.Join(m.Told, "\n"))
	}
}

// TestSONiCLedgerTellsAll: a table of which nothing is used is told of by its name and its reason, and so is
// every field that is not used of the others.
func TestSONiCLedgerTellsAll(t *testing.T) {
	for _, name := range keysOf(sonicLedger) {
		f := sonicLedger[name]
		var want []string
		row := rowIn(name)
		fields := `"what": "1"`
		if f.whole() {
			want = append(want, name, ": "+f.all+f.lost+".")
		} else {
			fields = ""
			for _, list := range []reasons{f.told, f.idle} {
				for _, why := range list {
					for _, field := range strings.Fields(why[0]) {
						fields += fmt.Sprintf(", %q: \"1\"", field)
						want = append(want, name+"."+field)
					}
					want = append(want, ": "+why[1]+".")
				}
			}
			fields = strings.TrimPrefix(fields, ", ")
		}
		files := oneSwitch(fmt.Sprintf(`, %q: {%q: {%s}}`, name, row, fields))
		switch name {
		case "PORT", "DEVICE_NEIGHBOR":
			files[0].Data = []byte(strings.ReplaceAll(string(oneSwitch("")[0].Data), `"`+name+`": {"Ethernet12": {`, `"`+name+`": {"Ethernet12": {`+fields+", "))
		}
		m, err := SONiC("x", files, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(strings.Join(m.Told, "\n"), w) {
				t.Errorf("%s: no %q in\n%s", name, w, strings.Join(m.Told, "\n"))
			}
		}
	}
}

// TestSONiCComputesHeadroom: xoff of Spectrum-4, whose response times are those of IEEE 802.3, is that of
// sonic-net/sonic-buildimage, device/nvidia/x86_64-nvidia_sn5600-r0/ACS-SN5600/pg_profile_lookup.ini.
func TestSONiCComputesHeadroom(t *testing.T) {
	speeds := []int{10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000}
	for metres, row := range map[int][]int{
		5:   {45056, 48128, 57344, 63488, 113664, 131072, 231424, 257024},
		40:  {46080, 52224, 62464, 69632, 126976, 157696, 283648, 362496},
		300: {56320, 76800, 101376, 118784, 225280, 355328, 677888, 1150976},
	} {
		for i, want := range row {
			chip := asicOf(&configDB{tables: map[string]table{"DEVICE_METADATA": {"localhost": {"platform": "x86_64-nvidia_sn5600-r0"}}}, taken: map[string]bool{}})
			lanes := 4
			if speeds[i] == 800_000 {
				lanes = 8
			}
			xoff, xon := chip.headroom(&sonicLink{speed: speeds[i]}, metres, 9216, 1024, 100, lanes, false)
			wantXON := 19456
			if lanes == 8 {
				wantXON = 38912
			}
			if xoff != want || xon != wantXON {
				t.Errorf("%d Mbit/s, %d m: xoff %d, xon %d; want %d, %d", speeds[i], metres, xoff, xon, want, wantXON)
			}
		}
	}
}
