package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"softswitch/cmd/softswitch/cli"
)

// varies is what of a command's output differs from run to run.
type varies struct {
	command *regexp.Regexp
	masks   []mask
	// lines that match may come or not; if one is shown, one has to come.
	lines []*regexp.Regexp
	// until is what a command that would go on has said when Ctrl-C is typed.
	until string
	// beside is what a command in another terminal has said when the next is typed.
	beside string
	// tool is a program that the command needs.
	tool string
	// simulated: the command needs no lab.
	simulated bool
}

// mask is a kind of figure that differs from run to run, and what stands for it.
type mask struct {
	figure *regexp.Regexp
	with   string
}

func masking(figure, with string) mask { return mask{regexp.MustCompile(figure), with} }

// The kinds of figures that differ from run to run.
var (
	wallTime   = masking(`\b[0-9.]+(ms|µs|s)$`, "#s")                                                  // of a step of a lab
	runTime    = masking(`^ +-?[0-9]\.[0-9]{3} s `, "# s")                                             // since the run began
	eventTime  = masking(`^ +[0-9]+\.[0-9]{3}  `, "# ")                                                // in ms, of the time line
	latency    = masking(`\b[0-9]+\.[0-9]{3} ms\b`, "# ms")                                            // of a detector, of ping
	timeOfDay  = masking(`(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d+`, "#")                                //
	pingTimes  = masking(`(, time \d+ms|^rtt .*)$`, " time #")                                         //
	pid        = masking(`\d+ +running\b`, "# running")                                                //
	pageToken  = masking(`token=[A-Z2-7]+`, "token=#")                                                 //
	port       = masking(`127\.0\.0\.1:\d+`, "127.0.0.1:#")                                            // of a server
	flowFrames = masking(`^( +\w+ +\S+ +\S+ +[0-7]) +\d+ +\d+ +0 +\d+ +0 +[0-9.]+$`, "$1 # # 0 # 0 #") // sent, received, in flight, Mbit/s
	pfcFrames  = masking(`^(pfc +)\d+ XOFF, \d+ XON, \d+ refreshes$`, "$1# XOFF, # XON, # refreshes")
	onWire     = masking(`^ *[1-9]\d*  (frames of type 0x88e5, )`, "# $1")                    // of MACsec
	paused     = masking(`^ *[1-9]\d* +\d+  (s\d)  (s\d)$`, "# # $1 $2")                      // pauses and messages of a link
	messaged   = masking(`^ *0 +[1-9]\d*  (s\d)  (s\d)$`, "0 # $1 $2")                        // messages alone
	pfcCounts  = masking(`^( *to-\S+ +0 +0 +0) +[1-9]\d[\d,]* +[01]( +0 +0 +0)$`, "$1 # r$2") // of priority 3, if it paused
	pfcFirst   = masking(`^( *to-\S+ +0 +0 +0) +[01] +[01]( +0 +0 +0)$`, "$1 r r$2")          // the resumes with which nodes begin, if somebody was there
	processors = masking(`[0-9.]+ processors used`, "# processors used")                      //
	slack      = masking(`and \d+ of slack, \d+ of it used`, "and # of slack, # of it used")
	look       = masking(`^(processes wake up to) \S+ (late: headroom of \d+ bytes and) \d+ of slack$`, "$1 # $2 # of slack")
	onPurpose  = masking(`lost \d+; dropped to break a deadlock \d+ \(\d+ bytes\), to handle its trigger \d+`, "lost #; dropped #")
	messages   = masking(`\d+ control messages`, "# control messages")                   //
	written    = masking(`^\d+ frames written`, "# frames written")                      // of a capture
	fields     = masking(`\b((core|agg|edge)[0-9-]+|[0-9a-f.:x_]*\d[0-9a-f.:x_]*)`, "#") // of a frame: what it says of switches and times
	passed     = masking(`(comes home)(; has passed the initial trigger)?$`, "$1")       // not if its owner is the trigger
	columns    = masking(`-{2,}`, "--")                                                  // as wide as what is in them
)

// figuresOfRun are those of a scenario that is played live.
var figuresOfRun = []mask{wallTime, runTime, eventTime, latency, flowFrames, pfcFrames, messages, processors, slack, look}

// varying says of commands what differs from run to run: the first that matches holds.
// Of all others everything is compared.
var varying = []varies{
	{command: typed(`softswitch doctor$`), lines: matching(`^note `, `->`, `^ok +(kernel|backlog|cores|memory|labs|namespace directory|rootless|ip|tcpdump|tshark|ovs-vswitchd) `)},

	{command: typed(`macsec.sh frames$`), tool: "linux.uml"},
	{command: typed(`macsec.sh lab `), tool: "linux.uml", masks: append(slices.Clip(figuresOfRun), onWire, paused, messaged), lines: matching(
		` declares `, ` of type 0x88e5, (167|463) octets$`,
	)},

	{command: typed(`lab run .*ring.yaml --pcap`), masks: figuresOfRun, lines: matching(`first (pause|resume):`, ` declares `, `  true  `, `^ +loop  `, `^ +cause `)},
	{command: typed(`lab run .*ring.yaml --response`), masks: append(slices.Clip(figuresOfRun), onPurpose), lines: matching(
		`first (pause|resume):`, ` declares `, `  true  `, `^ +loop  `, `^ +cause `, `^dropped of  `, `: (restrict|drop|lend|free|lossy-turn|lossless-turn) `, `deadlock is over`, `^  [a-d]  .*[0-9]$`,
	)},
	{command: typed(`lab rootless `), tool: "ping", masks: []mask{pingTimes}},
	{command: typed(`# in one terminal$`), beside: "links up in"},
	{command: typed(`lab (run|deploy|destroy) `), masks: figuresOfRun},
	{command: typed(`lab destroy$`), masks: figuresOfRun},
	{command: typed(`ip -br link`), tool: "ip"},
	{command: typed(`lab inspect$`), masks: []mask{pid, columns}},
	{command: typed(` ping `), tool: "ping", masks: []mask{pingTimes}},
	{command: typed(`lab events h1 `), masks: []mask{timeOfDay}},
	{command: typed(`lab events `), lines: matching(` DEADLOCK declared, `, `(?i) (queue|priority group|pause|resume|route|wait|detector|action)`)},
	{command: typed(`lab metrics$`), until: "serving", masks: []mask{port}},
	{command: typed(`lab ui$`), until: "page:", masks: []mask{pageToken, port}},

	{command: typed(`show deadlock$`), masks: []mask{timeOfDay, columns}, lines: matching(` to-\S+:3 `)},
	{command: typed(`show causes$`), masks: []mask{timeOfDay, columns}, lines: matching(` [1-4]: (contention|no-single-cause|routing-loop|link) `)},
	{command: typed(`show pfc counters --history`), masks: []mask{columns}, lines: matching(`^ *to-.* PFC3 `)},
	{command: typed(`show pfc counters `), masks: []mask{pfcCounts, pfcFirst}},

	{command: typed(`decode captures/`), lines: matching(` PFC 3:`)},
	{command: typed(`tshark .*captures/`), tool: "tshark", lines: matching(`^Class Based Flow Control `)},

	{command: typed(`demo nic$`), tool: "iperf3", masks: figuresOfRun, lines: matching(`^h[12] +[0-9]`, `^iperf3:`, `^ping:`, `^fabric:`, `^pauses:`)},
	{command: typed(`demo rdma `), tool: qemu, masks: figuresOfRun, lines: matching(`^guest h`, ` declares a deadlock; `, `^h[123] +[0-9]`, `^deadlock: `)},
	{command: typed(`nic show$`), masks: []mask{columns}, lines: matching(`^h[12] +[0-9]`)},
	{command: typed(`iperf3 -c`), tool: "iperf3", lines: matching(`^\[ +\d\] `)},
	{command: typed(`iperf3`), tool: "iperf3"},

	{command: typed(`go run `), tool: "go", simulated: true},
	{command: typed(`python3 `), tool: "python3", simulated: true},
	{command: typed(`decode wireshark$`), tool: "tshark", simulated: true},
	{command: typed(`# in another$`), masks: []mask{written}},
	{command: typed(`tshark -r lab.pcapng .* -V `), tool: "tshark", masks: []mask{fields, passed}},
	{command: typed(`tshark -r lab.pcapng .*itsy.home .* > seq$`), tool: "tshark"},
	{command: typed(`tshark -r lab.pcapng .*itsy.seq ==`), tool: "tshark", lines: matching(`^[0-9.]+\t\S+:to-\S+\t0x0000000[12]$`)},
}

func typed(pattern string) *regexp.Regexp { return regexp.MustCompile(pattern) }

func matching(patterns ...string) (out []*regexp.Regexp) {
	for _, p := range patterns {
		out = append(out, regexp.MustCompile(p))
	}
	return out
}

// variesOf is what differs of a command.
func variesOf(command string) varies {
	for _, v := range varying {
		if v.command.MatchString(command) {
			return v
		}
	}
	return varies{simulated: !strings.Contains(command, "sudo ")}
}

// missing: the machine lacks the tool.
func (v varies) missing(t *testing.T) bool {
	if v.tool == "" {
		return false
	}
	_, err := exec.LookPath(v.tool)
	if err != nil {
		t.Logf("not played: %v", err)
	}
	return err != nil
}

// masked are lines without what differs; where figures do, spaces may too.
func (v varies) masked(lines []string) (out []string) {
	for _, l := range lines {
		if slices.ContainsFunc(v.lines, func(r *regexp.Regexp) bool { return r.MatchString(l) }) {
			continue
		}
		for _, m := range v.masks {
			l = m.figure.ReplaceAllString(l, m.with)
		}
		if v.masks != nil {
			l = strings.Join(strings.Fields(l), " ")
		}
		out = append(out, l)
	}
	return out
}

// TestDocumentedCommands: every softswitch command that a page names is one, with its
// flags.
func TestDocumentedCommands(t *testing.T) {
	n := 0
	for path, page := range guidePages(t) {
		for i, line := range page {
			for _, m := range documented.FindAllStringSubmatch(line, -1) {
				n++
				if err := knownCommand(strings.Fields(m[1])); err != nil {
					t.Errorf("%s:%d: softswitch %s: %v", path, i+1, m[1], err)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d commands were found", n)
	}
}

// documented finds a command at the beginning of a line of a block, or of code in a
// sentence, up to where a shell or the sentence goes on.
var documented = regexp.MustCompile("(?:^\\$ (?:sudo )?|^(?:sudo )?bin/|`(?:sudo )?|\\| (?:sudo )?bin/)(?:bin/)?softswitch ([a-z][^`|>&#;'\"]*)")

// knownCommand says why words are no command of softswitch.
func knownCommand(words []string) error {
	if words[0] == "help" && len(words) > 1 { // cobra adds help when a command is run
		if slices.Contains(topicNames(), words[1]) {
			return nil
		}
		return knownCommand(words[1:])
	}
	cmd, rest, err := root().Find(words)
	if err != nil {
		return err
	}
	if len(rest) > 0 && cli.IsGroup(cmd) && regexp.MustCompile(`^[a-z]`).MatchString(rest[0]) {
		return fmt.Errorf("%s has no command %q", cmd.CommandPath(), rest[0])
	}
	for i, w := range rest {
		if w == "--" {
			return nil // the rest is for another program
		}
		if inner, _, err := root().Find(rest[i:]); cmd.Name() == "init" && err == nil && inner.HasParent() {
			return knownCommand(rest[i:]) // a command for a campaign to play
		}
		name, ok := strings.CutPrefix(strings.Trim(w, "[],.:"), "--")
		if !ok && (cmd.Name() == "exec" || cmd.Name() == "rootless") {
			return nil // the rest is another program's
		}
		name, _, _ = strings.Cut(name, "=")
		if ok && name != "help" && cmd.Flag(name) == nil {
			return fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), name)
		}
	}
	return nil
}

// TestVaryingIsNeeded: each entry is that of a command in a guide, and no command that is
// simulated has one.
func TestVaryingIsNeeded(t *testing.T) {
	var commands []string
	for path, page := range guidePages(t) {
		for _, b := range readBlocks(t, path, page) {
			for _, c := range b.commands {
				commands = append(commands, c.command)
			}
		}
	}
	for _, v := range varying {
		is := func(c string) bool { return variesOf(c).command == v.command }
		if !slices.ContainsFunc(commands, is) {
			t.Errorf("no guide has a command that matches %q", v.command)
		}
	}
	for _, c := range commands {
		if v := variesOf(c); strings.Contains(c, "softswitch sim ") && (v.masks != nil || v.lines != nil) {
			t.Errorf("%s: a simulation comes out the same each time", c)
		}
	}
}
