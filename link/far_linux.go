package link

import (
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Far is the far end of a veth.
type Far struct {
	Name string // in its own network namespace
	MTU  int    // in bytes
}

// FarEnd finds the far end of an interface of the calling thread's network namespace, in
// whatever namespace it is. known is false for an interface that is no veth, whose far end
// no kernel knows, and where the kernel does not tell of another namespace.
func FarEnd(ifname string) (far Far, known bool, err error) {
	l, err := netlink.LinkByName(ifname)
	if err != nil {
		return far, false, fmt.Errorf("link: %q: %w", ifname, err)
	}
	a := l.Attrs()
	if l.Type() != "veth" || a.ParentIndex == 0 {
		return far, false, nil
	}
	end, err := linkIn(a.NetNsID, a.ParentIndex)
	if err != nil {
		return far, false, nil // it may be gone, or not be ours to see
	}
	return Far{end.Attrs().Name, end.Attrs().MTU}, true, nil
}

// linkIn is an interface of the namespace that has this number here; -1 is this one.
func linkIn(namespace, index int) (netlink.Link, error) {
	if namespace < 0 {
		return netlink.LinkByIndex(index)
	}
	req := nl.NewNetlinkRequest(unix.RTM_GETLINK, unix.NLM_F_ACK)
	msg := nl.NewIfInfomsg(unix.AF_UNSPEC)
	msg.Index = int32(index)
	req.AddData(msg)
	req.AddData(nl.NewRtAttr(unix.IFLA_TARGET_NETNSID, nl.Uint32Attr(uint32(namespace))))
	answers, err := req.Execute(unix.NETLINK_ROUTE, 0)
	if err != nil {
		return nil, err
	}
	if len(answers) != 1 {
		return nil, fmt.Errorf("%d answers", len(answers))
	}
	return netlink.LinkDeserialize(nil, answers[0])
}
