package scenario

import (
	"reflect"
	"strings"
	"testing"
)

// TestOlderScenario: a file that calls priorities classes is as one that calls them what they are.
func TestOlderScenario(t *testing.T) {
	const present = `name: older
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 1Gbit/s
duration: 1s
pfc: {lossless: [3, 4]}
congestion: {control: dcqcn, cnp_priority: 5}
prevention:
  limits:
    - {at: s1, port: h1, priority: 4, rate: 1Gbit/s}
flows:
  - {name: A, from: h1, to: h2, priority: 4, transport: rc}
workload:
  - {name: w, pattern: ring-allreduce, hosts: [h1, h2], size: 1000, priority: 4}
events:
  - {at: 1ms, do: storm, host: h2, priority: 4}
`
	older := strings.ReplaceAll(present, "priority:", "class:")
	got, err := Parse("f", []byte(older), known)
	want, wantErr := Parse("f", []byte(present), known)
	if wantErr != nil {
		t.Fatal(wantErr)
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := Compile(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Compile(want)
	if err != nil {
		t.Fatal(err)
	}
	a.Scenario, b.Scenario = nil, nil
	if !reflect.DeepEqual(a, b) {
		t.Errorf("the older file is\n%+v\nwant\n%+v", a, b)
	}
	if strings.Contains(older, "priority") || got.Flows[0].Priority != 4 || got.Events[0].Priority != 4 {
		t.Errorf("%s\nis %+v", older, got)
	}
}
