// Package wireshark holds the dissector that shows ITSY and CLCM in Wireshark and tshark:
// a column, a tree, filters (itsy.*, clcm.*) and expert information.
//
//	itsy.lua --go:embed--> Plugin --softswitch wireshark install--> the user's plugin folder
//
// itsy.lua opens with a page of its own. docs/wireshark.md shows it at work.
//
// The tests hold it against packages itsyhdr and clcm, frame by frame, and against frames
// that scapy made. It judges frames only; it follows no label from switch to switch.
package wireshark

import _ "embed"

// PluginName is the file's name in a plugin folder.
const PluginName = "itsy.lua"

// Plugin is the dissector, in Lua.
//
//go:embed itsy.lua
var Plugin []byte
