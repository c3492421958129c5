// Package scenarios holds the scenario files that come with softswitch.
package scenarios

import "embed"

// FS has every scenario file, by its name: "fattree-on-loop.yaml".
//
//go:embed *.yaml
var FS embed.FS

// NIC is a lab for programs, in which nothing flows by itself.
//
//go:embed nic/two-switches.yaml
var NIC []byte
