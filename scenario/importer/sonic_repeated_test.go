package importer_test

import (
	"strings"
	"testing"

	"softswitch/scenario/importer"
)

// Of a table, a row or a field that a file has more than once the last one counts, and what was said before is as if
// it were not there: it is neither used nor told of.
func TestSONiCRepeated(t *testing.T) {
	const rest = `"DEVICE_NEIGHBOR": {"Ethernet24": {"name": "tape"}}}`
	for _, c := range []struct{ ports, want, line string }{
		{"\"PORT\": {\"Ethernet24\": {\"speed\": \"10000\", \"fec\": \"rs\"}},\n\n\"PORT\": {\"Ethernet24\": {\"speed\": \"25000\", \"admin_status\": \"up\"}},\n", "PORT (line 3)", "rate: 25Gbit/s"},
		{"\"PORT\": {\"Ethernet24\": 7,\n\"Ethernet24\": {\"speed\": \"10000\", \"admin_status\": \"up\"}},\n", "PORT|Ethernet24 (line 2)", "rate: 10Gbit/s"},
		{"\n\"PORT\": {\"Ethernet24\": {\"speed\": \"10000\", \"speed\": \"5000\",\n\"speed\": \"40000\", \"admin_status\": \"up\"}},\n", "PORT|Ethernet24|speed (line 2), PORT|Ethernet24|speed (line 3)", "rate: 40Gbit/s"},
	} {
		made, err := importer.SONiC("x", []importer.SONiCFile{{Switch: "attic", Data: []byte("{" + c.ports + rest)}}, "")
		if err != nil {
			t.Errorf("%s: %v", c.ports, err)
			continue
		}
		told := strings.Join(made.Told, "\n")
		if want := "attic.json: it has keys more than once, and the last one counts, as in SONiC: " + c.want + "."; !strings.Contains(told, want) || !strings.Contains(string(made.Text), c.line) {
			t.Errorf("%s\nwant %s and %s", made.Text, want, c.line)
		}
		if strings.Contains(told, "fec") {
			t.Errorf("a field of a table that does not count is told of:\n%s", told)
		}
	}
}
