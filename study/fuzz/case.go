package fuzz

import (
	"fmt"
	"strings"

	"softswitch/host"
	"softswitch/node/config"
	"softswitch/unit"
)

// Mode is what the cases of a run are, and what is asked of them. modes.go has what plays them.
type Mode string

// Modes in which a detector is judged by the oracle. They differ in what may go wrong with
// control frames, and in the traffic.
const (
	Usual  Mode = "usual"  // nothing goes wrong
	Loss   Mode = "loss"   // some are lost, but refreshes are frequent enough that no pause expires
	Expiry Mode = "expiry" // switches stop for long enough that pauses expire
	Jumbo  Mode = "jumbo"  // as Usual, with an MTU of 9216 and frames that long
	RDMA   Mode = "rdma"   // as Usual, most flows reliable connections
	Long   Mode = "long"   // as Usual, with loops of up to 40 links with long delays
)

// Other modes.
const (
	Cause       Mode = "cause"        // cases with a planted cause (Planted): what is named as the cause
	RandomCause Mode = "random-cause" // the same of the deadlocks of Usual
	Response    Mode = "response"     // what responses do about the deadlocks of Usual
	Clocks      Mode = "clocks"       // what the oracle says of logs by several clocks
	Lossless    Mode = "lossless"     // files without a warning lose no lossless frame (lossless.go)
	Attack      Mode = "attack"       // strangers on links, and hosts, put control frames on wires (attack.go)
)

// jumboMTU is the MTU of jumbo cases.
const jumboMTU = 9216

// Modes are those of New whose cases share a stream of random numbers. The other modes have
// streams of their own, so these cases are as ever.
var Modes = []Mode{Usual, Loss, Expiry}

// Case is a generated scenario. It shares no memory with other cases: Shrink changes
// copies.
type Case struct {
	Seed  uint64
	Index int
	Mode  Mode
	Shape string // the kind of fabric
	Wires uint64 // seed of the simulation

	Switches, Hosts []string
	Shared          []string // hosts with one address at all of their links
	Links           []Link
	Ports           []Port // of modes built, truth-built
	LAGs            []LAG  // of modes built and truth-built
	ControlLoss     int    // per mille
	MTU             int    // bytes; 0 is the usual one

	Threshold int // XOFF, in bytes
	XONOffset int
	Headroom  int // in bytes, 0 for the default
	Lossless  []int
	Poor      bool     // switches have no pool to lend from: all that a priority group may hold is reserved for it
	Dynamic   *Dynamic // of modes truth-*: instead of Threshold and XONOffset; nobody changes it
	Cell      int      // in bytes, 0 for none
	// HeadroomPool is a further key of the buffer, "" for none.
	HeadroomPool string
	RxBuffer     int // of hosts in bytes, 0 for the default
	Quanta       int
	Refresh      unit.Time

	Sched string // the scenario's key scheduler, "" for none

	Congestion Congestion // of mode RDMA
	LLDP       unit.Time  // interval of frames of LLDP, 0 for none
	Auth       string     // how links are authenticated, as the scenario's key has it; "" is off

	Routes   []Route
	Dead     []string
	FloodAll bool
	Flows    []Flow
	// Workloads are of mode RDMA; each becomes flows when the file is read.
	Workloads []Workload
	Events    []Event
	Duration  unit.Time

	// Plants are what was added to a fabric that does not deadlock; see Planted. Routes,
	// flows and events that belong to one have its number, from 1.
	Plants []Plant
}

// Link joins A and B.
type Link struct {
	A, B          string
	Rate          unit.Rate
	Delay, Jitter unit.Time
	Sched         string // the key scheduler of its override, "" for none
}

// name is the link's in a scenario file.
func (l Link) name() string { return l.A + "--" + l.B }

// far is the other end than one.
func (l Link) far(end string) string {
	if end == l.A {
		return l.B
	}
	return l.A
}

// Route is a route override: At sends frames for the hosts of To via Next, always, or
// with Backup only while its computed route is down.
type Route struct {
	At, To, Next string
	Backup       bool
	Plant        int
}

// Flow is a stream of frames. RC, which nobody changes, makes it a reliable connection; Frame does
// not count then.
type Flow struct {
	From, To string
	Priority int
	Plant    int
	// NIC and ToNIC, unless nil, are those of From and To by which it goes; nobody changes them.
	NIC, ToNIC *int
	host.Stream
}

// Event is a scheduled event; Do says which fields it uses.
type Event struct {
	At       unit.Time
	Do       string
	Link     string
	Node     string // the host or switch; for lose, the sender
	Priority int
	Rate     unit.Rate
	For      unit.Time
	Nth      int
	Plant    int
	NIC      *int // of a host, nil for all of its NICs; nobody changes it

	Frame []byte // of forge
	Back  bool   // of replay
	Flip  int    // of replay
}

// full is the largest frame in bytes.
func (c *Case) full() int {
	if c.MTU > 0 {
		return config.MaxFrame(c.MTU)
	}
	return full
}

// reserved is the reserved part of every priority group: one large frame.
func (c *Case) reserved() int { return c.full() + 86 }

// Text is the case as a scenario file for detector. comment, which may have several
// lines, goes at its head.
func (c *Case) Text(detector, comment string) []byte {
	var b strings.Builder
	for line := range strings.Lines(comment) {
		b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
	}
	for i := range c.Plants {
		fmt.Fprintf(&b, "# planted: %s\n", c.plantText(i+1))
	}
	fmt.Fprintf(&b, "name: %s\ndetector: %s\n", c.Name(), detector)
	if c.Auth != "" {
		fmt.Fprintf(&b, "auth: %s\n", c.Auth)
	}
	if c.LLDP > 0 {
		fmt.Fprintf(&b, "lldp: {interval: %s}\n", span(c.LLDP))
	}
	b.WriteString("\n")
	c.writeTopology(&b)
	pool, size := 1<<30, c.reserved()
	if c.Poor {
		pool, size = 1, c.Threshold
	}
	more := c.HeadroomPool + number("cell", c.Cell) + number("xoff", c.Headroom)
	profile := fmt.Sprintf("{pool: %d, size: %d, static_th: %d, xon_offset: %d%s}", pool, size, c.Threshold-size, c.XONOffset, more)
	if c.Dynamic != nil {
		profile = c.Dynamic.text(more)
	}
	fmt.Fprintf(&b, "\nbuffer: %s\n", profile)
	if c.RxBuffer > 0 {
		fmt.Fprintf(&b, "host: {rx_buffer: %d}\n", c.RxBuffer)
	}
	fmt.Fprintf(&b, "pfc: {lossless: %s, quanta: %d, refresh: %s}\n", list(c.Lossless), c.Quanta, span(c.Refresh))
	if c.Sched != "" {
		fmt.Fprintf(&b, "scheduler: %s\n", c.Sched)
	}
	b.WriteString(c.Congestion.text())
	c.writeRoutes(&b)
	c.writeTraffic(&b)
	fmt.Fprintf(&b, "\nduration: %s\n", span(c.Duration))
	return []byte(b.String())
}

// Name is the name of the case: its seed, index and mode.
func (c *Case) Name() string { return fmt.Sprintf("seed%d-case%d-%s", c.Seed, c.Index, c.Mode) }

func (c *Case) writeTopology(b *strings.Builder) {
	fmt.Fprintf(b, "topology:\n  switches: %s\n  hosts: %s\n  links:\n", list(c.Switches), list(c.Hosts))
	for _, l := range c.Links {
		fmt.Fprintf(b, "    - %s--%s\n", l.A, l.B)
	}
	c.writeLAGs(b)
	if len(c.Shared) > 0 {
		fmt.Fprintf(b, "  shared_address: %s\n", list(c.Shared))
	}
	var def Link // a case without links is no valid scenario: Parse says so
	if len(c.Links) > 0 {
		def = c.Links[0]
	}
	fmt.Fprintf(b, "  rate: %s\n  delay: %s\n  jitter: %s\n", def.Rate, span(def.Delay), span(def.Jitter))
	if c.MTU > 0 {
		fmt.Fprintf(b, "  mtu: %d\n", c.MTU)
	}
	if c.ControlLoss > 0 {
		fmt.Fprintf(b, "  control_loss_per_mille: %d\n", c.ControlLoss)
	}
	head := "  overrides:\n"
	for _, l := range c.Links {
		if l.Rate != def.Rate || l.Delay != def.Delay || l.Jitter != def.Jitter || l.Sched != "" {
			more := ""
			if l.Sched != "" {
				more = ", scheduler: " + l.Sched
			}
			for _, name := range c.namesOf(l) {
				fmt.Fprintf(b, "%s    - {link: %s, rate: %s, delay: %s, jitter: %s%s}\n", head, name, l.Rate, span(l.Delay), span(l.Jitter), more)
				head = ""
			}
		}
	}
	c.writePorts(b)
}

func (c *Case) writeRoutes(b *strings.Builder) {
	head := "\nroutes:\n"
	for _, r := range c.Routes {
		key := "ports"
		if r.Backup {
			key = "backup"
		}
		fmt.Fprintf(b, "%s  - {at: %s, to: %s, %s: [%s]}\n", head, r.At, r.To, key, r.Next)
		head = ""
	}
	if len(c.Dead) > 0 {
		fmt.Fprintf(b, "\ndead: %s\n", list(c.Dead))
		if c.FloodAll {
			fmt.Fprintf(b, "flood: all\n")
		}
	}
}

func (c *Case) writeTraffic(b *strings.Builder) {
	head := "\nflows:\n"
	for i, f := range c.Flows {
		frames := fmt.Sprintf("frame: %d", f.Frame)
		if f.RC != nil {
			frames = connectionKeys(f.RC)
		}
		fmt.Fprintf(b, "%s  - {name: F%d, from: %s, to: %s, priority: %d, rate: %s, %s, ttl: %d, start: %s%s}\n",
			head, i, f.From, f.To, f.Priority, f.Rate, frames, f.TTL, span(f.Start), lasting("stop", f.Stop)+number("size", f.Size)+f.nicKeys())
		head = ""
	}
	head = "\nworkload:\n"
	for i, w := range c.Workloads {
		b.WriteString(head + w.text(fmt.Sprintf("W%d", i)))
		head = ""
	}
	head = "\nevents:\n"
	for _, e := range c.Events {
		fmt.Fprintf(b, "%s  - {at: %s, do: %s%s}\n", head, span(e.At), e.Do, e.keys())
		head = ""
	}
}

// keys formats the keys of an event other than at and do.
func (e Event) keys() string {
	switch e.Do {
	case "fail", "heal":
		return ", link: " + e.Link
	case "kill", "stop", "continue":
		return ", switch: " + e.Node
	case "normal":
		return ", host: " + e.Node + nicKey("nic", e.NIC)
	case "forge":
		return fmt.Sprintf(", link: %s, from: %s, frame: \"%x\"", e.Link, e.Node, e.Frame)
	case "lose", "replay":
		s := fmt.Sprintf(", link: %s, from: %s, nth: %d", e.Link, e.Node, e.Nth)
		if e.Back {
			s += ", back: true"
		}
		return s + number("flip", e.Flip)
	}
	s := ", host: " + e.Node + nicKey("nic", e.NIC)
	if e.Do == "storm" {
		s += fmt.Sprintf(", priority: %d", e.Priority)
	} else {
		s += ", rate: " + e.Rate.String()
	}
	return s + lasting("for", e.For)
}

// number is a further key with a number, "" unless that is above 0.
func number(key string, n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s: %d", key, n)
}

// lasting is a further key with a time, "" unless that is above 0.
func lasting(key string, t unit.Time) string {
	if t <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s: %s", key, span(t))
}

func list[T any](all []T) string {
	return strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(all), "[ ", "["), " ", ", ")
}

func span(t unit.Time) string { return strings.ReplaceAll(t.String(), "µ", "u") }
