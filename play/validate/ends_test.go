package validate_test

import (
	"strings"
	"testing"

	"softswitch/play/validate"
)

// TestMismatches: two files of one link with other lossless priorities are told, in both; files of
// no link, or that agree, are not.
func TestMismatches(t *testing.T) {
	s1 := `{name: s1, id: 1, ports: [{name: a, mac: "02:00:00:00:01:00", peer: switch, peer_mac: "02:00:00:00:02:00"}, {name: b, peer: host}],
  mac: [{mac: "02:00:00:00:03:00", port: 1}], pfc: {lossless: [3, 4]}}`
	s2 := `{name: s2, id: 2, ports: [{name: c, mac: "02:00:00:00:02:00", peer: switch, peer_mac: "02:00:00:00:01:00"}], pfc: {lossless: LOSSLESS}}`
	h := `{name: h, id: 3, port: {name: d, mac: "02:00:00:00:03:00"}, address: 10.0.0.2/24, gateway: 10.0.0.1, gateway_mac: "02:00:00:00:01:00", pfc: {lossless: LOSSLESS}}`
	for lossless, want := range map[string]string{
		"[3, 4]": "",
		"[3]": "s1: pfc.lossless: 3, 4 here, and 3 in s2, the far end of port a: what one end takes for lossless the other may drop\n" +
			"s1: pfc.lossless: 3, 4 here, and 3 in h, the far end of port b: what one end takes for lossless the other may drop\n" +
			"s2: pfc.lossless: 3 here, and 3, 4 in s1, the far end of port c: what one end takes for lossless the other may drop",
	} {
		all := validate.Files{validate.Check("s1", []byte(s1))}
		all = append(all, validate.Check("s2", []byte(strings.ReplaceAll(s2, "LOSSLESS", lossless))), validate.Check("h", []byte(strings.ReplaceAll(h, "LOSSLESS", lossless))))
		all.TellMismatches()
		var got []string
		for _, f := range all {
			if !f.OK {
				t.Fatalf("%s: %v", f.Name, f.Faults)
			}
			got = append(got, f.Warnings...)
		}
		if text := strings.Join(got, "\n"); text != want {
			t.Errorf("%s:\n%s\nwant\n%s", lossless, text, want)
		}
	}
}

// TestMismatchesOfPorts: what is lossless at the port itself counts, at both ends.
func TestMismatchesOfPorts(t *testing.T) {
	file := func(name, id, mac, far, own string) validate.File {
		return validate.Check(name, []byte(`{name: `+name+`, id: `+id+`, pfc: {lossless: [3, 4]}, ports: [{name: a, mac: "`+mac+`", peer: switch, peer_mac: "`+far+`"`+own+`}]}`))
	}
	for _, c := range []struct {
		one, two string
		warnings int
	}{
		{"", "", 0},
		{", lossless: [2, 3]", "", 2},
		{", lossless: [2, 3]", ", lossless: [2, 3]", 0},
	} {
		all := validate.Files{
			file("s1", "1", "02:00:00:00:01:00", "02:00:00:00:02:00", c.one),
			file("s2", "2", "02:00:00:00:02:00", "02:00:00:00:01:00", c.two),
		}
		all.TellMismatches()
		if n := len(all[0].Warnings) + len(all[1].Warnings); n != c.warnings || !all[0].OK || !all[1].OK {
			t.Errorf("%q and %q: %d warnings, want %d: %v %v", c.one, c.two, n, c.warnings, all[0].Warnings, all[0].Faults)
		}
	}
}
