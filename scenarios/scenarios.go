// Package scenarios holds the scenario files that come with softswitch.
package scenarios

import (
	"embed"
	"slices"
	"strings"
)

// FS has every scenario file, by its name: "fattree-on-loop.yaml".
//
//go:embed *.yaml
var FS embed.FS

// NIC is a lab for programs, in which nothing flows by itself.
//
//go:embed nic/two-switches.yaml
var NIC []byte

// RDMARing is a lab for RDMA programs in guests, which lock it.
//
//go:embed nic/rdma-ring.yaml
var RDMARing []byte

// stage is a fabric for failures by hand, of which nothing is expected by itself.
//
//go:embed stage/stage.yaml
var stage []byte

// stageName is its name.
const stageName = "stage"

// Read is the scenario file of a name, one of Offered.
func Read(name string) ([]byte, error) {
	if name == stageName {
		return stage, nil
	}
	return FS.ReadFile(name + ".yaml")
}

// Offered are the names of all scenarios that are known by name: those of FS, and the stage.
func Offered() []string {
	names := append(Names(), stageName)
	slices.Sort(names)
	return names
}

// RDMA has deadlocks of production networks and of publications, most of them with
// RDMA's transport, by their names: "rdma/sonic-dualtor.yaml". They are not of FS: what
// is said of all scenarios is not said of them.
//
//go:embed rdma/*.yaml
var RDMA embed.FS

// Names are the names of the scenarios of FS: "fattree-on-loop".
func Names() []string {
	files, err := FS.ReadDir(".")
	if err != nil {
		panic(err) // they are part of the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".yaml"))
	}
	return names
}
