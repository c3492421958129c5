package main

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withoutTable are the commands without --json: they print no table, but nothing, a file, what a node
// or another program says, or an address.
var withoutTable = strings.Split(`auth reload
auth rotate
campaign run
clear interfaces counters
clear pfc counters
clear priority-group watermark
clear queue counters
clear queue watermark
clear watermarks
compare plot
conform probe
decode wireshark
import containerlab
import graphml
import hpcc
import sonic
lab attach
lab capture
lab deploy
lab destroy
lab exec
lab export
lab fail
lab graph
lab heal
lab kill
lab metrics
lab normal
lab response
lab restart
lab rootless
lab shell
lab slow
lab start
lab stop
lab storm
lab ui
lab vm build
lab vm console
lab vm exec
lab vm start
lab vm stop
learn
nic
nic normal
nic slow
pfcwd big_red_switch
pfcwd counter_poll
pfcwd interval
pfcwd start
pfcwd start_default
pfcwd stop
run`, "\n")

// offline are the commands with --json that need no lab, in the order in which they are played, with
// arguments, and what is printed if it is no single value.
var offline = []struct{ command, args string }{
	{"check", "pause"},
	{"check tagger", "fattree-on-loop"},
	{"cause", "shpiner-fig6"},
	{"compare", "--scenarios pause --systems none"},
	{"compare traffic", "--scenarios shpiner-fig6 --runs 1"},
	{"sweep", "w4-transient-trigger"},
	{"campaign init", "DIR/campaign sim fuzz --n 2"}, // --json stands before what is the command's
	{"campaign status", "DIR/campaign"},
	{"campaign merge", "DIR/1.json DIR/2.json"},
	{"sim run", "w4-transient-trigger"},
	{"sim bench", "--runs 1 --duration 100us"},
	{"sim fuzz", "--n 2"},
	{"sim frames", "--n 1000"},
	{"validate", "pause"},
	{"decode", "DIR/pfc.pcap"},
	{"conform list", ""},
	{"conform show", "R04"},
	{"conform self", "--case R01"},
	{"conform mutants", "--matrix"},
	{"doctor", ""},
	{"run replay", "DIR/s1.rec"},
	{"lab list", ""},
}

// onLab are those that need one that is up, with arguments.
var onLab = map[string]string{
	"lab inspect": "", "lab events": "s1", "lab impair": "",
	"show arp": "", "show auth": "", "show buffer configuration": "", "show causes": "", "show connections": "", "show deadlock": "",
	"show interfaces counters": "", "show interfaces portchannel": "", "show interfaces status": "", "show itsy labels": "", "show lldp dcbx": "", "show lldp neighbors": "", "show mac": "", "show nics": "", "show actions": "",
	"show pfc counters": "", "show pfc priority": "", "show pfcwd config": "", "show pfcwd stats": "", "show priority-group watermark headroom": "",
	"show priority-group watermark shared": "", "show queue counters": "", "show queue watermark": "", "show queue scheduler": "", "show route": "",
	"pfcwd show config": "", "pfcwd show stats": "",
}

// elsewhere are the commands that make a lab of their own, or need one with more in it: which test reads
// their JSON.
var elsewhere = map[string]string{
	"conform judge": "TestConformNoPFC", "conform run": "TestConformLive: conform self --live plays it",
	"demo": "TestPause: it prints what lab run does", "demo nic": "TestNICDemo", "demo rdma": "TestRDMADemo", "lab attack": "TestAttackedFabric", "lab run": "TestPause",
	"lab worlds": "none: it takes the time of many runs", "nic show": "TestNICLab",
	"nic rdma ping": "TestNICRDMA", "nic rdma pingpong": "TestNICRDMA", "nic rdma read": "TestNICRDMA", "nic rdma send": "TestNICRDMA", "nic rdma serve": "TestNICRDMA", "nic rdma write": "TestNICRDMA",
}

// TestJSONEverywhere: every command has --json, and a table of this file, or prints no table.
func TestJSONEverywhere(t *testing.T) {
	var with, without []string
	for _, c := range leaves(t) {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		if c.Flags().Lookup("json") != nil || c.InheritedFlags().Lookup("json") != nil {
			with = append(with, name)
		} else {
			without = append(without, name)
		}
	}
	slices.Sort(with)
	slices.Sort(without)
	if !slices.Equal(without, withoutTable) {
		t.Errorf("without --json:\n%q, want\n%q", without, withoutTable)
	}
	tried := slices.Concat(slices.Collect(maps.Keys(onLab)), slices.Collect(maps.Keys(elsewhere)))
	for _, o := range offline {
		tried = append(tried, o.command)
	}
	if slices.Sort(tried); !slices.Equal(with, tried) {
		t.Errorf("with --json:\n%q, tried are\n%q", with, tried)
	}
	if _, ok := elsewhere["demo"]; !ok || len(onLab) < 20 {
		t.Error("the tables are empty")
	}
}

// wantJSON wants one value of JSON, or lines of them.
func (b *bed) wantJSON(command string, r result) {
	b.Helper()
	if r.code > 1 {
		b.Errorf("%s: exit status %d", command, r.code)
		return
	}
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	for values := 0; ; values++ {
		var v any
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) && values > 0 {
			return
		}
		if err != nil {
			b.Errorf("%s --json: value %d: %v", command, values, err)
			return
		}
		if strings.HasPrefix(command, "show ") || strings.HasPrefix(command, "pfcwd ") { // by switch
			for _, of := range v.(map[string]any) {
				b.wantOneKind(command, of)
			}
			continue
		}
		b.wantOneKind(command, v)
	}
}

// TestJSON: what commands without a lab print with --json is JSON.
func TestJSON(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays scenarios")
	}
	t.Parallel()
	b := &bed{T: t, runDir: t.TempDir()}
	dir := t.TempDir()
	files := recordings()
	files["pfc.pcap"] = pfcCapture(0)
	for _, shard := range []string{"1", "2"} {
		files[shard+".json"] = []byte(b.run(b.command("sim", "fuzz", "--n", "2", "--shard", shard+"/2")).stdout)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range offline {
		args := append(strings.Fields(o.command), "--json")
		for _, word := range strings.Fields(o.args) {
			args = append(args, strings.ReplaceAll(word, "DIR", dir))
		}
		b.wantJSON(o.command, b.run(b.command(args...)))
	}
}

// TestLabJSON: what commands print of a lab with --json is JSON.
func TestLabJSON(t *testing.T) {
	b := newBed(t)
	b.must("deploy", "pause")
	b.await("s1 logs its links", func() bool {
		_, err := b.stats("s1")
		b.noError(err)
		log, _ := os.ReadFile(filepath.Join(b.dir(), "s1", "events.jsonl")) // not there: not yet
		return len(log) > 0
	})
	for _, command := range slices.Sorted(maps.Keys(onLab)) {
		args := append(strings.Fields(command), "--json", "--name", b.name)
		b.wantJSON(command, b.run(b.command(append(args, strings.Fields(onLab[command])...)...)))
	}
}
