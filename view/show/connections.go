package show

import (
	"fmt"
	"strconv"
	"strings"

	"softswitch/host"
	"softswitch/internal/control"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// Connections are the reliable connections that a host sends on.
type Connections struct {
	Host        string       `json:"host"`
	Connections []Connection `json:"connections"`
	// BadPackets are frames to port 4791 that no connection of the host takes.
	BadPackets host.BadPackets `json:"bad_packets"`
	// AccessErrors are packets of connections that come to the host, for memory that they may not write or read.
	AccessErrors uint64 `json:"access_errors"`
}

// Connection is a flow of transport rc. State is "open" while it has messages to send or may
// have, "done" when all are acknowledged, or "gave up".
type Connection struct {
	Flow  string `json:"flow"`
	NIC   string `json:"nic"` // by which it leaves now
	State string `json:"state"`
	*host.Messages
}

// HostConnections shows the connections of hosts.
func HostConnections() View[Connections] {
	return View[Connections]{
		Fetch: func(e control.Endpoint) (Connections, error) {
			h, err := client.Stats[observe.Host](e)
			return connectionsOf(&h), err
		},
		Tables: func(c Connections) []table { return []table{c.table()} },
		Merge:  true, Node: "Host", Empty: "No host has a flow of transport rc.", Note: badPackets,
	}
}

func connectionsOf(h *observe.Host) Connections {
	c := Connections{Host: h.Name, Connections: []Connection{}, BadPackets: h.Counters.RC}
	for _, r := range h.Received {
		if r.Packets != nil {
			c.AccessErrors += r.Packets.AccessErrors
		}
	}
	for _, f := range h.Sent {
		if f.Messages == nil {
			continue
		}
		c.Connections = append(c.Connections, Connection{f.Name, h.NICs[f.NIC].Name, stateOf(f.Messages), f.Messages})
	}
	return c
}

func stateOf(m *host.Messages) string {
	switch {
	case m.Failed:
		return "gave up"
	case m.Completion > 0:
		return "done"
	}
	return "open"
}

func (c *Connections) table() table {
	t := table{header: []string{"Flow", "NIC", "State", "Messages", "Bytes", "Mean MS", "Max MS", "Mbit/s", "Again", "NAKs", "Timeouts", "CNPs"}, left: 3}
	for _, k := range c.Connections {
		mean, longest, rate := "N/A", "N/A", "N/A" // nobody measures those of verbs programs
		if k.Done > 0 && k.TimeSum > 0 {
			mean, longest = microseconds(k.TimeSum/unit.Time(k.Done)), microseconds(k.TimeMax)
		}
		if k.Rate > 0 {
			rate = strconv.FormatFloat(float64(k.Rate)/1e6, 'f', 1, 64)
		}
		t.add(k.Flow, k.NIC, k.State, Thousands(k.Done), Thousands(k.Bytes), mean, longest, rate,
			Thousands(k.Again), Thousands(k.Naks), Thousands(k.Timeouts), Thousands(k.CNPs))
	}
	return t
}

// microseconds formats t in milliseconds, to the microsecond.
func microseconds(t unit.Time) string { return fmt.Sprintf("%.3f", float64(t)/1e6) }

// badPackets is a line for each host to which frames came that no connection takes, and for each that refused some.
func badPackets(all []Connections) string {
	var lines []string
	for _, c := range all {
		if b := c.BadPackets; b != (host.BadPackets{}) {
			lines = append(lines, fmt.Sprintf("No connection of %s takes: %s frames that are malformed, %s with a wrong ICRC, %s of an unknown queue pair.",
				c.Host, Thousands(b.Malformed), Thousands(b.ICRC), Thousands(b.UnknownQP)))
		}
		if c.AccessErrors > 0 {
			lines = append(lines, fmt.Sprintf("Connections that come to %s have %s: a key, an address or a length outside of the memory.", c.Host, unit.Count(c.AccessErrors, "access error")))
		}
	}
	return strings.Join(lines, "\n")
}
