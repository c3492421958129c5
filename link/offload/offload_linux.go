// Package offload switches off the offloads of an interface, or tells whether they are off, so
// that every frame on it is as a wire would carry it: at most an MTU long, with valid checksums.
// A veth offloads by default, and a reader then sees frames of up to 64 KiB.
//
// It uses the kernel's SIOCETHTOOL, which every kernel has, and handles no other
// features. By the same way Statistics reads what a driver counts.
package offload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Off does what `ethtool -K iface gro off gso off tso off tx off` does, in the calling
// thread's network namespace. What the interface cannot change stays as it is. The error
// names the interface.
func Off(iface string) error {
	if err := with(iface, port.off); err != nil {
		return fmt.Errorf("switch off what %s offloads: %w", iface, err)
	}
	return nil
}

// IsOff reports whether an interface of the calling thread's network namespace carries only
// frames that are whole, with checksums of their own, as after Off: what is handed to the kernel
// to be cut is cut before the interface and anyone who looks there. It is false if the kernel
// does not say.
func IsOff(iface string) bool {
	return with(iface, func(p port) error {
		for _, command := range []uint32{unix.ETHTOOL_GTSO, unix.ETHTOOL_GTXCSUM} {
			value := message(8, command) // ethtool_value
			if err := p.ioctl(value); err != nil {
				return err
			}
			if binary.NativeEndian.Uint32(value[4:]) != 0 {
				return errors.New("it offloads")
			}
		}
		return nil
	}) == nil
}

// with does something with an interface.
func with(iface string, do func(port) error) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(s)
	return do(port{s, iface})
}

// isOffload reports whether the kernel's feature of that name belongs to gro, gso, tso
// or tx. Kernels add features to these families, such as tx-tcp-accecn-segmentation, so
// it recognises them by family.
func isOffload(name string) bool {
	return name == "rx-gro" || name == "tx-generic-segmentation" || strings.HasPrefix(name, "tx-checksum-") ||
		strings.HasPrefix(name, "tx-tcp") && strings.HasSuffix(name, "-segmentation")
}

// port is an interface, and a socket in its namespace to ask the kernel by.
type port struct {
	socket int
	iface  string
}

// off switches the offloads off.
func (p port) off() error {
	names, err := p.names(setOfFeatures)
	if err != nil {
		return err
	}
	words := (len(names) + 31) / 32
	set := message(8+8*words, unix.ETHTOOL_SFEATURES) // ethtool_sfeatures: for each word, which bits to set, and to what
	binary.NativeEndian.PutUint32(set[4:], uint32(words))
	for i, name := range names {
		if isOffload(name) {
			valid := set[8+8*(i/32):]
			binary.NativeEndian.PutUint32(valid, binary.NativeEndian.Uint32(valid)|1<<(i%32))
		}
	}
	return p.ioctl(set)
}

// Statistics are what the driver of an interface counts, as `ethtool -S iface` prints it: names, and what
// each has come to. An interface whose driver counts nothing has none.
func Statistics(iface string) (names []string, values []uint64, err error) {
	err = with(iface, func(p port) error {
		if names, err = p.names(setOfStatistics); err != nil || len(names) == 0 {
			return err
		}
		stats := message(8+8*len(names), unix.ETHTOOL_GSTATS) // ethtool_stats
		binary.NativeEndian.PutUint32(stats[4:], uint32(len(names)))
		if err := p.ioctl(stats); err != nil {
			return err
		}
		for i := range names {
			values = append(values, binary.NativeEndian.Uint64(stats[8+8*i:]))
		}
		return nil
	})
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("what %s counts: %w", iface, err)
	}
	return names, values, nil
}

const (
	setOfStatistics = 1  // ETH_SS_STATS
	setOfFeatures   = 4  // ETH_SS_FEATURES
	nameLen         = 32 // of a name, zeros included
)

// names returns the names of a set, in the kernel's order.
func (p port) names(set uint32) ([]string, error) {
	info := message(20, unix.ETHTOOL_GSSET_INFO) // ethtool_sset_info
	binary.NativeEndian.PutUint64(info[8:], 1<<set)
	if err := p.ioctl(info); err != nil {
		return nil, err
	}
	n := int(binary.NativeEndian.Uint32(info[16:]))
	text := message(12+n*nameLen, unix.ETHTOOL_GSTRINGS) // ethtool_gstrings
	binary.NativeEndian.PutUint32(text[4:], set)
	binary.NativeEndian.PutUint32(text[8:], uint32(n))
	if err := p.ioctl(text); err != nil {
		return nil, err
	}
	names := make([]string, n)
	for i := range names {
		names[i] = unix.ByteSliceToString(text[12+i*nameLen:][:nameLen])
	}
	return names, nil
}

// message is a structure of linux/ethtool.h: the command, then zeros.
func message(size int, command uint32) []byte {
	m := make([]byte, size)
	binary.NativeEndian.PutUint32(m, command)
	return m
}

// request is the kernel's struct ifreq with a pointer in its union.
type request struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// ioctl has the kernel read and write the message. Message and request are pinned:
// a pointer that only the kernel follows does not keep memory where it is.
func (p port) ioctl(message []byte) error {
	if p.iface == "" || len(p.iface) >= unix.IFNAMSIZ {
		return unix.ENODEV
	}
	r := &request{data: unsafe.Pointer(&message[0])}
	copy(r.name[:], p.iface)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&message[0])
	pin.Pin(r)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(p.socket), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(r))); errno != 0 {
		return errno
	}
	return nil
}
