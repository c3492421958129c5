package validate_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/host"
	"softswitch/host/nic"
	"softswitch/internal/testkit"
	"softswitch/lab"
	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/play/validate"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/sim"
	"softswitch/study/fuzz"
)

var mutants = flag.Int("mutants", testkit.Sized(120, 300), "how many files TestAgrees looks at")

// bigFabric is the number of nodes above which the machines of a mutant are not built.
const bigFabric = 1500

// What validate says of a file holds: a world that it promises makes all machines of
// the file, and one that it denies refuses the file. The files are those of the
// repository and of the fuzzer, with random changes.
func TestAgrees(t *testing.T) {
	m := &mutator{rng: rand.New(rand.NewPCG(testkit.Seed(t), 0)), files: corpus(t)}
	good, big, i := map[string]int{}, 0, 0
	kinds := []string{"scenario", "switch", "host"}
	lacks := func(kind string) bool { return good[kind] == 0 }
	// A good file of each kind is among 120 in most runs, not in all: it goes on until one came.
	for ; i < *mutants || slices.ContainsFunc(kinds, lacks) && i < 20**mutants; i++ {
		data := m.next()
		v, err := agrees(data)
		switch {
		case errors.Is(err, errBig):
			big++
		case err != nil:
			t.Errorf("mutant %d: %v\n%s", i, err, data)
		}
		if v.OK {
			good[v.Kind]++
		}
	}
	t.Logf("%d mutants, good: %v, %d too big to be built", i, good, big)
	for _, kind := range kinds {
		if lacks(kind) {
			t.Errorf("no good file of kind %s among %d", kind, i)
		}
	}
}

// agrees is an error where what validate says of a file is not what the machines say:
// errBig, or what the two say.
func agrees(data []byte) (validate.File, error) {
	v := validate.Check("mutant.yaml", data)
	ready, err := prepare(v.Kind, data)
	if err == nil && promise(v) != ready.String() {
		err = fmt.Errorf("validate says %s: %v\nbut %s: %v", promise(v), v, ready, ready.errs)
	}
	return v, err
}

// What one world takes and the other does not, or both, or neither: few random changes
// come upon it.
func TestAgreesOnOneWorld(t *testing.T) {
	pause, err := os.ReadFile("../../scenarios/pause.yaml")
	if err != nil {
		t.Fatal(err)
	}
	nics, err := os.ReadFile("../../scenarios/nic/two-switches.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const noRate, ownName = `rate: 100Mbit/s>rate: "0"`, "h2>state.json"
	for _, c := range []struct {
		name    string
		file    []byte
		changes []string // "old>new"
		want    string
	}{
		{"as it is", pause, nil, "simulated true, live true (slow 0), run false"},
		{"a link without a rate", pause, []string{noRate}, "simulated false, live false (slow 0), run false"},
		{"a name of the lab's own", pause, []string{ownName}, "simulated true, live false (slow 0), run false"},
		{"both", pause, []string{noRate, ownName}, "simulated false, live false (slow 0), run false"},
		{"fast links", pause, []string{"100Mbit/s>40Gbit/s"}, "simulated true, live true (slow 400), run false"},
		{"an xon that a switch refuses", pause, []string{"duration: 3s>duration: 3s\nbuffer: {xon: 40960}"}, "simulated false, live false (slow 0), run false"},
		{"a receive buffer that two priorities of a NIC do not have", nics, []string{"nics:>host: {rx_buffer: 1073741824}\nnics:"}, "simulated false, live false (slow 0), run false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := c.file
			for _, change := range c.changes {
				old, with, _ := strings.Cut(change, ">")
				data = bytes.ReplaceAll(data, []byte(old), []byte(with))
			}
			v, err := agrees(data)
			if err != nil {
				t.Error(err)
			}
			if promise(v) != c.want {
				t.Errorf("validate says %s, want %s: %v", promise(v), c.want, v.Faults)
			}
		})
	}
}

var errBig = errors.New("too big to be built")

// promise is what validate says a file is good for, in the words of ready.
func promise(v validate.File) string {
	r := ready{}
	switch {
	case !v.OK:
	case v.Kind != "scenario":
		r.runs = true
	default:
		r.sim, r.live, r.slow = v.LiveOnly == "", v.SimOnly == "", v.Slow
	}
	return r.String()
}

// ready is what can be made of a file.
type ready struct {
	sim, live bool
	slow      int // of live
	runs      bool
	errs      error
}

func (r ready) String() string {
	return fmt.Sprintf("simulated %v, live %v (slow %d), run %v", r.sim, r.live, r.slow, r.runs)
}

// prepare does what the commands do with a file up to the first event. The error is
// errBig or a panic.
func prepare(kind string, data []byte) (r ready, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	switch kind {
	case "switch":
		r.errs = buildSwitch(data)
		r.runs = r.errs == nil
	case "host":
		r.errs = buildHost(data)
		r.runs = r.errs == nil
	default:
		return prepareScenario(data)
	}
	return r, nil
}

func prepareScenario(data []byte) (r ready, err error) {
	s, errs := load.Scenario("mutant.yaml", data)
	if errs != nil {
		return ready{errs: errs}, nil
	}
	if len(s.Fabric.Nodes) > bigFabric {
		return r, errBig
	}
	plan, errs := scenario.Compile(s)
	if errs != nil {
		return ready{errs: errs}, nil
	}
	_, simErr := sim.New(plan, sim.Options{Seed: 1, Detectors: catalog.Factories()})
	slow := lab.Slowness(s)
	liveErr := deploy(s, slow)
	r = ready{sim: simErr == nil, live: liveErr == nil, errs: errors.Join(simErr, liveErr)}
	if slow > 1 && r.live {
		r.slow = slow
	}
	return r, nil
}

// deploy does what lab run does, and the processes that it starts, up to the first
// namespace and the first interface.
func deploy(s *scenario.Scenario, slow int) error {
	s, err := s.Slow(slow)
	if err != nil {
		return err
	}
	if err := lab.Refuse(s); err != nil {
		return err
	}
	plan, err := scenario.Compile(s)
	if err != nil {
		return err
	}
	desc := lab.Describe(plan, lab.Options{Name: "agree", Program: "/bin/softswitch"})
	if _, err := netnslab.Plan(desc, netnslab.Dir(desc.Name)); err != nil {
		return err
	}
	for _, n := range desc.Nodes {
		build := buildHost
		if n.Kind == "switch" {
			build = buildSwitch
		}
		if err := build(n.Files[0].Data); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return nil
}

// buildSwitch makes the machine of softswitch run -c.
func buildSwitch(data []byte) error {
	cfg, _, err := config.LoadSwitch("mutant.yaml", data)
	if err != nil {
		return err
	}
	d, err := catalog.Named("detector", cfg.Detector)
	if err != nil {
		return err
	}
	policy, err := respond.Parse(cfg.Response)
	if err != nil {
		return err
	}
	_, err = dataplane.NewSwitch(cfg.Build(respond.New(d.New, policy), live.Batch, live.Granularity))
	return err
}

// buildHost makes the machine of softswitch run -c, or nic -c.
func buildHost(data []byte) error {
	cfg, err := config.LoadHost("mutant.yaml", data)
	if err != nil {
		return err
	}
	if cfg.Stack != "" {
		_, err = nic.New(cfg.BuildNIC(live.Batch, live.Granularity))
	} else {
		_, err = host.New(cfg.Build(live.Batch, live.Granularity))
	}
	return err
}

// corpus is the files that mutants are made of: scenarios, good and faulty, and those of
// their nodes.
func corpus(t *testing.T) (files [][]byte) {
	t.Helper()
	for _, pattern := range []string{"../../scenarios/*.yaml", "../../scenarios/nic/*.yaml", "../../scenarios/rdma/*.yaml", "../../scenario/testdata/*.yaml", "../../node/config/testdata/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, data)
		}
	}
	for _, hosts := range []int{63, 64, 255} { // a leaf has one more port; some detectors take no more than 64
		text := fmt.Sprintf("name: star\ndetector: itsypaper\nduration: 1ms\ntopology: {leafspine: {leaves: 2, spines: 1, hosts_per_leaf: %d}, rate: 1Gbit/s}\n", hosts)
		for _, detector := range []string{"itsypaper", "watchdog"} {
			files = append(files, []byte(strings.ReplaceAll(text, "itsypaper", detector)))
		}
	}
	for i := range 60 {
		files = append(files, fuzz.New(1, i, fuzz.Modes[i%len(fuzz.Modes)]).Text("itsy", ""))
	}
	for _, data := range slices.Clone(files) {
		s, err := load.Scenario("corpus.yaml", data)
		if err != nil || len(s.Fabric.Nodes) > bigFabric {
			continue
		}
		plan, err := scenario.Compile(s)
		if err != nil {
			continue
		}
		nodes := lab.Describe(plan, lab.Options{Program: "/bin/softswitch"}).Nodes
		for _, n := range []netnslab.Node{nodes[0], nodes[len(nodes)-1]} {
			files = append(files, n.Files[0].Data)
		}
	}
	return files
}

// mutator changes files at random.
type mutator struct {
	rng   *rand.Rand
	files [][]byte
}

// next is a file with a change, or with more.
func (m *mutator) next() []byte {
	data := m.files[m.rng.IntN(len(m.files))]
	changes := []func([]byte) []byte{m.value, m.value, m.value, m.value, m.key, m.key, m.line, m.rename, m.noise}
	for more := true; more; more = m.rng.IntN(3) == 0 {
		data = changes[m.rng.IntN(len(changes))](data)
	}
	return data
}

// word is what a key or a value is made of.
var word = regexp.MustCompile(`[-\w./µ"]+`)

// kind is values of a kind.
type kind struct {
	is     *regexp.Regexp
	values []string
}

// kinds of values, and some of each: at the edges of what some key takes, or beyond.
var kinds = []kind{
	{regexp.MustCompile(`^-?\d+$`), strings.Fields(`0 1 2 3 4 7 8 9 -1 46 47 48 49 50 63 64 65 254 255 256 1000 1001 1499 1513 1514 1515 4096 8191 8192 9216 9217 9230 9231
		16383 36863 36864 36865 40959 40960 40961 49999 50000 65535 65536 1048576 2097151 2097152 2097153 1073741823 1073741824 1073741825
		2147483647 2147483648 4294967295 4294967296 9223372036854775807 9223372036854775808 0x10 010 1e3 1.5 -7 -8 ~ true`)},
	{regexp.MustCompile(`^[\d.]+(ns|us|µs|ms|s|m|h)$`), strings.Fields(`0s 1ns 1us 40ns 1ms 1s 1001ms 23h59m 24h 24h1ns 25h 2562047h -1s 1h 9223372036s 1ps 1 0`)},
	{regexp.MustCompile(`bit/s$`), strings.Fields(`0 line 1bit/s 1kbit/s 100Mbit/s 2.5Gbit/s 40Gbit/s 400Gbit/s 1000Tbit/s 1001Tbit/s 0bit/s 1mbit/s -1bit/s`)},
	{regexp.MustCompile(`^(true|false)$`), strings.Fields(`true false yes either 1`)},
	{regexp.MustCompile(``), strings.Fields(`a.b s.1 -x x--y eth0 lo h1 s1 é "" [] {} ~ [3,3] [0,1,2,3,4,5,6,7] 'a\tb' abcdefghijklmnopqrstuvwxyzabcdef
		abcdefghijklmnopqrstuvwxyzabcdefg itsy itsypaper none watchdog loopbreaker deadlockbreaker itzy drop bubble+trigger drop+ dscp pcp hosts all
		switch host fail heal flap kill stop continue storm slow normal lose forge strict dwrr 10.0.0.0/8 10.0.1.2/24 10.0.1.255 224.0.0.1 0.0.0.0/0
		02:00:00:01:00:00 ff:ff:ff:ff:ff:ff :9100`)},
}

// value changes a word: mostly one that is no key, mostly to another of its kind.
func (m *mutator) value(data []byte) []byte {
	at := m.word(data)
	for tries := 0; at != nil && tries < 4 && bytes.HasPrefix(data[at[1]:], []byte(":")); tries++ {
		at = m.word(data)
	}
	if at == nil {
		return data
	}
	return slices.Concat(data[:at[0]], []byte(m.instead(data, string(data[at[0]:at[1]]))), data[at[1]:])
}

// instead is what to write for a word of data.
func (m *mutator) instead(data []byte, old string) string {
	n, err := strconv.Atoi(old)
	switch {
	case m.rng.IntN(8) == 0: // another word of the file
		at := m.word(data)
		return string(data[at[0]:at[1]])
	case err == nil && m.rng.IntN(2) == 0:
		return strconv.Itoa([]int{n - 1, n + 1, 2 * n, n / 2, -n, n * 1000}[m.rng.IntN(6)])
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.is.MatchString(old) })
	if m.rng.IntN(8) == 0 {
		i = m.rng.IntN(len(kinds))
	}
	return kinds[i].values[m.rng.IntN(len(kinds[i].values))]
}

// word is where some word of data is, nil if it has none.
func (m *mutator) word(data []byte) []int {
	all := word.FindAllIndex(data, -1)
	if len(all) == 0 {
		return nil
	}
	return all[m.rng.IntN(len(all))]
}

// rename changes a word wherever it stands.
func (m *mutator) rename(data []byte) []byte {
	at := m.word(data)
	if at == nil {
		return data
	}
	old := data[at[0]:at[1]]
	with := []string{"a.b", "n-1", "n_1", "a b", "N", "x" + string(old), string(old) + ".1", strings.Repeat("n", 33)}[m.rng.IntN(8)]
	return regexp.MustCompile(`\b`+regexp.QuoteMeta(string(old))+`\b`).ReplaceAll(data, []byte(with))
}

// line takes out a line or two, or puts one in a second time or elsewhere.
func (m *mutator) line(data []byte) []byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	i, j := m.rng.IntN(len(lines)), m.rng.IntN(len(lines))
	line := lines[i]
	switch m.rng.IntN(3) {
	case 0:
		lines = slices.Delete(slices.Clone(lines), i, min(i+1+m.rng.IntN(2), len(lines)))
	case 1:
		lines = slices.Insert(slices.Clone(lines), i, line)
	default:
		lines = slices.Insert(slices.Delete(slices.Clone(lines), i, i+1), min(j, len(lines)-1), line)
	}
	return bytes.Join(lines, nil)
}

// noise changes a byte.
func (m *mutator) noise(data []byte) []byte {
	const odd = "\x00\t\r\"'{}[]:,#&*!|>%@`?-.\xff \u00a0\n"
	i := m.rng.IntN(len(data) + 1)
	with := odd[m.rng.IntN(len(odd))]
	if m.rng.IntN(2) == 0 {
		return slices.Concat(data[:i], []byte{with}, data[i:])
	}
	return slices.Concat(data[:i], []byte{with}, data[min(i+1, len(data)):])
}

// keys are keys of the top, which a file may have already.
var keys = []string{
	"buffer: {xon: 40960}", "buffer: {xon: 40959}", "buffer: {dynamic_th: 0, xon: 2000000}", "buffer: {dynamic_th: -7, xon: 20480}",
	"buffer: {pool: 1, static_th: 0, size: 1}", "buffer: {xoff: 0}", "buffer: {size: 1073741824, static_th: 0}", "buffer: {lossy_queue: 0}",
	"buffer: {cell: 208}", "buffer: {cell: 65536, xoff: 100000}", "buffer: {headroom_pool: {ratio: 2}}", "buffer: {headroom_pool: {size: 0, port: 0}}",
	"buffer: {headroom_pool: {size: 1, ratio: 1}}", "platform: tomahawk", "platform: sn2700", "platform: td2", "host: {rx_buffer: 8192}",
	"host: {rx_buffer: 1073741824}", "pfc: {response: 802.3}", "pfc: {response: 65535}", "pfc: {response: -1}", "delay: 1s",
	"pfc: {lossless: []}", "pfc: {lossless: [0, 1, 2, 3, 4, 5, 6, 7]}", "pfc: {quanta: 1}", "pfc: {quanta: 1, refresh: 1ns}", "pfc: {refresh: 10ms}",
	"trust: pcp", "response: drop", "response: bubble+trigger", "response: dropp", "detector: watchdog", "detector: itsypaper", "detector: none", "detector: itzy", "id: 16383", "id: 16384", "id: 65535",
	"topology: {leafspine: {leaves: 2, spines: 1, hosts_per_leaf: 63}, rate: 1Gbit/s}", "topology: {leafspine: {leaves: 2, spines: 1, hosts_per_leaf: 64}, rate: 1Gbit/s}",
	"topology: {leafspine: {leaves: 2, spines: 1, hosts_per_leaf: 255}, rate: 1Gbit/s}", "topology: {ring: {switches: 3, hosts_per_switch: 254}, rate: 1Gbit/s}",
	"prevention: {tagger: {lossless: 2}}", "prevention: {no_flood: true}", "prevention: {ttl_band: 1}", "prevention: {ttl_band: 255}",
	"prevention: {thresholds: {down: {static_th: 0}}}", "prevention: {thresholds: {per_level: 1000000}}",
	"prevention: {thresholds: {up: {xon_offset: 0}, down: {static_th: 2097152}}}", "prevention: {gfc: {}}", "prevention: {gfc: {start: 1, lowest: 1bit/s}}", "prevention: {gfc: {lowest: 1Tbit/s}}", "prevention: {bubble: {rings: []}}", "gfc: {}", "rings: [{in: 0, out: 0, room: 0}]",
	"flood: all", "ttl_band: 3", "no_flood: true",
	"congestion: {}", "congestion: {control: timely, ecn: {kmax: 40961}}", "congestion: {cnp_priority: 3, phantom: {drain: 0}}", "ecn: {red: {}, phantom: {mark: 1}}",
	"mtu: 9216", "mtu: 9000", "stack: nic0", "bin: 1ns", "hash_seed: 4294967295", "scheduler: {3: {type: dwrr, weight: 100}}", "dscp_map: {0: 3, 63: 0}",
	"live: {metrics: 9100}", "live: {metrics: x}", "rx_buffer: 8192", "expect: {}", "expect: {sim_only: it is so}", "expect: {max_latency: 2562047h}",
	"duration: 24h", "duration: 2562047h", "duration: 1ns", "duration: 39ns", "acts: [{do: storm, priority: 3}]", "acts: [{do: slow, rate: 1bit/s, at: 2562047h}]",
}

// key puts a key at the top of a file, in the place of the one that it has.
func (m *mutator) key(data []byte) []byte {
	key := keys[m.rng.IntN(len(keys))]
	name, _, _ := strings.Cut(key, ":")
	data = regexp.MustCompile(`(?m)^`+name+`:.*\n([ \t-].*\n)*`).ReplaceAll(data, nil)
	return slices.Concat([]byte(key+"\n"), data)
}
