package node

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"strings"

	"softswitch/node/config"
)

// Announce says what switch is about to run, and which of its ports are down; an interface
// that is not there is left to the code that opens the port.
func Announce(w io.Writer, cfg config.Switch) { announce(w, cfg, interfaceFlags) }

// announce says what switch is about to run, and which of its ports are down; flags asks
// for those of an interface, and an error of it is left to the code that opens the port.
func announce(w io.Writer, cfg config.Switch, flags func(iface string) (net.Flags, error)) {
	var ports []string
	for _, p := range cfg.Ports {
		rate := "no rate limit"
		if p.Rate != 0 {
			rate = p.Rate.String()
		}
		ports = append(ports, fmt.Sprintf("%s (%s)", p.Name, rate))
	}
	fmt.Fprintf(w, "%s: detector %s, response %s, lossless priorities %v; ports %s\n",
		cfg.Name, cmp.Or(cfg.Detector, "none"), cmp.Or(cfg.Response, "none"), cfg.Lossless().List(), strings.Join(ports, ", "))
	for _, p := range cfg.Ports {
		f, err := flags(p.Name)
		switch {
		case err != nil || f&net.FlagUp != 0 && f&net.FlagRunning != 0:
		case f&net.FlagUp == 0:
			fmt.Fprintf(w, "warning: port %s is down; set it up: ip link set %[1]s up\n", p.Name)
		default:
			fmt.Fprintf(w, "warning: port %s has no carrier: its far end is down or not there\n", p.Name)
		}
	}
}

func interfaceFlags(iface string) (net.Flags, error) {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return 0, err
	}
	return i.Flags, nil
}
