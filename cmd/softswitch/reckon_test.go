package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"softswitch/dataplane"
	"softswitch/internal/control"
	"softswitch/link"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
	"softswitch/topo"
)

// account is what all counters of a lab say at one time: those of the nodes, and those of the
// kernel, of each end of each link.
type account struct {
	switches map[string]observe.Switch
	hosts    map[string]observe.Host
	kernel   map[netnslab.End]netlink.LinkStatistics
}

// reckon reads all counters.
func (s *soak) reckon() account {
	s.Helper()
	a := account{map[string]observe.Switch{}, map[string]observe.Host{}, map[netnslab.End]netlink.LinkStatistics{}}
	for _, n := range s.st.Nodes {
		if n.Kind == "switch" {
			var w observe.Switch
			s.noError(control.Call(s.path(n.Name), "stats", nil, &w))
			a.switches[n.Name] = w
		} else {
			var h observe.Host
			s.noError(control.Call(s.path(n.Name), "stats", nil, &h))
			a.hosts[n.Name] = h
		}
		s.noError(a.readKernel(n))
	}
	return a
}

// readKernel reads the kernel's counters of a node's interfaces.
func (a *account) readKernel(n netnslab.NodeState) error {
	ns, err := netns.GetFromName(n.Namespace)
	if err != nil {
		return err
	}
	defer ns.Close()
	nl, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer nl.Close()
	links, err := nl.LinkList()
	for _, l := range links {
		a.kernel[netnslab.End{Node: n.Name, Iface: l.Attrs().Name}] = *l.Attrs().Statistics
	}
	return err
}

// ends is the two ends of a link as the keys of account.kernel.
func ends(l netnslab.LinkState) [2]netnslab.End {
	return [2]netnslab.End{{Node: l.A.Node, Iface: l.A.Iface}, {Node: l.B.Node, Iface: l.B.Iface}}
}

// waits says what still waits in the lab, "" if nothing does.
func (a *account) waits() string {
	for _, name := range slices.Sorted(maps.Keys(a.switches)) {
		for _, p := range a.switches[name].Ports {
			for c := range p.Queue {
				if p.Queue[c].Bytes > 0 || p.XOFF[c] || p.Paused[c] || p.Group[c].Bytes > 0 || p.Group[c].Headroom > 0 {
					return fmt.Sprintf("%s %s priority %d: %d bytes in the queue, %d in the priority group, XOFF %v, paused %v", name, p.Name, c, p.Queue[c].Bytes, p.Group[c].Bytes, p.XOFF[c], p.Paused[c])
				}
			}
		}
	}
	return ""
}

// port is the counters of a switch's port.
func (a *account) port(e netnslab.End) (observe.Port, bool) {
	for _, p := range a.switches[e.Node].Ports {
		if p.Name == e.Iface {
			return p, true
		}
	}
	return observe.Port{}, false
}

// link is what an end's own node says of the link.
func (a *account) link(e netnslab.End) link.Stats {
	if p, ok := a.port(e); ok {
		return p.Link
	}
	return a.hosts[e.Node].Link
}

// balance holds what came to pass between two accounts, between which all was calm, against itself.
func (s *soak) balance(before, after account) {
	for i, l := range s.st.Links {
		for _, e := range [][2]netnslab.End{{ends(l)[0], ends(l)[1]}, {ends(l)[1], ends(l)[0]}} {
			s.balanceKernel(i, &before, &after, e[0], e[1])
			s.balanceLink(i, &before, &after, e[0], e[1])
		}
	}
	for _, w := range s.plan.Switches {
		if !s.anew[w.Name] {
			s.balanceSwitch(w.Name, &before, &after)
		}
	}
	s.balanceFlows(&before, &after)
}

// balanceKernel: what the kernel sent at one end it received at the other, and a node has sent and
// read as much as the kernel.
func (s *soak) balanceKernel(i int, before, after *account, from, to netnslab.End) {
	tx := after.kernel[from].TxPackets - before.kernel[from].TxPackets
	rx := after.kernel[to].RxPackets - before.kernel[to].RxPackets
	if tx != rx {
		s.wrong("kernel: %v sent %d frames, %v received %d", from, tx, to, rx)
	}
	if read := after.link(to).Received + after.link(to).Drops - before.link(to).Received - before.link(to).Drops; !s.anew[to.Node] && (read > rx || read < rx && !s.changed[i]) {
		s.wrong("%v: the kernel received %d frames, the node read or missed %d", to, rx, read)
	}
	if sent := after.link(from).Sent - before.link(from).Sent; !s.anew[from.Node] && (sent < tx || sent > tx && !s.changed[i]) {
		s.wrong("%v: the node sent %d frames, the kernel %d", from, sent, tx)
	}
}

// balanceLink: of each priority, what a switch sent the next one received.
func (s *soak) balanceLink(i int, before, after *account, from, to netnslab.End) {
	a0, isSwitch := before.port(from)
	b0, too := before.port(to)
	if s.changed[i] || s.anew[from.Node] || s.anew[to.Node] || !isSwitch || !too {
		return
	}
	a1, _ := after.port(from)
	b1, _ := after.port(to)
	missing, ring := uint64(0), b1.Link.Drops-b0.Link.Drops
	for c := range a1.TxFrames {
		tx := a1.TxFrames[c] - a0.TxFrames[c]
		rx := b1.RxFrames[c] - b0.RxFrames[c] + b1.RxDropped[c] - b0.RxDropped[c]
		if tx < rx {
			s.wrong("%v sent %d frames of priority %d, %v received %d", from, tx, c, to, rx)
		}
		missing += tx - rx
	}
	policed := b1.Drops[dataplane.DropPoliced.String()] - b0.Drops[dataplane.DropPoliced.String()]
	if missing < policed || missing > policed+ring {
		s.wrong("%v sent %d frames more than %v received, which has policed %d, and missed %d in its ring", from, missing, to, policed, ring)
	}
}

// balanceSwitch: what a switch received it sent, or counted as dropped, or heeded as a control
// frame. Its queues were empty before and after.
func (s *soak) balanceSwitch(name string, before, after *account) {
	var in, out, dropped, control uint64
	was := before.switches[name].Ports
	for i, p := range after.switches[name].Ports {
		q := was[i]
		in += p.Link.Received - q.Link.Received
		control += p.Messages[0] - q.Messages[0]
		for c := range p.TxFrames {
			out += p.TxFrames[c] - q.TxFrames[c]
			control += p.RxPause[c] - q.RxPause[c] + p.RxResume[c] - q.RxResume[c]
		}
		for reason, n := range p.Drops {
			dropped += n - q.Drops[reason]
		}
	}
	if in != out+dropped+control {
		s.wrong("%s received %d frames: %d were sent, %d dropped, %d were pauses and messages", name, in, out, dropped, control)
	}
}

// balanceFlows: flows that lost frames lost them where something is counted, and hosts are alive.
func (s *soak) balanceFlows(before, after *account) {
	sent, received, delivered := uint64(0), uint64(0), uint64(0)
	for name, h := range after.hosts {
		if s.anew[name] {
			return
		}
		was := before.hosts[name]
		for i, f := range h.Sent {
			if f.Messages == nil {
				sent += f.Frames - at(was.Sent, i).Frames
			}
			s.frames += f.Frames - at(was.Sent, i).Frames
		}
		for i, f := range h.Received {
			if s.plan.Scenario.Flows[f.Number].RC == nil {
				received += f.Frames - at(was.Received, i).Frames
			}
			delivered += f.Frames - at(was.Received, i).Frames
		}
	}
	if delivered == 0 {
		s.wrong("no frame arrived at any host")
	}
	clean := len(s.changed)+len(s.anew) == 0
	if clean {
		s.whole++
	}
	if counted := after.lost() - before.lost(); clean && (received > sent || sent-received > counted) {
		s.wrong("hosts sent %d frames and received %d, and %d are counted as lost", sent, received, counted)
	}
}

// at is an element of a list that may have been shorter.
func at[T any](list []T, i int) (zero T) {
	if i < len(list) {
		return list[i]
	}
	return zero
}

// lost is how many frames are counted as lost anywhere.
func (a *account) lost() (n uint64) {
	for _, w := range a.switches {
		for _, p := range w.Ports {
			n += p.Link.Lost + p.Link.Drops
			for _, k := range p.Drops {
				n += k
			}
		}
	}
	for _, h := range a.hosts {
		n += h.Link.Lost + h.Link.Drops + h.Counters.Overflow
	}
	return n
}

// wear is what a process uses.
type wear struct {
	rss        int // kB
	files      int // open descriptors
	goroutines int // 0 if it is not told
	heap       int // kB, 0 if it is not told
	pid        int
}

// lookAtProcesses notes what the processes use that live as long as the soak.
func (s *soak) lookAtProcesses() {
	s.Helper()
	now := map[string]wear{}
	for _, n := range s.st.Nodes {
		of := topo.Node{Name: n.Name}
		if mortal(of) {
			continue
		}
		var live observe.Live
		s.noError(control.Call(s.path(n.Name), "stats", nil, &live))
		w := s.processWear(n.PID)
		w.goroutines, w.heap = live.Goroutines, int(live.HeapBytes/1024)
		now[n.Name] = w
	}
	for name, p := range s.long {
		now[name] = s.processWear(p.cmd.Process.Pid)
	}
	s.wear = append(s.wear, now)
}

func (s *soak) processWear(pid int) wear {
	s.Helper()
	w := wear{pid: pid}
	files, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	s.noError(err)
	w.files = len(files)
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	s.noError(err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			fmt.Sscan(rest, &w.rss)
		}
	}
	return w
}

// wantFlat: what the processes use at the end is what they used when they had warmed up: no more
// goroutines and descriptors, and of memory a tenth and two megabytes at most, by medians of a
// fifth of the rounds each. Of the heap it is the least of each fifth: a process tells what was in
// use at its last collection, and during a capture that is 8 MB more.
func (s *soak) wantFlat() {
	fifth := len(s.wear) / 5
	if fifth < 2 {
		s.Logf("%d rounds: too few to tell whether what the processes use stays the same", len(s.wear))
		return
	}
	early, late := s.wear[fifth:2*fifth], s.wear[len(s.wear)-fifth:]
	median := func(sorted []int) int { return sorted[len(sorted)/2] }
	least := func(sorted []int) int { return sorted[0] }
	for _, name := range slices.Sorted(maps.Keys(s.wear[0])) {
		for _, m := range []struct {
			what   string
			of     func(wear) int
			stands func(sorted []int) int
			spare  func(was int) int
		}{
			{"kB of memory", func(w wear) int { return w.rss }, median, func(was int) int { return was/10 + 2048 }},
			{"kB of heap", func(w wear) int { return w.heap }, least, func(was int) int { return was/10 + 1024 }},
			{"open files", func(w wear) int { return w.files }, median, func(int) int { return 2 }},
			{"goroutines", func(w wear) int { return w.goroutines }, median, func(int) int { return 2 }},
		} {
			over := func(rounds []map[string]wear) int {
				var all []int
				for _, w := range rounds {
					if n := m.of(w[name]); n != 0 { // it is told
						all = append(all, n)
					}
				}
				if all == nil {
					return 0
				}
				slices.Sort(all)
				return m.stands(all)
			}
			was, is := over(early), over(late)
			if was == 0 {
				continue // of a process that did not tell it, or had collected nothing yet
			}
			s.Logf("%-10s %d %s, after warming up %d", name, is, m.what, was)
			if is > was+m.spare(was) {
				s.wrong("%s uses %d %s, after warming up %d", name, is, m.what, was)
			}
		}
	}
}
