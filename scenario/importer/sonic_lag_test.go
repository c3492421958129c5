package importer_test

import (
	"strings"
	"testing"
)

// TestPortChannels: two links between two switches that are members of one PortChannel at both ends act as
// one; if one end has them in two, they do not, and the head of the scenario says so.
func TestPortChannels(t *testing.T) {
	second := func(channel string) (edits []string) {
		for _, e := range []struct{ at, far, tables string }{
			{"leaf0", "spine0", `"PORTCHANNEL": {"PortChannel1": {"min_links": "2"}}, "PORTCHANNEL_MEMBER": {"PortChannel1|Ethernet0": {}, "PortChannel1|Ethernet100": {}},`},
			{"spine0", "leaf0", `"PORTCHANNEL_MEMBER": {"PortChannel7|Ethernet0": {}, "` + channel + `|Ethernet100": {}},`},
		} {
			for table, entry := range map[string]string{
				"DEVICE_NEIGHBOR": `"Ethernet100": {"name": "` + e.far + `", "port": "Ethernet100"},`,
				"PORT":            `"Ethernet100": {"speed": "100000", "admin_status": "up", "mtu": "9100"},`,
				"PORT_QOS_MAP":    `"Ethernet100": {"dscp_to_tc_map": "AZURE", "pfc_enable": "3,4"},`,
				"BUFFER_PG":       `"Ethernet100|3-4": {"profile": "pg_lossless_100000_5m_profile"},`,
			} {
				head := `"` + table + `": {`
				edits = append(edits, e.at, head, head+entry)
			}
			edits = append(edits, e.at, `"PORT": {`, e.tables+`"PORT": {`)
		}
		return edits
	}
	text, plan := sonicImported(t, sonicClos(t, second("PortChannel7")...))
	if len(plan.Fabric.LAGs) != 1 || len(plan.Fabric.LAGs[0].Links) != 2 || !strings.Contains(text, `{link: "leaf0--spine0"}`) {
		t.Errorf("LAGs %v of\n%s", plan.Fabric.LAGs, text)
	}
	if !strings.Contains(text, "leaf0 PortChannel1: min_links is 2: here it is up with one member") {
		t.Errorf("nothing of min_links in\n%s", text)
	}
	text, plan = sonicImported(t, sonicClos(t, second("PortChannel8")...))
	if len(plan.Fabric.LAGs) != 0 || !strings.Contains(text, "The links leaf0--spine0 are not all of one PortChannel") {
		t.Errorf("LAGs %v of\n%s", plan.Fabric.LAGs, text)
	}
}
