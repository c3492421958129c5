// HPCC makes a scenario of the files of the simulator of HPCC (Li et al., SIGCOMM
// 2019; github.com/alibaba-edu/High-Precision-Congestion-Control), of ns3-rdma, from which it came
// (github.com/bobzhuyb/ns3-rdma), and of those that came of it: SimAI (github.com/aliyun/SimAI), PowerTCP and
// Reverie (github.com/inet-tub/ns3-datacenter), ConWeave, astra-sim:
//
//	topology.txt, flow.txt, config.txt -->  scenario file
//
// All are words between spaces and line ends. A topology is the number of nodes, of
// switches and of links, the number of each switch, and for each link its two nodes, rate,
// delay and error rate; how many words its first line has tells whose it is. Flows are their number, and for
// each its two hosts, priority group, destination port, size in bytes and start in seconds. A config.txt has a
// key and its values in each line. What stands behind is a comment.
//
// Read in this order: this file (what comes of the files), hpcc_topology.go, hpcc_flows.go, hpcc_config.go (what
// the files say), hpcc_words.go (reading them).
//
// Invariants:
//   - place: a fault names the file and the line;
//   - what a scenario cannot say is a fault, or a comment at its head.
//
// What it does not do: it reads no traces and no TCP flows.

package importer

import (
	"cmp"
	"fmt"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/unit"
)

// MaxHPCCFile limits a file, in bytes.
const MaxHPCCFile = 16 << 20

// HPCCFile is a file with its name, which faults carry.
type HPCCFile struct {
	Name string
	Data []byte
}

// HPCCFiles are the files of an experiment. Flows and Config may be nil.
type HPCCFiles struct {
	Topology      HPCCFile
	Flows, Config *HPCCFile
}

// HPCC is a scenario file called name, of this routing; "" is that of the simulator. The error is the first
// fault.
func HPCC(name string, files HPCCFiles, routing Routing) (Imported, error) {
	t := &tally{ledger: hpccLedger}
	f, err := readTopology(files.Topology, t)
	if err != nil {
		return Imported{}, err
	}
	var c *hpccConfig
	if files.Config != nil {
		if c, err = readConfig(*files.Config, t); err != nil {
			return Imported{}, err
		}
	}
	var p hpccPlan
	if err := p.payload(c, t); err != nil {
		return Imported{}, err
	}
	var flows []flow
	if files.Flows != nil {
		if flows, err = readFlows(*files.Flows, f, p.packet, t); err != nil {
			return Imported{}, err
		}
	}
	if err := p.read(c, f, flows, t); err != nil {
		return Imported{}, err
	}
	if c == nil {
		t.tell("Buffers and congestion control are a scenario's defaults, as there is no config.txt; each port has the headroom that its link needs")
	}
	of := routing.or(RoutingIGP, "that simulator computes them so")
	body := text(name, f, flows, &p, of, t)
	if len(body) > strictyaml.MaxBytes {
		return Imported{}, fmt.Errorf("%s and %s make a scenario of %d bytes, and one has at most %d; a lower number at the head of the flows takes the first of them",
			unit.Count(len(f.links), "link"), unit.Count(len(flows), "flow"), len(body), strictyaml.MaxBytes)
	}
	return t.imported(fmt.Sprintf("Made of files of the simulator of %s: switch N is sN, host N is hN. %s.", f.simulator, of), body), nil
}

// text is the scenario file, without its head.
func text(name string, f *fabric, flows []flow, p *hpccPlan, routing routes, t *tally) []byte {
	var b strings.Builder
	first, end := hpccSpan(f, flows)
	if first > 0 {
		t.tell("Flows begin %s earlier than there", first)
	}
	if p.stop > first {
		end = min(p.stop-first, longestFlows*unit.Second)
		if in := lists.Where(flows, func(x flow) bool { return x.start-first <= end }); len(in) < len(flows) {
			t.tell("%s of %d left out: they begin after SIMULATOR_STOP_TIME", unit.Count(len(flows)-len(in), "flow"), len(flows))
			flows = in
		}
	}
	fmt.Fprintf(&b, "name: %q\n\ntopology:\n", name)
	f.writeNodes(&b)
	routing.write(&b)
	lossy := f.writeLinks(&b, p, t)
	if p.buffer != "" {
		fmt.Fprintf(&b, "\nbuffer: %s\n", p.buffer)
	}
	if priorities := lossless(flows); len(priorities) > 2 {
		fmt.Fprintf(&b, "\npfc: {lossless: %s}\n", strings.ReplaceAll(fmt.Sprint(priorities), " ", ", "))
	}
	if len(p.congestion) > 0 {
		fmt.Fprintf(&b, "\ncongestion: {%s}\n", strings.Join(p.congestion, ", "))
	}
	writeFlows(&b, f, flows, first, end, p.pathMTU)
	if d := p.down; d != nil && (d.at < first || d.at-first >= end) {
		t.tellAt(d.place, "LINK_DOWN is at %s, and the scenario lasts from %s to %s: left out", d.at, first, first+end)
	} else if d != nil {
		fmt.Fprintf(&b, "\nevents:\n  - {at: %s, do: fail, link: %q}\n", d.at-first, f.name(d.a)+"--"+f.name(d.b))
	}
	fmt.Fprintf(&b, "\nduration: %s\n", end)
	if lossy {
		t.tell("Links lose frames, lossless ones too, and the scenario expects that")
		b.WriteString("\nexpect: {lossless_lost: any}\n")
	}
	return []byte(b.String())
}

// writeNodes writes the nodes that have links. A host with several has one address at all of them, and chooses
// a NIC by a hash, as there.
func (f *fabric) writeNodes(b *strings.Builder) {
	for _, kind := range []struct {
		key string
		is  bool
	}{{"switches", true}, {"hosts", false}} {
		fmt.Fprintf(b, "  %s:\n", kind.key)
		for i, is := range f.isSwitch {
			if is == kind.is && len(f.of[i]) > 0 {
				fmt.Fprintf(b, "    - %s\n", f.name(i))
			}
		}
	}
	if several := f.several(); len(several) > 0 {
		list(b, "shared_address", several)
	}
}

// writeLinks writes the links, and reports whether some lose frames.
func (f *fabric) writeLinks(b *strings.Builder, p *hpccPlan, t *tally) (lossy bool) {
	b.WriteString("  links:\n")
	for _, l := range f.links {
		fmt.Fprintf(b, "    - %s--%s\n", f.name(l.a), f.name(l.b))
	}
	if p.mtu > 0 {
		fmt.Fprintf(b, "  mtu: %d\n", p.mtu)
	}
	loss := func(l hpccLink) string {
		if l.loss == 0 {
			l.loss = p.loss
		}
		return losses(l.loss, t)
	}
	usual := f.usual()
	fmt.Fprintf(b, "  rate: %s\n  delay: %s\n", usual.rate, usual.delay)
	if s := loss(usual); s != "" {
		fmt.Fprintf(b, "  loss: %s\n", s)
		lossy = true
	}
	head, nth := "  overrides:\n", map[[2]int]int{}
	for _, l := range f.links {
		pair := [2]int{min(l.a, l.b), max(l.a, l.b)}
		id := f.name(l.a) + "--" + f.name(l.b)
		if nth[pair]++; nth[pair] > 1 {
			id = fmt.Sprintf("%s#%d", id, nth[pair])
		}
		own := []string{fmt.Sprintf("link: %q", id)}
		if l.rate != usual.rate || l.delay != usual.delay {
			own = append(own, fmt.Sprintf("rate: %s, delay: %s", l.rate, l.delay))
		}
		if s := loss(l); s != loss(usual) {
			own = append(own, "loss: "+cmp.Or(s, "0%"))
			lossy = lossy || s != ""
		}
		if len(own) > 1 {
			fmt.Fprintf(b, "%s    - {%s}\n", head, strings.Join(own, ", "))
			head = ""
		}
	}
	return lossy
}
