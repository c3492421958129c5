package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/dataplane"
	"softswitch/event"
	"softswitch/event/follow"
	"softswitch/internal/control"
	"softswitch/internal/testkit"
	"softswitch/lab"
	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/node/observe"
	"softswitch/unit"
)

var restarts = flag.Int("restarts", 6, "how many nodes TestRestartsUnderLoad restarts")

// restartsFile is three switches in a row and five hosts with connections across them. Two meet at h3, which takes
// a fifth of its link's rate, so that pauses go upstream from there nearly all the time. The slack lets a node be
// late without a loss.
const restartsFile = `name: restarts
description: Connections across three switches.
topology:
  switches: [s1, s2, s3]
  hosts: [h1, h2, h3, h4, h5]
  links: [h1--s1, h2--s1, s1--s2, h5--s2, s2--s3, h3--s3, h4--s3]
  rate: 100Mbit/s
buffer: {slack: 500000}
flows:
  - {name: A, from: h1, to: h3, transport: rc, rc: {message: 60000, window: 2, timeout: 500ms}}
  - {name: B, from: h2, to: h4, transport: rc, rc: {message: 60000, window: 2, timeout: 500ms}}
  - {name: C, from: h5, to: h3, transport: rc, rc: {message: 60000, window: 2, timeout: 500ms}}
  - {name: D, from: h4, to: h1, transport: rc, rc: {message: 60000, window: 2, timeout: 500ms}}
events:
  - {at: 0s, do: slow, host: h3, rate: 20Mbit/s}
duration: 10s
`

const (
	// slackLasts is how long the slack of a link lasts.
	slackLasts = 500_000 * 8 * unit.Second / 100_000_000
	// oneRefresh is after how long a lab's switch repeats a pause.
	oneRefresh = 10 * unit.Millisecond
)

// restarted is a lab whose nodes are restarted.
type restarted struct {
	*bed
	rng   *rand.Rand
	file  string
	up    bool
	nodes []netnslab.NodeState
	links []netnslab.LinkState
	logs  map[string]*pauseLog

	inForce int       // pauses of nodes that were dead when they began anew
	longest unit.Time // of those, from then on
}

// TestRestartsUnderLoad restarts nodes of a lab under lossless load, one after the other, each at a random
// moment by SIGTERM or SIGKILL. After each all connections go on, what the dead node had paused is let go
// when it begins anew, and no other node has lost a lossless frame.
func TestRestartsUnderLoad(t *testing.T) {
	r := &restarted{bed: newLoneBed(t), rng: rand.New(rand.NewPCG(testkit.Seed(t), 0)), file: filepath.Join(t.TempDir(), "restarts.yaml")}
	r.noError(os.WriteFile(r.file, []byte(restartsFile), 0o644))
	for range *restarts {
		r.untilValid(r.round)
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d restarts: %d pauses of before were in force when their node began anew, for %v at most", *restarts, r.inForce, time.Duration(r.longest))
}

// deploy makes the lab.
func (r *restarted) deploy() {
	r.Helper()
	r.must("deploy", "-t", r.file, "--nodes-per-process", "1")
	r.must("start")
	st := r.state()
	r.up, r.nodes, r.links, r.logs = true, st.Nodes, st.Links, map[string]*pauseLog{}
	for _, n := range r.nodes {
		r.openLog(n.Name)
	}
	r.goOn("")
}

// openLog begins to read the log of a node that has begun.
func (r *restarted) openLog(name string) {
	log := follow.Open(filepath.Join(r.dir(), name, lab.EventsName))
	r.Cleanup(log.Close)
	r.logs[name] = &pauseLog{log: log, begun: map[unit.Port]unit.Time{}}
}

// round restarts a node, and judges what comes of it.
func (r *restarted) round() (invalid string) {
	r.Helper()
	defer func() {
		if invalid != "" {
			r.must("destroy")
			r.up = false
		}
	}()
	if !r.up {
		r.deploy()
	}
	before := map[string]looked{}
	for _, n := range r.nodes {
		before[n.Name] = r.look(n)
	}
	victim := r.nodes[r.rng.IntN(len(r.nodes))]
	signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[r.rng.IntN(2)]
	r.end(victim.Name, signal, time.Duration(r.rng.IntN(300))*time.Millisecond)
	r.must("restart", victim.Name)
	r.openLog(victim.Name)
	if victim.Kind == "host" {
		r.must("start", victim.Name)
	}
	r.goOn(victim.Name)

	after := map[string]looked{}
	for _, n := range r.nodes {
		after[n.Name] = r.look(n)
		r.noError(r.logs[n.Name].read())
		if lost, problems := after[n.Name].EventsLost, after[n.Name].Problems; lost > 0 || len(problems) > 0 {
			return fmt.Sprintf("%s: %d events lost, %v", n.Name, lost, problems)
		}
	}
	if invalid = r.judgeLoss(victim.Name, before, after); invalid == "" {
		invalid = r.judgePauses(victim.Name, after)
	}
	return invalid
}

// end ends a node's process after a while, in which none may end of itself.
func (r *restarted) end(name string, signal syscall.Signal, after time.Duration) {
	r.Helper()
	var all []unix.PollFd
	var victim int
	for i, n := range r.state().Nodes {
		fd, err := unix.PidfdOpen(n.PID, 0)
		r.noError(err)
		defer unix.Close(fd)
		all = append(all, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		if n.Name == name {
			victim = i
		}
	}
	if n := r.poll(all, after); n != 0 {
		r.Fatalf("%d nodes have ended of themselves", n)
	}
	r.Logf("%v to %s", signal, name)
	r.noError(unix.PidfdSendSignal(int(all[victim].Fd), signal, nil, 0))
	if r.poll(all[victim:victim+1], limit) != 1 {
		r.Fatalf("%s goes on after %v", name, signal)
	}
}

// poll waits until one of the processes ends, or until it has taken so long.
func (r *restarted) poll(processes []unix.PollFd, most time.Duration) (ended int) {
	r.Helper()
	for late := time.Now().Add(most); ; {
		n, err := unix.Poll(processes, int(max(0, time.Until(late)).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			r.noError(err)
			return n
		}
	}
}

// goOn waits until each connection has completed two messages more; those of a sender that began anew count
// from 0.
func (r *restarted) goOn(anew string) {
	r.Helper()
	for _, n := range r.nodes {
		if n.Kind != "host" {
			continue
		}
		for i, s := range r.host(n.Name).Sent {
			want := uint64(2)
			if n.Name != anew {
				want += s.Messages.Done
			}
			r.await(fmt.Sprintf("connection %s goes on after a restart of %q", s.Name, anew), func() bool {
				m := r.host(n.Name).Sent[i].Messages
				if m.Failed {
					r.Fatalf("connection %s was given up after a restart of %q: %+v", s.Name, anew, m)
				}
				return m.Done >= want
			})
		}
	}
}

// looked is what a node says of itself.
type looked struct {
	observe.Live
	ports        []string // by number
	lost, noRoom uint64   // lossless frames; those for which there was no room, which a late node may lack
}

func (r *restarted) look(n netnslab.NodeState) (l looked) {
	r.Helper()
	count := func(of *observe.Loss) {
		l.noRoom += of.LostBy[dataplane.DropHeadroom.String()] + of.LostBy[dataplane.DropNoSlot.String()]
	}
	if n.Kind == "host" {
		h := r.host(n.Name)
		l.Live, l.lost, l.ports = h.Live, h.LosslessLost, []string{"eth0"}
		count(&h.Loss)
		return l
	}
	var s observe.Switch
	r.noError(control.Call(r.socket(n.Name), "stats", nil, &s))
	l.Live, l.lost = s.Live, s.LosslessLost
	for i := range s.Ports {
		l.ports = append(l.ports, s.Ports[i].Name)
		count(&s.Ports[i].Loss)
	}
	return l
}

// judgeLoss: no node has lost a lossless frame, the one that began anew included. A node that was late for longer
// than the slack lasts had no processor.
func (r *restarted) judgeLoss(anew string, before, after map[string]looked) (invalid string) {
	r.Helper()
	var late []unit.Time
	for _, l := range after {
		late = append(late, l.Lateness)
	}
	slices.Sort(late)
	starved := late[len(late)-1]+late[len(late)-2]+live.Granularity > slackLasts
	for _, n := range r.nodes {
		lost, noRoom := after[n.Name].lost, after[n.Name].noRoom
		if n.Name != anew {
			lost, noRoom = lost-before[n.Name].lost, noRoom-before[n.Name].noRoom
		}
		switch {
		case lost == 0:
		case lost == noRoom && starved:
			invalid = fmt.Sprintf("%s had no room for %d frames, and nodes were %v late", n.Name, lost, time.Duration(late[len(late)-1]))
		default:
			r.Errorf("%s has lost %d lossless frames in a restart of %s, %d for want of room", n.Name, lost, anew, noRoom)
		}
	}
	return invalid
}

// judgePauses: what the node had paused before it died is let go within a refresh after it began anew.
func (r *restarted) judgePauses(anew string, after map[string]looked) (invalid string) {
	r.Helper()
	for _, l := range r.links {
		near, far := l.A, l.B
		switch anew {
		case l.B.Node:
			near, far = l.B, l.A
		case l.A.Node:
		default:
			continue
		}
		begun, ok := r.logs[anew].begun[unit.Port(slices.Index(after[anew].ports, near.Iface))]
		if !ok {
			r.Fatalf("%s has not logged that %s came up", anew, near.Iface)
		}
		for priority, lasted := range r.logs[far.Node].from(begun, unit.Port(slices.Index(after[far.Node].ports, far.Iface)), after[far.Node].At) {
			r.inForce++
			late := max(after[anew].Lateness, after[far.Node].Lateness)
			switch {
			case lasted <= oneRefresh:
				r.longest = max(r.longest, lasted)
			case lasted-oneRefresh <= late:
				invalid = fmt.Sprintf("%s was paused for %v by what %s had said before, and one was %v late", far, time.Duration(lasted), anew, time.Duration(late))
			default:
				r.Errorf("%s, priority %d, was paused for %v more by what %s had said before it began anew", far, priority, time.Duration(lasted), anew)
			}
		}
	}
	return invalid
}

// pauseLog is the pauses of a node's queues, by its event log.
type pauseLog struct {
	log   *follow.Log
	begun map[unit.Port]unit.Time // when the links came up first
	spans []pauseSpan             // the one that is in force ends Never
}

type pauseSpan struct {
	out        unit.Port
	priority   unit.Priority
	since, end unit.Time
}

// read reads on.
func (p *pauseLog) read() error {
	for {
		events, more, err := p.log.Read()
		if err != nil {
			return err
		}
		for _, e := range events {
			p.take(e)
		}
		if !more {
			return nil
		}
	}
}

func (p *pauseLog) take(e event.Event) {
	switch e.Type {
	case event.LinkUp:
		if _, ok := p.begun[e.Port]; !ok {
			p.begun[e.Port] = e.At
		}
	case event.Paused:
		p.spans = append(p.spans, pauseSpan{e.Out, e.OutPriority, e.At, unit.Never})
	case event.Resumed, event.Expired:
		for i := len(p.spans) - 1; i >= 0; i-- {
			if s := &p.spans[i]; s.out == e.Out && s.priority == e.OutPriority && s.end == unit.Never {
				s.end = e.At
				return
			}
		}
	}
}

// from is how long the pauses of a port's queues that were in force at a time lasted from then on, by priority;
// now is the latest that is known.
func (p *pauseLog) from(at unit.Time, out unit.Port, now unit.Time) map[unit.Priority]unit.Time {
	lasted := map[unit.Priority]unit.Time{}
	for _, s := range p.spans {
		if s.out == out && s.since < at && at < s.end {
			lasted[s.priority] = min(s.end, now) - at
		}
	}
	p.spans = slices.DeleteFunc(p.spans, func(s pauseSpan) bool { return s.end < at })
	return lasted
}
