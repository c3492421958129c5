package wireshark_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"softswitch/detect/itsy"
	"softswitch/detect/shpiner"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/link/pcapng"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// frame is a frame of a capture and where it was captured.
type frame struct {
	pcapng.Packet
	want string // what tshark should print of it, by the fields of a test
}

func writeCapture(t *testing.T, frames []frame) (file string) {
	t.Helper()
	return writeCaptureOn(t, []pcapng.Interface{{Name: "core0:to-agg0", Description: "switch 5 port 2"}}, frames)
}

func writeCaptureOn(t *testing.T, interfaces []pcapng.Interface, frames []frame) (file string) {
	t.Helper()
	var b bytes.Buffer
	w, err := pcapng.NewWriter(&b, "test", "")
	for _, in := range interfaces {
		if err == nil {
			_, err = w.AddInterface(in)
		}
	}
	for _, f := range frames {
		if err == nil {
			err = w.WritePacket(f.Packet)
		}
	}
	if err == nil {
		err = w.Flush()
	}
	file = filepath.Join(t.TempDir(), "frames.pcapng")
	if err == nil {
		err = os.WriteFile(file, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// tshark prints fields of every frame of file, as the dissector makes them: a line a
// frame, tabs between the fields and commas between values of one. A field that begins with
// "-o " is a preference.
func tshark(t *testing.T, file string, fields ...string) []string {
	t.Helper()
	path, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed (Debian package tshark)")
	}
	args := []string{"-n", "-X", "lua_script:itsy.lua", "-r", file, "-T", "fields"}
	for _, f := range fields {
		if option, value, ok := strings.Cut(f, " "); ok {
			args = append(args, option, value)
			continue
		}
		args = append(args, "-e", f)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.Contains(strings.ToLower(stderr.String()), "lua") {
		t.Fatalf("tshark: %v: %s", err, &stderr)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// wantLines compares what tshark prints of each frame.
func wantLines(t *testing.T, got []string, frames []frame) {
	t.Helper()
	if len(got) != len(frames) {
		t.Fatalf("tshark prints %d lines for %d frames", len(got), len(frames))
	}
	for i, f := range frames {
		if got[i] != f.want {
			t.Errorf("frame %d: %x\ntshark %q\nwant   %q", i+1, f.Data, got[i], f.want)
		}
	}
}

var src = [6]byte{2, 0, 0, 0, 0, 5}

func message(payload []byte) []byte {
	b := []byte(itsyhdr.MessageAddress)
	b = append(b, src[:]...)
	b = binary.BigEndian.AppendUint16(b, itsyhdr.MessageEtherType)
	b = append(b, payload...)
	for len(b) < itsyhdr.MessageLen {
		b = append(b, 0)
	}
	return b
}

func pfc(enable unit.PrioritySet, padding []byte) []byte {
	b := make([]byte, pfcframe.Len)
	copy(pfcframe.Put(b, pfcframe.Frame{Src: src, Enable: enable, Quanta: [8]uint16{3: 65535}}), padding)
	return b
}

func tlv(t itsyhdr.TLV) []byte {
	b := make([]byte, itsyhdr.Len)
	itsyhdr.Put(b, t)
	return b
}

func randomTLV(r *rand.Rand) itsyhdr.TLV {
	port := func() unit.NodePort {
		return unit.NodePort{Node: unit.NodeID(r.IntN(1 << 16)), Port: unit.Port(r.IntN(unit.MaxPorts))}
	}
	t := itsyhdr.TLV{
		Kind: itsyhdr.Kind(r.IntN(int(itsyhdr.KindFound) + 1)), Priority: unit.Priority(r.IntN(8)), Flags: uint8(r.IntN(32)),
		Initiator: port(), Seq: uint16(r.Uint32()), Hops: uint8(r.Uint32()), Period: uint8(r.Uint32()),
	}
	if r.IntN(2) == 0 {
		t.Trigger = port()
	}
	if r.IntN(4) == 0 {
		t.Auth = r.Uint64()
	}
	return t
}

// damage spoils an octet of b or none: mostly one of the first, which say what b is.
func damage(r *rand.Rand, b []byte) []byte {
	switch r.IntN(3) {
	case 0:
		b[r.IntN(min(len(b), 16))] ^= 1 << r.IntN(8)
	case 1:
		b[r.IntN(len(b))] = uint8(r.Uint32())
	}
	return b
}

// itsyFields are what fieldsOf has in that order.
var itsyFields = []string{
	"itsy.kind", "itsy.priority", "itsy.flags", "itsy.initiator.node", "itsy.initiator.port", "itsy.seq", "itsy.trigger.node",
	"itsy.trigger.port", "itsy.hops", "itsy.period", "itsy.auth", "_ws.col.Info", "_ws.expert.message",
}

func fieldsOf(t itsyhdr.TLV, before, expert string) string {
	return fmt.Sprintf("%d\t%d\t0x%02x\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t0x%016x\t%s%v\t%s", uint8(t.Kind), t.Priority, t.Flags, t.Initiator.Node, t.Initiator.Port,
		t.Seq, t.Trigger.Node, t.Trigger.Port, t.Hops, t.Period, t.Auth, before, t, expert)
}

// pauseInfo is what the list of frames shows of a PFC frame before its TLV.
const pauseInfo = "Class Based Flow Control [CBFC] Pause; "

// reason is an error of ours as the dissector says it: without the package.
func reason(err error) string {
	_, text, _ := strings.Cut(err.Error(), ": ")
	if err == itsyhdr.ErrKind {
		return fmt.Sprintf("unknown kind; want 0 (period) to %d (%v)", uint8(itsyhdr.KindHello), itsyhdr.KindHello)
	}
	return text
}

// TestAsTheSwitchReadsIt: of random frames, whole and damaged, the dissector shows what
// package itsyhdr reads, and refuses what it refuses for the same reason.
func TestAsTheSwitchReadsIt(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	var frames []frame
	whole, refused := 0, map[error]int{}
	for drawn := 0; drawn < 4000 || len(refused) < 6 && drawn < 100_000; drawn++ { // some kinds of damage are rare
		padding := damage(r, tlv(randomTLV(r)))
		got, err := itsyhdr.Parse(padding)
		f, before := frame{Packet: pcapng.Packet{Data: message(padding)}}, ""
		if r.IntN(2) == 0 {
			f.Data, before = pfc(0xff, padding), pauseInfo
		}
		if err == itsyhdr.ErrSubtype && (padding[5] == shpiner.Subtype || itsy.IsMessage(padding)) {
			continue // TestCLCM, TestDiagnosis
		}
		f.want = fieldsOf(got, before, note(got))
		if err != nil {
			f.want = reason(err)
			refused[err]++
		} else {
			whole++
		}
		frames = append(frames, f)
	}
	if whole < 1000 || len(refused) < 6 {
		t.Fatalf("only %d whole frames, and refused %v", whole, refused)
	}
	got := tshark(t, writeCapture(t, frames), itsyFields...)
	for i := range got { // of what is refused, what counts is why
		if i < len(frames) && !strings.Contains(frames[i].want, "\t") {
			got[i] = got[i][strings.LastIndex(got[i], "\t")+1:]
		}
	}
	wantLines(t, got, frames)
}

// note is the expert information of a TLV that is whole.
func note(t itsyhdr.TLV) string {
	if t.Kind == itsyhdr.KindLabel && t.Seq != 0 && t.Flags&4 != 0 {
		return "The label's owner has declared a deadlock"
	}
	return ""
}

// TestNothingToShow: frames without a TLV look as they do without the dissector.
func TestNothingToShow(t *testing.T) {
	data := message(tlv(itsyhdr.TLV{Kind: itsyhdr.KindLabel}))
	copy(data, "\x02\x00\x00\x00\x00\x09") // EtherType 0x88b5, but not to the nearest bridge
	pause := pfc(0, nil)
	pause[15] = 1 // 802.3x
	frames := []frame{
		{pcapng.Packet{Data: pfc(8, nil)}, "MAC CTRL\t\t\teth:ethertype:itsy_chain:macc"},
		{pcapng.Packet{Data: pause}, "MAC CTRL\t\t\teth:ethertype:itsy_chain:macc"},
		{pcapng.Packet{Data: data}, "0x88b5\t\t\teth:ethertype:data"},
	}
	wantLines(t, tshark(t, writeCapture(t, frames), "_ws.col.Protocol", "itsy", "_ws.expert.message", "frame.protocols"), frames)
}

// TestColumns: what the list of frames shows.
func TestColumns(t *testing.T) {
	label := itsyhdr.TLV{
		Kind: itsyhdr.KindLabel, Priority: 3, Flags: 1, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9,
		Trigger: unit.NodePort{Node: 7, Port: 1}, Hops: 3, Period: 12, Auth: 0xabc,
	}
	period := itsyhdr.TLV{Priority: 3, Period: 1}
	cut := message(tlv(label))[:30]
	share, none := label, itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Period: 12}
	share.Flags, share.Hops = itsyhdr.FlagHost, 224
	named := func(text string) string { return strings.Replace(text, "from 5.2", "from core0:to-agg0 (5.2)", 1) } // interface 0
	frames := []frame{
		{pcapng.Packet{Data: pfc(8, tlv(share))}, "PFC+ITSY\t" + pauseInfo + named(share.String())},
		{pcapng.Packet{Data: pfc(8, tlv(none))}, "PFC+ITSY\t" + pauseInfo + none.String()},
		{pcapng.Packet{Data: pfc(8, tlv(label))}, "PFC+ITSY\t" + pauseInfo + named(label.String())},
		{pcapng.Packet{Data: pfc(8, tlv(period))}, "PFC+ITSY\t" + pauseInfo + period.String()},
		{pcapng.Packet{Data: message(tlv(label))}, "ITSY\t" + named(label.String())},
		{pcapng.Packet{Data: cut}, "ITSY\t [truncated; want 26 octets, there are 16]"},
		{pcapng.Packet{Data: message(shpiner.AppendElection(nil, shpiner.Election{Priority: 3, SPUID: 0xdeadbeef}))}, "CLCM\telection priority 3 SPUID deadbeef"},
		{pcapng.Packet{Data: message(itsyhdr.Rate{Priority: 3, Stage: 2}.Append(nil))}, "GFC\trate priority 3 stage 2"},
		{pcapng.Packet{Data: message(lap(3, 3, 5, 2, 9))}, named("ITSY\tlap priority 3 from 5.2 rank 9 hops 3")},
		{pcapng.Packet{Data: message(quest(3, 2, 5, 2, 9, 0x0a0b0c0d, 2))}, named("ITSY\tquest priority 3 from 5.2 rank 9 about flow 0a0b0c0d hops 2, answered")},
		{pcapng.Packet{Data: message(lap(3, 3, 5, 2, 9))[:100]}, "ITSY\t [truncated; want 417 octets, there are 86]"},
	}
	wantLines(t, tshark(t, writeCapture(t, frames), "_ws.col.Protocol", "_ws.col.Info"), frames)
}

// TestFiltersOfDocs: tshark knows every filter that docs/wireshark.md names, also if the dissector is
// loaded twice, as it is with -X where it is installed.
func TestFiltersOfDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/wireshark.md")
	if err != nil {
		t.Fatal(err)
	}
	var filters []string
	for _, m := range regexp.MustCompile("`((?:itsy|clcm|gfc)(?:\\.[a-z_]+)*)`").FindAllStringSubmatch(string(page), -1) {
		filters = append(filters, m[1])
	}
	if len(filters) < 30 {
		t.Fatalf("the page names %d filters: %v", len(filters), filters)
	}
	file := writeCapture(t, []frame{{pcapng.Packet{Data: pfc(8, nil)}, ""}})
	// What is no filter tshark names, and fails.
	if got := tshark(t, file, "-X lua_script:itsy.lua", "-Y "+strings.Join(filters, " || "), "frame.number"); got[0] != "" {
		t.Errorf("a frame without a label is found: %q", got)
	}
}

// TestExpert: what is worth a second look, and only that, is marked.
func TestExpert(t *testing.T) {
	mine := itsyhdr.TLV{Kind: itsyhdr.KindLabel, Priority: 3, Seq: 1, Initiator: unit.NodePort{Node: 5, Port: 1}} // interface 0 is of switch 5
	others := mine
	others.Initiator.Node = 6
	declared := others
	declared.Flags = 4
	unlabelled := mine
	unlabelled.Seq = 0
	frames := []frame{
		{pcapng.Packet{Data: pfc(8, tlv(mine)), Direction: pcapng.Inbound}, "The label of 5.1 came home"},
		{pcapng.Packet{Data: pfc(8, tlv(mine)), Direction: pcapng.Outbound}, ""},
		{pcapng.Packet{Data: pfc(8, tlv(mine))}, ""},
		{pcapng.Packet{Data: pfc(8, tlv(others)), Direction: pcapng.Inbound}, ""},
		{pcapng.Packet{Data: pfc(8, tlv(unlabelled)), Direction: pcapng.Inbound}, ""},
		{pcapng.Packet{Data: pfc(8, tlv(declared)), Direction: pcapng.Inbound}, "The label's owner has declared a deadlock"},
		{pcapng.Packet{Data: pfc(0x10, tlv(others))}, "The frame does not speak of the TLV's priority"},
		{pcapng.Packet{Data: append(message(tlv(others)), 0)}, "message frame longer than 60 bytes"},
		{pcapng.Packet{Data: message(tlv(others))[:58]}, "message frame shorter than 60 bytes"},
		{pcapng.Packet{Data: message(nil)}, "a message that carries nothing"},
		{pcapng.Packet{Data: pfc(8, []byte("padding of another kind"))}, "wrong TLV type; want 127"},
		{pcapng.Packet{Data: pfc(8, []byte("\xfe\x18"))}, "wrong OUI; want 02-49-54"},
	}
	file := writeCapture(t, frames)
	wantLines(t, tshark(t, file, "_ws.expert.message"), frames)

	for i, line := range tshark(t, file, "itsy.malformed", "itsy.foreign") {
		malformed, foreign, _ := strings.Cut(line, "\t")
		if (malformed != "") != (i >= 7 && i <= 9) || (foreign != "") != (i >= 10) {
			t.Errorf("frame %d is marked malformed %q, foreign %q", i+1, malformed, foreign)
		}
	}
}

// clcmWant is what tshark prints of a CLCM payload by clcmFields.
var clcmFields = []string{"clcm.kind", "clcm.priority", "clcm.phase", "clcm.spuid", "clcm.nonce", "clcm.index", "clcm.hops", "clcm.egress", "_ws.expert.message"}

func clcmWant(payload []byte) (want string, ok bool) {
	if payload[6]&0xf == 1 {
		m, err := shpiner.ParseElection(payload)
		if err != nil {
			return clcmReason(err), false
		}
		return fmt.Sprintf("1\t%d\t0\t0x%08x\t\t\t\t\t", m.Priority, m.SPUID), true
	}
	m, err := shpiner.ParsePath(payload, nil)
	if err != nil {
		return clcmReason(err), false
	}
	var spuids, ports []string
	for _, h := range m.Hops {
		spuids, ports = append(spuids, fmt.Sprintf("0x%08x", h.SPUID)), append(ports, strconv.Itoa(int(h.Egress)))
	}
	return fmt.Sprintf("2\t%d\t%d\t%s\t0x%08x\t%d\t%d\t%s\t", m.Priority, m.Phase, strings.Join(spuids, ","), m.Nonce, m.Index, len(m.Hops), strings.Join(ports, ",")), true
}

// clcmReason is the first part of what the dissector says: what is wrong.
func clcmReason(err error) string {
	what, _, _ := strings.Cut(reason(err), ";")
	return strings.Replace(what, "wrong kind", "unknown kind", 1)
}

// TestCLCM: the same for Credit Loop Control Messages and detect/shpiner.
func TestCLCM(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	var frames []frame
	whole, refused := 0, map[string]int{}
	for range 3000 {
		payload := randomCLCM(r)
		if !isCLCM(payload) {
			continue // to the dissector it is ITSY's
		}
		f := frame{Packet: pcapng.Packet{Data: message(payload)}}
		var ok bool
		if f.want, ok = clcmWant(f.Data[14:]); ok {
			whole++
		} else {
			refused[f.want]++
		}
		frames = append(frames, f)
	}
	if whole < 500 || len(refused) < 7 {
		t.Fatalf("only %d whole messages, and refused %v", whole, refused)
	}
	got := tshark(t, writeCapture(t, frames), clcmFields...)
	for i := range got {
		if i < len(frames) && !strings.Contains(frames[i].want, "\t") {
			got[i], _, _ = strings.Cut(got[i][strings.LastIndex(got[i], "\t")+1:], ";")
		}
	}
	wantLines(t, got, frames)
}

// lap and quest are these messages with nothing collected.
func lap(priority, hops uint8, node uint16, port uint8, rank uint16) []byte {
	b := diagnosis(417, 1, priority<<5, node, port, rank)
	b[13] = hops
	return b
}

func quest(priority, flags uint8, node uint16, port uint8, rank uint16, about uint32, hops uint8) []byte {
	b := diagnosis(121, 2, priority<<5|flags, node, port, rank)
	binary.BigEndian.PutUint32(b[13:], about)
	b[21] = hops
	return b
}

// diagnosis is the head of a message of n octets, as docs/format/itsy.md has it, and zeros.
func diagnosis(n int, kind, priorityFlags uint8, node uint16, port uint8, rank uint16) []byte {
	b := []byte{0xfe | uint8((n-2)>>8), uint8(n - 2), 0x02, 0x49, 0x54, 3, 1<<4 | kind, priorityFlags}
	b = binary.BigEndian.AppendUint16(b, node)
	b = append(b, port)
	b = binary.BigEndian.AppendUint16(b, rank)
	return append(b, make([]byte, n-len(b))...)
}

// TestDiagnosis: the same for laps and quests, whose heads are damaged, and package itsy.
func TestDiagnosis(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	var frames []frame
	whole, refused := map[string]int{}, 0
	for range 3000 {
		// Few of these fields are out of range: a switch 0, and so on.
		priority, node, port, rank := uint8(r.IntN(8)), uint16(1+r.IntN(1<<16-1)), uint8(r.IntN(unit.MaxPorts)), uint16(r.Uint32())
		if r.IntN(32) == 0 {
			node = 0
		}
		payload := lap(priority, uint8(r.Uint32()), node, port, rank)
		if r.IntN(2) == 0 {
			payload = quest(priority, uint8(r.IntN(9)), node, port, rank, r.Uint32(), uint8(r.IntN(66)))
			if r.IntN(32) == 0 {
				clear(payload[13:17])
			}
		}
		head := 14 // of a lap
		if payload[6]&0xf == 2 {
			head = 22
		}
		damage(r, payload[:head])
		if !itsy.IsMessage(payload) {
			continue // to the dissector it is another's
		}
		f := frame{Packet: pcapng.Packet{Data: message(payload)}}
		m, err := itsy.ParseMessage(payload)
		if err != nil {
			refused++
			f.want = "refused"
		} else {
			whole[m.Kind]++
			f.want = diagnosisWant(m)
		}
		frames = append(frames, f)
	}
	if whole["lap"] < 500 || whole["quest"] < 500 || refused < 100 {
		t.Fatalf("only %v whole messages, and refused %d", whole, refused)
	}
	got := tshark(
		t, writeCapture(t, frames), "itsy.priority", "itsy.diagnosis.owner.node", "itsy.diagnosis.owner.port", "itsy.diagnosis.rank", "itsy.diagnosis.about",
		"itsy.diagnosis.hops", "_ws.col.Info", "itsy.malformed",
	)
	for i := range got {
		if !strings.HasSuffix(got[i], "\t") { // malformed
			got[i] = "refused"
		}
	}
	wantLines(t, got, frames)
}

func diagnosisWant(m itsy.Message) string {
	about := ""
	if m.Kind == "quest" {
		about = fmt.Sprintf("0x%08x", uint32(m.About))
	}
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%s\t%d\t%v\t", m.Priority, m.Owner.Node, m.Owner.Port, m.Rank, about, m.Hops, m)
}

func isCLCM(b []byte) bool {
	return b[0] >= 0xfe && string(b[2:5]) == shpiner.OUI && b[5] == shpiner.Subtype
}

func randomCLCM(r *rand.Rand) []byte {
	priority := unit.Priority(r.IntN(8))
	if r.IntN(3) == 0 {
		return damage(r, shpiner.AppendElection(nil, shpiner.Election{Priority: priority, SPUID: 1 + r.Uint32N(1<<32-1)}))
	}
	m := shpiner.Path{Phase: shpiner.Phase(r.IntN(2)), Priority: priority, Nonce: r.Uint32()}
	for range 1 + r.IntN(6) {
		m.Hops = append(m.Hops, shpiner.Hop{SPUID: 1 + r.Uint32N(1<<32-1), Egress: unit.Port(r.IntN(unit.MaxPorts))})
	}
	m.Index = len(m.Hops)
	if m.Phase == shpiner.Release {
		m.Index = r.IntN(len(m.Hops))
	}
	b := shpiner.AppendPath(nil, m)
	switch r.IntN(8) {
	case 0: // a hop that is none
		at := 14 + 5*r.IntN(len(m.Hops))
		clear(b[at : at+4])
	case 1:
		b[18+5*r.IntN(len(m.Hops))] = 64
	}
	return damage(r, b)
}

// TestSnapLength: of a capture that has not kept whole frames, nothing is called
// malformed.
func TestSnapLength(t *testing.T) {
	path, err := exec.LookPath("editcap")
	if err != nil {
		t.Skip("editcap is not installed (Debian package wireshark-common)")
	}
	label := tlv(itsyhdr.TLV{Kind: itsyhdr.KindLabel, Seq: 1, Priority: 3})
	file := writeCapture(t, []frame{{Packet: pcapng.Packet{Data: message(label)}}, {Packet: pcapng.Packet{Data: pfc(8, label)}}})
	short := file + ".short"
	if out, err := exec.Command(path, "-s", "38", file, short).CombinedOutput(); err != nil {
		t.Fatalf("editcap: %v: %s", err, out)
	}
	got := tshark(t, short, "itsy.malformed", "itsy.cut")
	if want := "\t" + got[0][1:]; len(got) != 2 || got[0] != want || got[1] != want || want == "\t" {
		t.Errorf("malformed, cut: %q; want both frames cut and none malformed", got)
	}
}

// With the file of keys tags are judged, as softswitch decode judges them.
func TestAuthentication(t *testing.T) {
	const file = "# links\nother--link 000102030405060708090a0b0c0d0e0f\ns1--s2 ffeeddccbbaa99887766554433221100 2b7e151628aed2a6abf7158809cf4f3c # the old one, the new one\n"
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := auth.ParseKeys("keys", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	// Its counter's lower bits wrap with the third frame.
	far := auth.New(auth.Config{Mode: auth.Strict, Link: "s1--s2", Keys: all["s1--s2"][1:], Self: 0x020000000005, First: 0x18f009f53022fffe})
	var frames []frame
	add := func(b []byte, want string) {
		frames = append(frames, frame{pcapng.Packet{Time: 1, Data: b}, want})
	}
	pause := func() []byte {
		b := pfc(8, tlv(itsyhdr.TLV{Priority: 3, Period: 7}))
		far.Sign(b, 52)
		return b
	}
	hello := func() []byte {
		b := make([]byte, itsyhdr.MessageLen)
		far.PutHello(b, unit.NodePort{Node: 5, Port: 2}, auth.Hello{Value: 77})
		return b
	}
	changed := func(b []byte, at int) []byte {
		b[at] ^= 1
		return b
	}
	lap := make([]byte, 417+8)
	copy(lap, []byte{0xff, 0x9f, 2, 0x49, 0x54, 3, 0x11, 0x60, 0, 5, 2, 0, 9})
	long := message(lap)
	old := pause()
	add(old, "unknown\t\t")
	add(hello(), fmt.Sprint("believed\ts1--s2\t", uint64(0x18f009f53022ffff)))
	add(pause(), "believed\ts1--s2\t")
	add(old, "believed\ts1--s2\t")
	add(changed(pause(), 24), "wrong\ts1--s2\t")
	add(changed(hello(), 50), fmt.Sprint("wrong\t\t", uint64(0x18f009f530230002)))
	add(pfc(8, tlv(itsyhdr.TLV{Priority: 3, Period: 7})), "missing\t\t")
	far.Sign(long, len(long)-8)
	add(long, "believed\ts1--s2\t")
	add(changed(bytes.Clone(long), 300), "wrong\ts1--s2\t")
	got := tshark(t, writeCapture(t, frames), "-o itsy.keys:"+keys, "itsy.auth.verdict", "itsy.auth.link", "itsy.hello.counter")
	wantLines(t, got, frames)
	for i := range frames {
		frames[i].want = ""
	}
	wantLines(t, tshark(t, writeCapture(t, frames), "itsy.auth.verdict"), frames)

	w := auth.NewWitness(all)
	for i, f := range frames {
		v, _ := w.Judge(f.Data)
		if want, _, _ := strings.Cut(got[i], "\t"); v.String() != want {
			t.Errorf("frame %d: softswitch decode says %v, tshark %s", i+1, v, want)
		}
	}
}

// TestNumber: a message shows its number on the link, and a hello has none.
func TestNumber(t *testing.T) {
	var frames []frame
	for kind, want := range map[itsyhdr.Kind]string{itsyhdr.KindQuery: "4\t4711", itsyhdr.KindHello: "14\t"} {
		b := message(nil)
		itsyhdr.PutMessage(b[:itsyhdr.MessageLen], [6]byte{2, 0, 0, 0, 0, 1}, itsyhdr.TLV{Kind: kind, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9})
		itsyhdr.PutNumber(b, 4711)
		frames = append(frames, frame{pcapng.Packet{Data: b}, want})
	}
	wantLines(t, tshark(t, writeCapture(t, frames), "itsy.kind", "itsy.number"), frames)
}
