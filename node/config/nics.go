package config

import (
	"cmp"
	"fmt"
	"slices"

	"softswitch/host"
	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/link/auth"
	"softswitch/topo"
	"softswitch/unit"
)

// NIC is one of several of a host.
type NIC struct {
	Port `yaml:",inline"`
	// Address of the NIC with its prefix length. All NICs may have one address: then each flow
	// leaves by one whose link is up.
	Address    unit.Interface `yaml:"address" schema:"address,required"`
	Gateway    unit.Addr      `yaml:"gateway" schema:"ip,required"`
	GatewayMAC unit.MAC       `yaml:"gateway_mac" schema:"mac,required"`
}

// All is the NICs of a host: those of the key nics, or the one of the key port.
func (h *Host) All() []NIC {
	if len(h.NICs) > 0 {
		return h.NICs
	}
	return []NIC{{Port: h.Port, Address: h.Address, Gateway: h.Gateway, GatewayMAC: h.GatewayMAC}}
}

// Ports are those of its NICs.
func (h *Host) Ports() []Port { return lists.Map(h.All(), func(n NIC) Port { return n.Port }) }

// Addresses are those of its NICs, for people: each once.
func (h *Host) Addresses() string {
	all := h.All()
	text := all[0].Address.String()
	if h.oneAddress() {
		return text
	}
	for _, n := range all[1:] {
		text += " " + n.Address.String()
	}
	return text
}

// Of returns the address of the NIC with this number, nil for the host's choice.
func (h *Host) Of(nic *int) unit.Addr {
	all := h.All()
	if nic == nil || *nic >= len(all) {
		return all[0].Address.IP
	}
	return all[*nic].Address.IP
}

// owns reports whether an address is that of a NIC.
func (h *Host) owns(a unit.Addr) bool {
	return slices.ContainsFunc(h.All(), func(n NIC) bool { return n.Address.IP == a })
}

func (h *Host) oneAddress() bool {
	all := h.All()
	for _, n := range all {
		if n.Address != all[0].Address {
			return false
		}
	}
	return true
}

// nicOf is the number of a NIC for the host.
func (h *Host) nicOf(nic *int) unit.Port {
	switch {
	case nic != nil:
		return unit.Port(*nic)
	case len(h.NICs) > 1 && h.oneAddress():
		return unit.NoPort
	}
	return 0
}

// buildNIC turns one of h's NICs into the machine's.
func (h Host) buildNIC(n NIC) host.NIC {
	return host.NIC{
		Name: n.Name, MAC: n.MAC, GatewayMAC: n.GatewayMAC, Address: n.Address.IP.Netip(), Rate: n.Rate, Lossless: prioritySet(h.PFC.LosslessAt(n.Port)),
		PFCTxOff: n.PFC == PFCRx, PFCRxOff: n.PFC == PFCTx, PFCRxAll: n.PFC == PFCAsymmetric, HeedPause: h.PFC.heeds(n.Port),
	}
}

// losslessAt are the lossless priorities of the NIC with this number, or, without one, those that are
// lossless at some NIC.
func (h *Host) losslessAt(nic *int) (all []int) {
	for i, n := range h.All() {
		if nic == nil || *nic == i {
			all = append(all, h.PFC.LosslessAt(n.Port)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pauses reports whether the NIC with this number, or, without one, some NIC pauses a priority.
func (h *Host) pauses(nic *int, priority int) bool {
	for i, n := range h.All() {
		if (nic == nil || *nic == i) && n.PFC != PFCRx && slices.Contains(h.PFC.LosslessAt(n.Port), priority) {
			return true
		}
	}
	return false
}

// checkNICs adds the faults of the NICs of h.
func checkNICs(d *strictyaml.Doc, h *Host) {
	if len(h.NICs) == 0 {
		checkNIC(d, "", h.All()[0], h.Stack == "")
		return
	}
	for _, key := range []string{"port", "address", "gateway", "gateway_mac"} {
		if d.Has(key) {
			d.Faultf(key, "there is nics too, which has it for each NIC: write one of the two")
		}
	}
	if n := len(h.NICs); n > topo.MaxNICs {
		d.Faultf("nics", "%d NICs: a host has at most %d", n, topo.MaxNICs)
	}
	if h.Stack != "" {
		d.Faultf("nics", "a host with a stack has one NIC: write port, address, gateway and gateway_mac")
	}
	seen := map[string]bool{}
	for i, n := range h.NICs {
		path := fmt.Sprintf("nics[%d].", i)
		checkNIC(d, path, n, true)
		if seen[n.Name] {
			d.Faultf(path+"name", "%q is another NIC's already", n.Name)
		}
		seen[n.Name] = true
	}
	named := func(path string, nic *int) {
		if nic != nil {
			d.Within(path, *nic, 0, len(h.NICs)-1)
		}
	}
	for i, f := range h.Flows {
		named(fmt.Sprintf("flows[%d].nic", i), f.NIC)
	}
	for i, p := range h.Peers {
		named(fmt.Sprintf("peers[%d].nic", i), p.NIC)
	}
}

// checkNIC adds the faults of a NIC whose keys begin with path, "" for those of the host itself.
func checkNIC(d *strictyaml.Doc, path string, n NIC, gateway bool) {
	port := cmp.Or(path, "port.")
	port = port[:len(port)-1]
	checkPort(d, port, n.Port)
	if n.Auth != auth.Off || n.Link != "" {
		d.Faultf(port, "auth and link are of a switch's port to another switch")
	}
	if n.Lossless != nil {
		checkPriorities(d, port+".lossless", *n.Lossless)
	}
	if n.Trust != "" || len(n.DSCPMap) > 0 {
		d.Faultf(port, "trust and dscp_map are of a switch's port; a host's priorities are DSCP / 8")
	}
	if n.StaticTh != nil || n.XONOffset != nil || n.XOFF != nil {
		d.Faultf(port, "static_th, xon_offset and xoff are of a switch's port; a host has rx_buffer")
	}
	none := n.Address.IP == 0
	switch {
	case none && !gateway && n.Gateway != 0:
		d.Faultf(path+"gateway", "a host whose stack is an interface that exists has none here, and no address: what is behind the interface has its own")
	case none && !gateway: // that interface
	case needed(d, path+"address", n.Address.IP) && n.Gateway != 0 && (!n.Address.Has(n.Gateway) || n.Gateway == n.Address.IP):
		d.Faultf(path+"gateway", "%s is not another address of the subnet of %s", n.Gateway, n.Address)
	}
	if gateway {
		needed(d, path+"gateway", n.Gateway)
		needed(d, path+"gateway_mac", n.GatewayMAC)
	}
}
