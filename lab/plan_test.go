package lab

import (
	"testing"

	"softswitch/scenario"
)

// plan compiles a scenario file of two switches and two hosts with these further
// lines.
func plan(t *testing.T, more string) *scenario.Plan {
	t.Helper()
	const topology = `
name: small
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 100Mbit/s
duration: 2s
`
	s, err := scenario.Parse("small.yaml", []byte(topology+more), scenario.Known{Detectors: []string{"itsypaper", "itsy"}, Responses: []string{"drop"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
