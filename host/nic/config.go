package nic

import (
	"fmt"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/host"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// The ports.
const (
	Wire  unit.Port = 0
	Stack unit.Port = 1
)

// SendQueue is the capacity in bytes of each priority's queue towards the wire.
const SendQueue = 256 << 10

// RxBufferMin is the smallest receive buffer in bytes for frames of up to maxFrame: its
// thresholds are at least a frame and a tag apart.
func RxBufferMin(maxFrame int) int { return max(8192, 4*(maxFrame+ether.VLANLen)) }

// RxBufferMax is the largest receive buffer in bytes for so many lossless priorities: each has its pause
// threshold and a send queue to itself in the gigabyte that a buffer may have ([buffer.Config.Check]).
func RxBufferMax(lossless int) int { return ((1<<30)/max(1, lossless) - SendQueue) / 3 * 4 }

// Config is a NIC's configuration: as much of a host's as is neither of its flows, its acts and its
// connections nor of slots. A MAC of 0 means that of the wire's interface.
type Config = host.Config

// build returns the configuration of the switch that acts as the NIC.
func build(c *Config) (dataplane.Config, error) {
	if least := RxBufferMin(c.MaxFrame); c.RxBuffer < least {
		return dataplane.Config{}, fmt.Errorf("nic %s: receive buffer of %d bytes; valid: %d or more for frames of %d", c.Name, c.RxBuffer, least, c.MaxFrame)
	}
	d := dataplane.Defaults()
	d.ID, d.Name = c.ID, c.Name
	d.Ports = []dataplane.PortConfig{
		{Name: c.NIC.Name, MAC: c.MAC, Rate: c.Rate, HeedPause: c.HeedPause, PFCTxOff: c.PFCTxOff, PFCRxOff: c.PFCRxOff, PFCRxAll: c.PFCRxAll},
		{Name: "stack", FacesStack: true},
	}
	d.Plain = true
	if c.LLDP > 0 {
		d.LLDP = dataplane.LLDP{Interval: c.LLDP, Station: true}
	}
	d.MaxFrame, d.SlotBytes = c.MaxFrame, buffer.SlotBytes(c.MaxFrame+ether.VLANLen)
	d.Quanta, d.Refresh, d.Granularity, d.Batch = c.Quanta, c.Refresh, c.Granularity, c.Batch
	headroom, pause := c.RxBuffer/4, c.RxBuffer/4*3
	d.Buffer.Lossless = c.Lossless
	d.Buffer.LossyQueue = SendQueue
	d.Buffer.Profile = buffer.Profile{StaticTh: pause, XOFF: headroom, Slack: c.RxSlack}
	d.Buffer.Thresholds = []buffer.Threshold{
		Wire: {StaticTh: pause, XONOffset: c.RxBuffer / 4},
		// The stack cannot be paused, so the whole send queue is below XOFF.
		Stack: {StaticTh: max(1, SendQueue-headroom)},
	}
	d.Buffer.Shared = c.Lossless.Len() * (pause + SendQueue) // no priority takes space from another
	return d, nil
}
