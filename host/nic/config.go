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

// rxBufferMin keeps the thresholds of the receive buffer at least a frame apart.
const rxBufferMin = 8192

// Config is a NIC's configuration.
type Config struct {
	ID   unit.NodeID
	Name string
	// MAC is the source of its pauses; 0 means that of the wire's interface.
	MAC      ether.MAC
	Rate     unit.Rate // of the wire; 0: unlimited
	Lossless unit.ClassSet
	Quanta   uint16
	Refresh  unit.Time
	// RxBuffer is the receive buffer of each class in bytes. XOFF is at three quarters,
	// XON at half of it, as in host.Config.
	RxBuffer int
	// Granularity is how precisely the driver keeps Transmit's times, Batch the most
	// frames that it handles at once.
	Granularity unit.Time
	Batch       int
}

// build returns the configuration of the switch that acts as the NIC.
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
		// The stack cannot be paused, so the whole send queue is below XOFF.
		Stack: {StaticTh: max(1, SendQueue-headroom)},
	}
	d.Buffer.Shared = c.Lossless.Len() * (pause + SendQueue) // no class takes space from another
	for class := range d.Weights {
		d.Weights[class] = 1 // a slow stack takes from all classes in turn
	}
	return d, nil
}
