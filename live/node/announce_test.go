package node

import (
	"bytes"
	"errors"
	"net"
	"testing"

	"softswitch/node/config"
)

func TestAnnounce(t *testing.T) {
	cfg, _, err := config.Bridge("a", "b", "c", "d")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Detector = "itsy"
	cfg.Ports[1].Rate = 100e6
	flags := map[string]net.Flags{"a": net.FlagUp | net.FlagRunning, "b": net.FlagUp, "c": net.FlagRunning}
	var said bytes.Buffer
	announce(&said, cfg, func(iface string) (net.Flags, error) {
		f, ok := flags[iface]
		if !ok {
			return 0, errors.New("there is none")
		}
		return f, nil
	})
	const want = `switch: detector itsy, response none, lossless priorities [3 4]; ports a (no rate limit), b (100Mbit/s), c (no rate limit), d (no rate limit)
warning: port b has no carrier: its far end is down or not there
warning: port c is down; set it up: ip link set c up
`
	if said.String() != want {
		t.Errorf("it said\n%swant\n%s", &said, want)
	}
}
