package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"softswitch/internal/ether"
	"softswitch/link"
)

// sender sends the load as fast as it can from one thread on one processor.
//
// sendmmsg, the fastest way to send frames one by one, manages 0.75 million per second
// here, less than some devices forward. So the sender hands the kernel one big UDP
// datagram to be cut into frames (UDP segmentation offload); the veth has that offload
// off, so the kernel cuts it itself and passes on ordinary frames. That is twice as
// fast.
type sender struct {
	stopping atomic.Bool
	ended    chan error
}

// startSender sends frame over src until stop.
func startSender(source room, cpu int, frame []byte) *sender {
	s := &sender{ended: make(chan error, 1)}
	go func() {
		s.ended <- within(source.ns, cpu, func() error { return s.send("src", frame) })
	}()
	return s
}

// stop ends the sender and returns its error.
func (s *sender) stop() error {
	s.stopping.Store(true)
	return <-s.ended
}

func (s *sender) send(name string, frame []byte) error {
	err := s.sendBursts(name, frame)
	if errors.Is(err, unix.EINVAL) { // a kernel before 6.2
		err = s.sendFrames(name, frame)
	}
	if err != nil {
		return fmt.Errorf("sender: %w", err)
	}
	return nil
}

// Limits of a burst: the kernel's UDP_MAX_SEGMENTS (64 before 6.9), and what an
// IPv4 datagram may hold.
const (
	burstFrames = 64
	burstBytes  = 65000
)

// sendBursts sends datagrams that the kernel cuts into frames.
func (s *sender) sendBursts(name string, frame []byte) error {
	ifi, err := net.InterfaceByName(name)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("packet socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1); err != nil {
		return fmt.Errorf("setsockopt PACKET_VNET_HDR: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: ifi.Index}); err != nil {
		return fmt.Errorf("bind to %s: %w", name, err)
	}
	b := burst(frame)
	for !s.stopping.Load() {
		if _, err := unix.Write(fd, b); err != nil && err != unix.ENOBUFS && err != unix.EINTR {
			return fmt.Errorf("send a burst: %w", err)
		}
	}
	return nil
}

// vnetHeader is the length of struct virtio_net_hdr, which says how to cut.
const vnetHeader = 10

// burst returns a datagram that the kernel cuts into copies of frame, with its struct virtio_net_hdr
// in front.
func burst(frame []byte) []byte {
	payload := frame[offPayload:]
	n := min(burstFrames, burstBytes/len(payload))
	total := offPayload + n*len(payload)
	b := make([]byte, vnetHeader, vnetHeader+total)
	const (
		needsChecksum = 1 // VIRTIO_NET_HDR_F_NEEDS_CSUM
		gsoUDP        = 5 // VIRTIO_NET_HDR_GSO_UDP_L4
	)
	b[0], b[1] = needsChecksum, gsoUDP
	binary.NativeEndian.PutUint16(b[2:], offPayload)           // hdr_len
	binary.NativeEndian.PutUint16(b[4:], uint16(len(payload))) // gso_size
	binary.NativeEndian.PutUint16(b[6:], offUDP)               // csum_start
	binary.NativeEndian.PutUint16(b[8:], offUDPSum-offUDP)     // csum_offset
	b = append(append(b, frame[:offPayload]...), bytes.Repeat(payload, n)...)
	f := b[vnetHeader:]
	putHeaders(f, total)
	// The kernel completes the sum of the pseudo header, not inverted.
	binary.BigEndian.PutUint16(f[offUDPSum:], ^ether.Checksum(pseudoHeader(f)))
	return b
}

// sendFrames sends frame by frame.
func (s *sender) sendFrames(name string, frame []byte) error {
	l, err := link.Open(name, link.Options{RingBytes: 1 << 16})
	if err != nil {
		return err
	}
	defer l.Close()
	batch := slices.Repeat([][]byte{frame}, burstFrames)
	for !s.stopping.Load() {
		if _, err := l.Write(batch); err != nil && !errors.Is(err, link.ErrBusy) {
			return err
		}
	}
	return nil
}
