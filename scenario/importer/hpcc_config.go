package importer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"softswitch/host"
	"softswitch/internal/ether"
	"softswitch/node/config"
	"softswitch/unit"
)

// hpccLedger is what becomes of the words of a topology, of a flow, and of the keys of a config.txt.
var hpccLedger = ledger{
	"topology": {
		used: "nodes switches nvswitches links",
		idle: reasons{
			{"tors", "which switches are ToRs is seen from their links"},
			{"leaf_server_capacity spine_leaf_capacity", "each link has its own rate"},
			{"gpus_per_server gpu_type", "they tell of what the GPUs do among themselves"},
		},
	},
	"flow": {
		used: "src dst priority_group size packets start stop",
		idle: reasons{{"dst_port", "a flow has ports of its own, by which its path is chosen"}},
	},
	"config": {
		used: "ENABLE_QCN USE_DYNAMIC_PFC_THRESHOLD PACKET_PAYLOAD_SIZE SIMULATOR_STOP_TIME CC_MODE ERROR_RATE_PER_LINK " +
			"LINK_DOWN KMAX_MAP KMIN_MAP PMAX_MAP KMAX KMIN PMAX BUFFER_SIZE",
		told: reasons{
			{"ALPHA_RESUME_INTERVAL RATE_DECREASE_INTERVAL CLAMP_TARGET_RATE CLAMP_TARGET_RATE_AFTER_TIMER RP_TIMER " +
				"EWMA_GAIN DCTCP_GAIN FAST_RECOVERY_TIMES RATE_AI RATE_HAI MIN_RATE CNP_INTERVAL NP_SAMPLING_INTERVAL " +
				"BYTE_COUNTER", "senders with DCQCN have the parameters of the profile hpcc-sender"},
			{"DCTCP_RATE_AI HAS_WIN GLOBAL_T VAR_WIN FAST_REACT U_TARGET MI_THRESH INT_MULTI MULTI_RATE SAMPLE_FEEDBACK " +
				"PINT_LOG_BASE PINT_PROB RATE_BOUND NIC_TOTAL_PAUSE_TIME", "senders have DCQCN, TIMELY or no congestion control, and no window of bytes"},
			{"L2_CHUNK_SIZE L2_ACK_INTERVAL L2_WAIT_FOR_ACK L2_BACK_TO_ZERO SEND_IN_CHUNKS", "connections acknowledge and repeat as RoCEv2 has it"},
			{"ACK_HIGH_PRIO", "an acknowledgement has the priority of its flow"},
			{"PAUSE_TIME", "a pause lasts pfc.quanta and is refreshed before they end"},
			{"PACKET_LEVEL_ECMP FLOW_LEVEL_ECMP", "a flow takes one of the shortest paths, by its hash"},
			{"TCP_FLOW_FILE", "flows are RDMA connections"},
			{"APP_START_TIME APP_STOP_TIME", "each flow has its own start"},
			{"DATA_RATE LINK_DELAY", "links have those of the topology"},
		},
		idle: reasons{
			{"TOPOLOGY_FILE FLOW_FILE", "the files that are given count"},
			{"TRACE_FILE TRACE_OUTPUT_FILE FCT_OUTPUT_FILE PFC_OUTPUT_FILE ENABLE_TRACE QLEN_MON_FILE QLEN_MON_START " +
				"QLEN_MON_END BW_MON_FILE RATE_MON_FILE CNP_MON_FILE MON_START MON_END QP_MON_INTERVAL QLEN_MON_INTERVAL " +
				"BW_MON_INTERVAL", "it is what that simulator writes"},
		},
	},
}

// setting is a line of a config.txt.
type setting struct {
	words []string
	place string
}

// hpccConfig is a config.txt, nil if there is none.
type hpccConfig struct {
	file     string
	settings map[string]setting // by key; the last one counts
}

// capitals are the keys of a config.txt.
var capitals = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// readConfig reads a config.txt. What follows "#" or "{" in a line is a comment.
func readConfig(file HPCCFile, t *tally) (*hpccConfig, error) {
	c := &hpccConfig{file: file.Name, settings: map[string]setting{}}
	w := newWords(file)
	for w.lines() {
		if end := slices.IndexFunc(w.rest, func(word string) bool { return strings.HasPrefix(word, "{") || strings.HasPrefix(word, "#") }); end >= 0 {
			w.rest = w.rest[:end]
		}
		if len(w.rest) == 0 {
			continue
		}
		key := w.rest[0]
		if !capitals.MatchString(key) || len(w.rest) == 1 {
			w.faultf("%q is not a setting: write a key in capitals and its value, such as \"BUFFER_SIZE 32\"", clip(strings.Join(w.rest, " ")))
			return nil, w.err
		}
		t.see("config", key, w.at())
		c.settings[key] = setting{w.rest[1:], w.place()}
		w.rest = nil
	}
	if len(c.settings) == 0 {
		return nil, fmt.Errorf("%s: no settings: want lines such as \"BUFFER_SIZE 32\"", file.Name)
	}
	return c, nil
}

// of is the words of a setting; ok is false if there is none.
func (c *hpccConfig) of(key string) (w *words, ok bool) {
	if c == nil {
		return &words{}, false
	}
	s, ok := c.settings[key]
	w = &words{file: c.file, rest: s.words}
	if _, line, cut := strings.Cut(s.place, c.file+":"); cut {
		fmt.Sscan(line, &w.line)
	}
	return w, ok
}

// number is a setting that is a number up to most, or usual if there is none.
func (c *hpccConfig) number(key string, most, usual float64) (float64, error) {
	w, ok := c.of(key)
	if !ok {
		return usual, nil
	}
	x := w.real("a value of "+key, most)
	return x, w.err
}

// byRate is the value of a map of values by rate, such as KMIN_MAP, for one rate; NaN if it has none. The
// number of its pairs may stand before them; what is behind these is left out, as in that simulator.
func (c *hpccConfig) byRate(key string, rate unit.Rate, t *tally) (value float64, err error) {
	w, ok := c.of(key)
	value = math.NaN()
	if !ok {
		return value, nil
	}
	pairs := len(w.rest) / 2
	if len(w.rest)%2 == 1 {
		n := w.number("the number of pairs of "+key, 0, 1<<20)
		if w.err == nil && n > pairs {
			w.faultf("%s: %s, and %d are announced", key, unit.Count(pairs, "pair"), n)
		}
		if n < pairs {
			t.tellAt(w.at(), "%s has more pairs than the %d that it announces: the rest is left out, as in that simulator", key, n)
		}
		pairs = min(pairs, n)
	}
	for range pairs {
		of, x := w.real("a rate of "+key, 1e15), w.real("a value of "+key, 1<<20)
		if w.err == nil && unit.Rate(of) == rate {
			value = x
		}
	}
	return value, w.err
}

// Defaults of that simulator, and of a scenario.
const (
	hpccBuffer     = 16   // MiB of a switch
	hpccReserve    = 4096 // bytes of a priority group
	hpccXONOffset  = 3072 // bytes
	hpccPacket     = 1000 // bytes of payload
	defaultPathMTU = 1024
)

// hpccPlan is what a config.txt says of a scenario.
type hpccPlan struct {
	packet, pathMTU int
	mtu             int // 0 is the default
	loss            float64
	buffer          string
	congestion      []string // keys of it
	stop            unit.Time
	down            *downLink
}

// downLink is a link that fails.
type downLink struct {
	at    unit.Time
	a, b  int
	place string
}

// payload reads how long packets are, which flows need.
func (p *hpccPlan) payload(c *hpccConfig, t *tally) error {
	x, err := c.number("PACKET_PAYLOAD_SIZE", 1<<16, hpccPacket)
	p.packet = max(1, int(x))
	for _, mtu := range []int{256, 512, 1024, 2048, 4096} {
		if p.pathMTU = mtu; mtu >= p.packet {
			break
		}
	}
	if c != nil && p.packet != p.pathMTU {
		t.tell("Packets carry %d bytes there, and %d here: RDMA has path MTUs of 256, 512, 1024, 2048 and 4096", p.packet, p.pathMTU)
	}
	if n := host.FrameOf(p.pathMTU) - ether.HeaderLen; n > config.DefaultMTU {
		p.mtu = n
	}
	return err
}

// read reads the rest, for this topology and these flows.
func (p *hpccPlan) read(c *hpccConfig, f *fabric, flows []flow, t *tally) (err error) {
	if p.loss, err = c.number("ERROR_RATE_PER_LINK", 1, 0); err != nil {
		return err
	}
	stop, err := c.number("SIMULATOR_STOP_TIME", math.MaxFloat64, 0)
	if err != nil {
		return err
	}
	if p.stop = seconds(min(stop, 2*longestFlows)); stop > 2*longestFlows {
		t.tell("SIMULATOR_STOP_TIME is %g s: the scenario ends when its flows can have ended twice", stop)
	}
	if c == nil {
		return nil
	}
	if err := p.readBuffer(c, f, t); err != nil {
		return err
	}
	if err := p.readCongestion(c, f, flows, t); err != nil {
		return err
	}
	return p.readDown(c, f)
}

// readBuffer reads the shared pool, of a switch all of whose other memory is headroom and reserved: 3 x rate x
// delay of each port and 4 KiB. Each priority group gets an eighth of what is free in it.
func (p *hpccPlan) readBuffer(c *hpccConfig, f *fabric, t *tally) error {
	mib, err := c.number("BUFFER_SIZE", 1<<30, hpccBuffer)
	if err != nil {
		return err
	}
	dynamic, err := c.number("USE_DYNAMIC_PFC_THRESHOLD", 1, 1)
	if err != nil {
		return err
	}
	pool, fewest := mib*(1<<20), 0
	for i, of := range f.of {
		if !f.isSwitch[i] {
			continue
		}
		left := mib * (1 << 20)
		for _, k := range of {
			left -= 3*float64(f.links[k].rate)*float64(f.links[k].delay)/8e9 + hpccReserve
		}
		if left < pool {
			pool, fewest = left, i
		}
	}
	keys := []string{fmt.Sprintf("size: %d", hpccReserve), fmt.Sprintf("xon_offset: %d", hpccXONOffset)}
	if pool < 1<<16 {
		t.tell("BUFFER_SIZE of %g MiB is taken up by the headroom of %s: the shared pool has its default", mib, f.name(fewest))
	} else {
		keys = append(keys, fmt.Sprintf("pool: %.0f", min(pool, 1<<30)))
		t.tell("The shared pool is what BUFFER_SIZE of %g MiB leaves beside headroom and reserved memory at %s, where that is least; the headroom of a port is what its link needs here", mib, f.name(fewest))
	}
	if dynamic > 0 {
		keys = append(keys, "dynamic_th: -3")
		t.tell("A priority group may have an eighth of the free pool (dynamic_th: -3); there, ports faster than those of hosts may have more")
	} else {
		t.tell("USE_DYNAMIC_PFC_THRESHOLD is 0: the static threshold is a scenario's default")
	}
	p.buffer = "{" + strings.Join(keys, ", ") + "}"
	return nil
}

// Modes of congestion control, by CC_MODE.
var hpccModes = map[int]string{1: "DCQCN", 3: "HPCC", 7: "TIMELY", 8: "DCTCP", 10: "HPCC-PINT"}

// readCongestion reads congestion control, and the marks that DCQCN needs.
func (p *hpccPlan) readCongestion(c *hpccConfig, f *fabric, flows []flow, t *tally) error {
	qcn, err := c.number("ENABLE_QCN", 1, 1)
	if err != nil {
		return err
	}
	mode, err := c.number("CC_MODE", 1000, 1)
	if err != nil {
		return err
	}
	red, err := c.readMarks(f, mode == 1 && qcn > 0, t)
	if err != nil {
		return err
	}
	name := cmp.Or(hpccModes[int(mode)], "not one of HPCC's")
	lossy := slices.IndexFunc([]int{6, 7, 5, 2, 1, 0}, func(n int) bool { return !slices.Contains(lossless(flows), n) })
	switch {
	case lossy < 0:
		t.tell("CC_MODE and the ECN thresholds are not used: flows are in all priorities, and a notification of congestion needs a lossy one")
		return nil
	case mode == 7:
		p.congestion = []string{"control: timely"}
	case mode == 1 && qcn > 0:
		p.congestion = []string{"control: dcqcn", "profile: hpcc-sender"}
		if red != "" {
			p.congestion = append(p.congestion, "ecn: "+red)
		}
	case mode == 1:
		t.tell("ENABLE_QCN is 0: senders keep to the rate of their links")
		return nil
	default:
		t.tell("CC_MODE is %g, %s: senders keep to the rate of their links, as a scenario has DCQCN and TIMELY alone, and no marks", mode, name)
		return nil
	}
	if cnp := []int{6, 7, 5, 2, 1, 0}[lossy]; cnp != 6 {
		p.congestion = append(p.congestion, fmt.Sprintf("cnp_priority: %d", cnp))
	}
	return nil
}

// readMarks reads the ECN thresholds, in units of 1000 bytes, of the rate that most links have; used is whether
// somebody heeds marks.
func (c *hpccConfig) readMarks(f *fabric, used bool, t *tally) (red string, err error) {
	var of [3]float64
	for i, key := range []string{"KMIN", "KMAX", "PMAX"} {
		if of[i], err = c.number(key, 1<<20, math.NaN()); err != nil {
			return "", err
		}
		if x, err := c.byRate(key+"_MAP", f.usual().rate, t); err != nil {
			return "", err
		} else if !math.IsNaN(x) {
			of[i] = x
		}
	}
	kmin, kmax, pmax := of[0], of[1], of[2]
	if math.IsNaN(kmin + kmax + pmax) {
		if used {
			t.tell("There are no ECN thresholds for %s, the rate of most links: marks have their defaults", f.usual().rate)
		}
		return "", nil
	}
	percent := int(math.Round(100 * pmax))
	if kmin >= kmax || kmax > 1<<20 || percent < 1 || percent > 100 {
		t.tell("The ECN thresholds %g, %g and %g are not used: the second is above the first, and the last from 0.01 to 1", kmin, kmax, pmax)
		return "", nil
	}
	if _, maps := c.of("KMAX_MAP"); maps && used {
		t.tell("The ECN thresholds are those of %s, the rate of most links, for all", f.usual().rate)
	}
	return fmt.Sprintf("{kmin: %.0f, kmax: %.0f, pmax: %d}", kmin*1000, kmax*1000, percent), nil
}

// readDown reads LINK_DOWN: microseconds after the second second, and the two ends of the link.
func (p *hpccPlan) readDown(c *hpccConfig, f *fabric) error {
	w, ok := c.of("LINK_DOWN")
	if !ok {
		return nil
	}
	at, a, b := w.real("a time of LINK_DOWN", 1e12), w.number("a node of LINK_DOWN", 0, len(f.of)-1), w.number("a node of LINK_DOWN", 0, len(f.of)-1)
	if w.err != nil || at == 0 {
		return w.err
	}
	if !slices.ContainsFunc(f.of[a], func(k int) bool { return f.links[k].a+f.links[k].b == a+b }) {
		w.faultf("LINK_DOWN: %s and %s have no link", f.name(a), f.name(b))
	}
	p.down = &downLink{2*unit.Second + seconds(at/1e6), a, b, w.place()}
	return w.err
}

// losses is how a scenario writes a share of frames that are lost, "" for none. It has hundredths of a percent.
func losses(share float64, t *tally) string {
	s := config.Share(math.Round(share * 1e4))
	if share > 0 && float64(s) != share*1e4 && math.Abs(float64(s)-share*1e4) > 1e-6 {
		t.tell("An error rate of %g is written as %s: a scenario has hundredths of a percent", share, s)
	}
	if s == 0 {
		return ""
	}
	return s.String()
}
