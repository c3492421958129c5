package play

import (
	"errors"

	"softswitch/buffer"
	"softswitch/event"
	"softswitch/host/roce"
	"softswitch/internal/ether"
	"softswitch/link/pcapng"
	"softswitch/sim"
	"softswitch/unit"
)

// captureTo makes a simulation with opt write every frame to the file as it begins to leave a
// port, at virtual time as if the scenario began in 1970, unless path is empty. What a
// simulation does not keep of a frame is zeros, and RoCEv2 gets the ICRC of that. end closes
// the file and returns the first error in writing it.
func captureTo(path string, opt *sim.Options) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	out, closeOut, err := create("pcap", path)
	if err != nil {
		return nil, err
	}
	w, err := pcapng.NewWriter(out, "softswitch", "")
	ports := map[string]int{}
	var frame []byte
	opt.Sent = func(now unit.Time, n event.Node, p unit.Port, b *buffer.Frame) {
		if err != nil {
			return
		}
		name := n.Name + ":" + n.Ports[p]
		id, ok := ports[name]
		if !ok {
			id, err = w.AddInterface(pcapng.Interface{Name: name})
			ports[name] = id
		}
		if err == nil {
			frame = whole(frame[:0], b)
			err = w.WritePacket(pcapng.Packet{Interface: id, Time: int64(now), Direction: pcapng.Outbound, Data: frame})
		}
	}
	return func() error { return closeOut(errors.Join(err, w.Flush())) }, nil
}

// whole appends the frame to dst, with zeros for what is not kept of it.
func whole(dst []byte, f *buffer.Frame) []byte {
	dst = append(dst, f.Data...)
	dst = append(dst, make([]byte, f.Len-len(dst))...)
	etherType, off, _, _, ok := ether.Layer(dst)
	if !ok || etherType != ether.TypeIPv4 || len(f.Data) == f.Len {
		return dst
	}
	ip := ether.IPv4(dst[off:])
	if !ip.Valid(len(ip)) || ip.HeaderLen() != ether.IPv4Len || ip.Proto() != ether.ProtoUDP {
		return dst
	}
	const head = ether.IPv4Len + ether.UDPLen
	if _, port := ip.Ports(); port != roce.Port || ip.TotalLen() < head+roce.BTHLen+roce.ICRCLen {
		return dst
	}
	if _, _, err := roce.Parse(ip[head:ip.TotalLen()], ip.TotalLen()-head); err == nil {
		roce.Seal(ip[:ip.TotalLen()])
	}
	return dst
}
