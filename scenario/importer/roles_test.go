package importer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/topo"
)

// randomLab is a lab of a few nodes of some kinds, images and groups, and random links.
func randomLab(r *rand.Rand) string {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var nodes, links []string
	n := 2 + r.IntN(9)
	for i := range n {
		nodes = append(nodes, fmt.Sprintf("%s%d %s %s %s", pick("n", "n", "leaf", "server"), i, pick("srl", "srl", "linux", "linux", "bridge"), pick("a", "b", "frr"), pick("-", "-", "-", "leaf", "spine", "host")))
	}
	name := func() string { return strings.Fields(nodes[r.IntN(n)])[0] }
	for range 1 + r.IntN(2*n) {
		links = append(links, name()+"-"+name())
	}
	return clabOf(strings.Join(nodes, ", "), strings.Join(links, " "))
}

// randomRoles is what a user may say of a random lab.
func randomRoles(r *rand.Rand) (roles importer.Roles) {
	if r.IntN(3) == 0 {
		roles.Hosts = []string{[]string{"all", "server*", "*1", "n?"}[r.IntN(4)]}
	}
	if r.IntN(3) == 0 {
		roles.Groups = []string{[]string{"leaf", "spine", "n*"}[r.IntN(3)]}
	}
	return roles
}

// TestRandomRoles: of a random lab comes a scenario that has a host and is good, or the reason why not; a node
// of kind bridge is a host only where it is named.
func TestRandomRoles(t *testing.T) {
	made := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		text, roles := randomLab(r), randomRoles(r)
		out, err := lab(text, roles)
		if err != nil {
			continue
		}
		p, err := load.Plan("x.yaml", out.Text, load.Instead{})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\n%+v\n%s", seed, err, text, roles, out.Text)
		}
		made++
		hosts := 0
		for _, n := range p.Fabric.Nodes {
			if n.Kind != topo.Host {
				continue
			}
			hosts++
			if unnamed := len(roles.Hosts) == 0 || roles.Hosts[0] == "all"; unnamed && strings.Contains(text, n.Name+`: {kind: "bridge"`) {
				t.Fatalf("seed %d: the bridge %s is a host\n%s\n%+v", seed, n.Name, text, roles)
			}
		}
		if hosts == 0 {
			t.Fatalf("seed %d: no host\n%s\n%+v\n%s", seed, text, roles, out.Text)
		}
	}
	if made < 200 {
		t.Errorf("%d of 1000 labs make a scenario: too few to test anything", made)
	}
}
