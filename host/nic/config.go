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

// SendQueue is how many bytes the queue of a class holds towards the wire.
const SendQueue = 256 << 10

// rxBufferMin keeps the thresholds of the receive buffer a frame apart.
const rxBufferMin = 8192

// Config is a NIC's configuration.
type Config struct {
	ID   unit.NodeID
	Name string
	// MAC is the source of its pauses; 0: that of the wire's interface.
	MAC      ether.MAC
	Rate     unit.Rate // of the wire; 0: unlimited
	Lossless unit.ClassSet
	Quanta   uint16
	Refresh  unit.Time
	// RxBuffer is the receive buffer of each class in bytes: XOFF at three quarters, XON
	// at a half, as of host.Config.
	RxBuffer int
	// Granularity is how precisely the driver keeps Transmit's times, Batch how many
	// frames it lends at once.
	Granularity unit.Time
	Batch       int
}

// build is the switch that the NIC is.
func (c Config) build() (dataplane.Config, error) {
	if c.RxBuffer < rxBufferMin {
		return dataplane.Config{}, fmt.Errorf("nic %s: receive buffer of %d bytes; valid: %d or more", c.Name, c.RxBuffer, rxBufferMin)
	}
	d := dataplane.Defaults()
	d.ID, d.Name = c.ID, c.Name
	d.Ports = []dataplane.PortConfig{
		{Name: "wire", MAC: c.MAC, Rate: c.Rate},
		{Name: "stack", FacesStack: true},
	}
	d.Plain = true
	d.Quanta, d.Refresh, d.Granularity, d.Batch = c.Quanta, c.Refresh, c.Granularity, c.Batch
	headroom, pause := c.RxBuffer/4, c.RxBuffer/4*3
	d.Buffer.Lossless = c.Lossless
	d.Buffer.LossyQueue = SendQueue
	d.Buffer.Profile = buffer.Profile{StaticTh: pause, XOFF: headroom}
	d.Buffer.Thresholds = []buffer.Threshold{
		Wire: {StaticTh: pause, XONOffset: c.RxBuffer / 4},
		// Nobody is told when a send queue passes its threshold: all of it is queue.
		Stack: {StaticTh: max(1, SendQueue-headroom)},
	}
	d.Buffer.Shared = c.Lossless.Len() * (pause + SendQueue) // no class takes from another
	for class := range d.Weights {
		d.Weights[class] = 1 // a slow stack takes from all classes in turn
	}
	return d, nil
}
