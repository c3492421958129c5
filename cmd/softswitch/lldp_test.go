package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"softswitch/internal/testkit"
)

// TestLLDPD: a switch and lldpd at the other end of a veth know each other, and a mismatch of the
// lossless priorities that lldpd is told to say is told.
func TestLLDPD(t *testing.T) {
	b := newBed(t, "lldpd", "lldpcli")
	here, there := testkit.NewNamespace(t), testkit.NewNamespace(t)
	here.Veth("p0", there, "far0")
	dir := t.TempDir()
	// lldpd makes its socket as another user.
	for d := dir; strings.Contains(d, t.Name()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file, events, socket := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "events"), filepath.Join(dir, "s.sock")
	text := fmt.Sprintf(`
name: leaf1
id: 1
ports: [{name: p0, rate: 100Mbit/s, peer: switch}]
lldp: {interval: 1s}
scheduler: {0: {type: dwrr, weight: 1}, 1: {type: dwrr, weight: 3}, 2: {type: strict}, 3: {type: strict}, 4: {type: strict}, 5: {type: strict}, 6: {type: strict}, 7: {type: strict}}
live: {control: %s, events: %s}
`, socket, events)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	startIn := func(ns *testkit.Namespace, name string, args ...string) (s *started) {
		t.Helper()
		if err := ns.Do(func() error { s = b.start(b.program(name, args...)); return nil }); err != nil {
			t.Fatal(err)
		}
		return s
	}
	daemon := filepath.Join(dir, "l.sock")
	lldpd := startIn(there, "lldpd", "-d", "-u", daemon, "-I", "far0")
	lldpd.await("lldpd should resume operations")
	tell := func(args ...string) {
		t.Helper()
		if r := b.run(b.program("lldpcli", append([]string{"-u", daemon}, args...)...)); r.code != 0 {
			t.Fatalf("lldpcli: exit status %d", r.code)
		}
	}
	tell("configure", "lldp", "tx-interval", "1")
	watch := startIn(there, "lldpcli", "-u", daemon, "watch", "details")
	ours := startIn(here, "softswitch", "run", "-c", file)
	ours.await("leaf1: detector none")

	for _, want := range []string{
		"SysName:      leaf1", "Capability:   Bridge, on", "PortID:       ifname p0", "TTL:          5",
		"OUI: 00,80,C2, SubType: 9, Len: 21 00,01,23,45,67,19,4B,00,00,00,00,00,00,02,02,00,00,00,00,00,00",
		"OUI: 00,80,C2, SubType: 11, Len: 2 08,18", "OUI: 00,80,C2, SubType: 12, Len: 4 00,63,12,B7",
	} {
		watch.await(want)
	}
	logged := func(what string) {
		t.Helper()
		b.await(what+" in the log", func() bool {
			log, _ := os.ReadFile(events)
			return strings.Contains(string(log), what)
		})
	}
	logged(`"lldp_neighbor"`)
	tell("configure", "lldp", "custom-tlv", "oui", "00,80,c2", "subtype", "11", "oui-info", "08,08")
	tell("configure", "lldp", "custom-tlv", "oui", "00,80,c2", "subtype", "12", "oui-info", "00,83,12,B7")
	tell("update")
	logged(`"type":"dcbx_mismatch","port":0,"port_name":"p0","feature":"pfc","own":24,"peer":8`)
	logged(`"type":"dcbx_mismatch","port":0,"port_name":"p0","feature":"app","own":8,"peer":16`)
	if r := b.run(b.command("show", "lldp", "neighbors", "--socket", socket)); r.code != 0 || !strings.Contains(r.stdout, "far0") {
		t.Errorf("neighbors: exit status %d", r.code)
	}
	if r := b.run(b.command("show", "lldp", "dcbx", "--socket", socket)); r.code != 0 || !strings.Contains(r.stdout, "MISMATCH: PFC") {
		t.Errorf("dcbx: exit status %d", r.code)
	}
	// Each says goodbye, so that nobody waits for its time to live.
	ours.signal(os.Interrupt)
	if r := ours.end(); r.code != 0 {
		t.Errorf("run: exit status %d", r.code)
	}
	watch.await("LLDP neighbor deleted")
	events = filepath.Join(dir, "again")
	again := filepath.Join(dir, "again.yaml")
	if err := os.WriteFile(again, []byte(text[:strings.LastIndex(text, "events: ")]+"events: "+events+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ours = startIn(here, "softswitch", "run", "-c", again)
	logged(`"dcbx_mismatch"`)
	lldpd.signal(syscall.SIGTERM)
	lldpd.end()
	logged(`"lldp_neighbor_gone"`)
	logged(`"dcbx_agreed"`)
	ours.signal(os.Interrupt)
	if r := ours.end(); r.code != 0 {
		t.Errorf("run: exit status %d", r.code)
	}
}
