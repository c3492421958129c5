package config

import (
	"encoding/json"
	"strings"
	"testing"
)

// marshalled is a configuration that was read, as it is written again, or what is wrong in it.
func marshalled(text string) string {
	if strings.HasPrefix(text, "name: h") {
		h, err := LoadHost("c.yaml", []byte(text))
		if err != nil {
			return err.Error()
		}
		return string(h.Marshal())
	}
	s, _, err := LoadSwitch("c.yaml", []byte(text))
	if err != nil {
		return err.Error()
	}
	return string(s.Marshal())
}

// TestOlderNames: configurations and requests that call priorities classes are as those that call them
// what they are.
func TestOlderNames(t *testing.T) {
	older := strings.NewReplacer("priority", "class", "priorities", "classes")
	for _, text := range []string{`name: s
id: 1
ports: [{name: a, mac: 02:00:00:00:00:09}, {name: b, mac: 02:00:00:00:00:0a}]
pfc: {lossless: [3, 4]}
rewrite: [{priority: 3, in: [0], out: [1], to: 4}]
limits: [{port: 0, priority: 3, rate: 1Gbit/s}]
ecn: {priorities: [3], red: {kmax: 30000}}
`, `name: h1
id: 9
port: {name: eth1, mac: 02:00:00:00:00:09, rate: 100Mbit/s}
address: 10.0.1.2/24
gateway: 10.0.1.1
gateway_mac: 02:00:00:00:00:01
pfc: {lossless: [4]}
congestion: {control: dcqcn, cnp_priority: 5}
flows: [{number: 0, name: A, to: 10.0.2.2, src_port: 50000, transport: rc, priority: 4}]
peers: [{number: 1, from: 10.0.2.2, src_port: 50000, priority: 4}]
acts: [{at: 1ms, do: storm, priority: 4}]
`} {
		old := older.Replace(text)
		if strings.Contains(old, "priorit") {
			t.Fatal(old)
		}
		got, want := marshalled(old), marshalled(text)
		if got != want || !strings.Contains(want, "priority: ") || strings.Contains(want, "class") {
			t.Errorf("%s\nis\n%s\nwant\n%s", old, got, want)
		}
	}
	for text, want := range map[string]string{
		`{"Do":"storm","Class":4}`:              `{"At":0,"Do":"storm","Rate":0,"Priority":4}`,
		`{"do":"storm","class":4}`:              `{"At":0,"Do":"storm","Rate":0,"Priority":4}`,
		`{"do":"storm","priority":4}`:           `{"At":0,"Do":"storm","Rate":0,"Priority":4}`,
		`{"do":"storm","class":0}`:              `{"At":0,"Do":"storm","Rate":0,"Priority":0}`,
		`{"do":"storm","priority":4,"class":3}`: "",
		`{"do":3}`:                              "",
	} {
		var a Act
		err := json.Unmarshal([]byte(text), &a)
		got, _ := json.Marshal(a)
		if (err == nil) != (want != "") || err == nil && string(got) != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
}
