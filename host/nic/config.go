package nic

import (
	"fmt"

	"softswitch/buffer"
	"softswitch/dataplane"
	"softswitch/internal/ether"
	"softswitch/unit"
)

// The ports.
const (
	Wire  unit.Port = 0
	Stack unit.Port = 1
)

// SendQueue is the capacity in bytes of each class's queue towards the wire.
const SendQueue = 256 << 10

// RxBufferMin is the smallest receive buffer in bytes for frames of up to maxFrame: its
// thresholds are at least a frame and a tag apart.
func RxBufferMin(maxFrame int) int { return max(8192, 4*(maxFrame+ether.VLANLen)) }

// Config is a NIC's configuration.
type Config struct {
	ID   unit.NodeID
	Name string
	// MAC is the source of its pauses; 0 means that of the wire's interface.
	MAC      unit.MAC
	Rate     unit.Rate // of the wire; 0: unlimited
	Lossless unit.ClassSet
	Quanta   uint16
	Refresh  unit.Time
	// HeedPause: see host.Config.
	HeedPause bool
	// RxBuffer is the receive buffer of each class in bytes. XOFF is at three quarters,
	// XON at half of it, as in host.Config.
	RxBuffer int
	// RxSlack is what it holds in addition, for what arrives while a driver is late.
	RxSlack int
	// MaxFrame is the longest frame that passes, without FCS and 802.1Q tag.
	MaxFrame int
	// Granularity is how precisely the driver keeps Transmit's times, Batch the most
	// frames that it handles at once.
	Granularity unit.Time
	Batch       int
}

// build returns the configuration of the switch that acts as the NIC.
func (c Config) build() (dataplane.Config, error) {
	if least := RxBufferMin(c.MaxFrame); c.RxBuffer < least {
		return dataplane.Config{}, fmt.Errorf("nic %s: receive buffer of %d bytes; valid: %d or more for frames of %d", c.Name, c.RxBuffer, least, c.MaxFrame)
	}
	d := dataplane.Defaults()
	d.ID, d.Name = c.ID, c.Name
	d.Ports = []dataplane.PortConfig{
		{Name: "wire", MAC: c.MAC, Rate: c.Rate, HeedPause: c.HeedPause},
		{Name: "stack", FacesStack: true},
	}
	d.Plain = true
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
	d.Buffer.Shared = c.Lossless.Len() * (pause + SendQueue) // no class takes space from another
	for class := range d.Weights {
		d.Weights[class] = 1 // a slow stack takes from all classes in turn
	}
	return d, nil
}
