// Package wireshark holds the dissector for ITSY and CLCM in Wireshark and tshark: a
// column, a tree, filters (itsy.*, clcm.*) and expert information.
//
//	itsy.lua --go:embed--> Plugin --softswitch decode wireshark--> the user's plugin folder
//
// itsy.lua opens with a page of its own. docs/wireshark.md shows it at work.
//
// The tests compare it with packages itsyhdr and clcm, frame by frame, and with frames
// made by scapy. It analyses single frames; it does not follow labels from switch to
// switch.
package wireshark

import (
	_ "embed"
	"regexp"
)

// PluginName is the file's name in a plugin folder.
const PluginName = "itsy.lua"

// Plugin is the dissector, in Lua.
//
//go:embed itsy.lua
var Plugin []byte

// Filter is a field or an expert item of the dissector, by which frames can be filtered.
type Filter struct{ Name, About string }

var defined = regexp.MustCompile(`Proto(?:Field\.\w+|Expert\.new)\("([^"]+)", "([^"]+)"`)

// Filters returns the filters that Plugin defines, in its order.
func Filters() (all []Filter) {
	for _, m := range defined.FindAllSubmatch(Plugin, -1) {
		all = append(all, Filter{string(m[1]), string(m[2])})
	}
	return all
}
