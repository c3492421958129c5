package play

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"softswitch/conform"
	"softswitch/internal/testkit"
	"softswitch/unit"
)

// sent is a control frame of a script, and what is known of it besides its bytes.
type sent struct {
	where string
	frame conform.Frame
	// set and quanta are of a storm: what its case says. quanta of others is -1.
	set    unit.PrioritySet
	quanta int
}

// TestConformFrames: tshark reads every control frame of the scripts of all cases as the case says it: a pause of
// a storm by the priorities and the time of the storm, any other by its octets.
func TestConformFrames(t *testing.T) {
	testkit.Need(t, "tshark")
	var all []sent
	known := map[string]bool{}
	add := func(s sent) {
		if key := string(s.frame) + fmt.Sprint(s.set, s.quanta); !known[key] {
			known[key] = true
			all = append(all, s)
		}
	}
	cases := map[string]bool{}
	playAll(t, func(task *conform.Task, o conform.Outcome) {
		for _, r := range o.Trials {
			for _, f := range r.Script.Trains {
				cases[o.ID] = true
				where := fmt.Sprintf("%s: %s: train %s", o.ID, r.Script.Title, f.Name)
				quanta := -1
				if f.Pause > 0 {
					quanta = int(f.Pause / task.Quanta(f.Port, 1))
				}
				for _, frame := range f.Frames {
					add(sent{where, frame, f.Set, quanta})
				}
				if f.Last != nil {
					add(sent{where + ", its last", f.Last, f.Set, map[bool]int{true: 0, false: -1}[f.Pause > 0]})
				}
			}
			for i, f := range r.Script.Receivers {
				for k, q := range r.Receivers[i].Quanta {
					c := r.Receivers[i].Priority[k]
					add(sent{o.ID + ": receiver " + f.Name, task.Frame(conform.Pause(1<<c, q), f.Port), 1 << c, int(q)})
				}
			}
		}
	}, nil)
	if len(all) < 10 || len(cases) < 4 {
		t.Fatalf("%d frames of %d cases", len(all), len(cases))
	}
	read := tsharkReads(t, all)
	pfc := 0
	for i, s := range all {
		if s.reads(t, read[i]) {
			pfc++
		}
	}
	if pfc < 5 {
		t.Errorf("tshark read %d PFC frames", pfc)
	}
	t.Logf("%s of %s, %d of them PFC", unit.Count(len(all), "frame"), unit.Count(len(cases), "case"), pfc)

	alarm := sent{"an alarm", all[0].frame, 0xff, 1} // the test can fail
	if alarm.differs(read[0]) == "" {
		t.Error("a pause of other priorities and another time is not seen")
	}
}

// fields are what tshark is asked for.
var fields = func() []string {
	f := []string{"eth.dst", "eth.type", "vlan.etype", "macc.opcode", "macc.cbfc.enbv", "macc.pause_time"}
	for c := range unit.Priorities {
		f = append(f, fmt.Sprintf("macc.cbfc.pause_time.c%d", c))
	}
	return f
}()

// tsharkReads writes a capture of the frames and has tshark read it: the fields of each.
func tsharkReads(t *testing.T, all []sent) (read [][]string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sent.pcap")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := pcapgo.NewWriter(f)
	if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if err := w.WritePacket(gopacket.CaptureInfo{CaptureLength: len(s.frame), Length: len(s.frame)}, s.frame); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	// A random EtherType of M09 can be FabricPath's, whose frame tshark takes for the shell of the one that it shows.
	args := []string{"--disable-protocol", "cfp", "-T", "fields", "-E", "separator=/t", "-E", "occurrence=f"}
	for _, name := range fields {
		args = append(args, "-e", name)
	}
	for _, line := range testkit.Tshark(t, file, args...) {
		cells := strings.Split(line, "\t")
		read = append(read, append(cells, make([]string, len(fields)-len(cells))...))
	}
	if len(read) != len(all) {
		t.Fatalf("tshark reads %d of %d frames", len(read), len(all))
	}
	return read
}

// reads wants tshark to have read what the case says; is reports that it is a PFC frame.
func (s *sent) reads(t *testing.T, cells []string) (is bool) {
	t.Helper()
	if wrong := s.differs(cells); wrong != "" {
		t.Errorf("%s: %x: %s", s.where, []byte(s.frame), wrong)
	}
	return cells[4] != ""
}

// differs is what tshark reads otherwise than the case says, "" for nothing.
func (s *sent) differs(cells []string) string {
	cell := map[string]string{}
	for i, name := range fields {
		cell[name] = cells[i]
	}
	b := s.frame
	number := func(text string) int {
		n, err := strconv.ParseUint(text, 0, 32)
		if err != nil {
			return -1
		}
		return int(n)
	}
	if want := fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3], b[4], b[5]); cell["eth.dst"] != want {
		return fmt.Sprintf("destination %s, want %s", cell["eth.dst"], want)
	}
	typ, at := int(binary.BigEndian.Uint16(b[12:])), 14
	if typ >= 0x600 && number(cell["eth.type"]) != typ {
		return fmt.Sprintf("EtherType %s, want %#04x", cell["eth.type"], typ)
	}
	for (typ == 0x8100 || typ == 0x88a8) && len(b) >= at+4 {
		typ = int(binary.BigEndian.Uint16(b[at+2:]))
		at += 4
	}
	if typ != 0x8808 || at > 14 && cell["macc.opcode"] == "" || len(b) < at+2 {
		if s.quanta >= 0 {
			return "it is no MAC Control frame"
		}
		return ""
	}
	opcode := int(binary.BigEndian.Uint16(b[at:]))
	if number(cell["macc.opcode"]) != opcode {
		return fmt.Sprintf("opcode %s, want %#04x", cell["macc.opcode"], opcode)
	}
	if opcode == 1 && len(b) >= at+4 && number(cell["macc.pause_time"]) != int(binary.BigEndian.Uint16(b[at+2:])) {
		return fmt.Sprintf("pause time %s", cell["macc.pause_time"])
	}
	if opcode != 0x101 || len(b) < at+20 {
		if s.quanta >= 0 {
			return fmt.Sprintf("opcode %#04x of %d bytes is no PFC frame", opcode, len(b))
		}
		return ""
	}
	vector := int(binary.BigEndian.Uint16(b[at+2:]))
	if s.quanta >= 0 {
		vector = int(s.set)
	}
	if number(cell["macc.cbfc.enbv"]) != vector {
		return fmt.Sprintf("class-enable vector %s, want %#04x", cell["macc.cbfc.enbv"], vector)
	}
	for c := range unit.Priorities {
		want := int(binary.BigEndian.Uint16(b[at+4+2*c:]))
		if s.quanta >= 0 && s.set.Has(unit.Priority(c)) { // R07 has timers where no bit is set
			want = s.quanta
		}
		if got := cell[fmt.Sprintf("macc.cbfc.pause_time.c%d", c)]; number(got) != want {
			return fmt.Sprintf("timer of priority %d: %s, want %d", c, got, want)
		}
	}
	return ""
}
