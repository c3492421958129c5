package decode

import (
	"encoding/binary"
	"fmt"
	"net"
	"time"

	"softswitch/detect/itsy"
	"softswitch/itsyhdr"
	"softswitch/link/lldp"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Kind says what a frame is.
type Kind string

// Kinds of frame that are printed.
const (
	KindPFC       Kind = "pfc"
	KindPause     Kind = "pause"     // 802.3x
	KindITSY      Kind = "itsy"      // a message frame
	KindCLCM      Kind = "clcm"      // a message frame of Loop Breaker or Deadlock Breaker
	KindGFC       Kind = "gfc"       // a message frame of Gentle Flow Control
	KindDiagnosis Kind = "diagnosis" // a message frame with a lap or a quest
	KindLLDP      Kind = "lldp"      // to the nearest bridge
	KindMalformed Kind = "malformed"
)

// Record is what one printed frame says. It is the form of a JSON line.
type Record struct {
	Frame     int    `json:"frame"`               // its number in the capture, from 1
	Time      string `json:"time,omitempty"`      // UTC, RFC 3339 with nine digits; absent if the capture has none
	Interface string `json:"interface,omitempty"` // absent in pcap
	Src       string `json:"src,omitempty"`       // absent if the frame is too short
	SrcName   string `json:"src_name,omitempty"`  // its port's, of Options.Names
	VLAN      []Tag  `json:"vlan,omitempty"`      // outermost first
	Kind      Kind   `json:"kind"`

	Priorities []Priority `json:"priorities,omitempty"` // KindPFC: those enabled, in order
	Quanta     *uint16    `json:"quanta,omitempty"`     // KindPause: of 512 bit times, 0 to resume
	ITSY       *TLV       `json:"itsy,omitempty"`       // KindITSY, and KindPFC with a TLV in its padding
	CLCM       *CLCM      `json:"clcm,omitempty"`       // KindCLCM
	GFC        *Rate      `json:"gfc,omitempty"`        // KindGFC
	Diagnosis  *Diagnosis `json:"diagnosis,omitempty"`  // KindDiagnosis
	LLDP       *LLDP      `json:"lldp,omitempty"`       // KindLLDP
	Padding    string     `json:"padding,omitempty"`    // KindPFC: why its padding, not all zero, is no TLV
	Captured   int        `json:"captured,omitempty"`   // KindPFC, KindPause: octets that were captured, if not all; its padding is not known then
	Reason     string     `json:"reason,omitempty"`     // KindMalformed: what is wrong
	Auth       *Auth      `json:"auth,omitempty"`       // with Options.Keys

	length int                        // on the wire
	said   fmt.Stringer               // ITSY, CLCM, GFC or Diagnosis for people
	nameOf func(unit.NodePort) string // the names of ports, "" for one that is not known
}

// Auth is what a frame's tag is worth.
type Auth struct {
	Verdict string `json:"verdict"`        // an auth.Verdict
	Link    string `json:"link,omitempty"` // by which it was sent, as far as the capture has told
}

// Tag is an 802.1Q tag.
type Tag struct {
	ID       uint16 `json:"id"`
	Priority uint8  `json:"priority"`
}

// Priority is an enabled priority of a PFC frame.
type Priority struct {
	Priority unit.Priority `json:"priority"`
	Quanta   uint16        `json:"quanta"` // of 512 bit times, 0 to resume
}

// TLV is an itsyhdr.TLV as JSON has it.
type TLV struct {
	Kind      string        `json:"kind"`
	Priority  unit.Priority `json:"priority"`
	Flags     uint8         `json:"flags"`
	Initiator NodePort      `json:"initiator"`
	Seq       uint16        `json:"seq"`
	Trigger   NodePort      `json:"trigger"`
	Hops      uint8         `json:"hops"`
	Period    uint8         `json:"period"`
	Auth      string        `json:"auth,omitempty"` // 16 hexadecimal digits; absent if off
}

// NodePort is a port of a switch or host; all zero is none.
type NodePort struct {
	Node unit.NodeID `json:"node"`
	Port unit.Port   `json:"port"`
	Name string      `json:"name,omitempty"` // NODE:PORT, as far as it is known
}

func numbered(p unit.NodePort) NodePort { return NodePort{Node: p.Node, Port: p.Port} }

// tagLen is the length of an 802.1Q tag, EtherType and all.
const tagLen = 4

// isTag reports whether an EtherType is that of a customer's or a provider's tag.
func isTag(etherType uint16) bool { return etherType == 0x8100 || etherType == 0x88a8 }

const timeFormat = "2006-01-02T15:04:05.000000000Z"

// read makes the Record of f, without its number. It reports false if f is no
// flow control. It changes f: what is left is the Ethernet frame without FCS.
func read(f *captured) (Record, bool) {
	if !asEthernet(f) {
		return Record{}, false
	}
	b, tags := untag(f.data)
	control := pfcframe.IsMACControl(b)
	if !control && !itsyhdr.IsMessage(b) && !lldp.Is(b) {
		return Record{}, false
	}
	rec := Record{Interface: f.iface, VLAN: tags, Time: formatTime(f.at), length: f.length}
	if len(b) >= 12 {
		rec.Src = net.HardwareAddr(b[6:12]).String()
	}
	switch cut := f.length > len(f.data); {
	case cut && control && f.length <= pfcframe.Len+tagLen*len(tags) && timersKept(b):
		rec.Captured = len(f.data)
		rec.readControl(pfcframe.Pad(b))
	case cut:
		rec.malformed(fmt.Sprintf("only %d of its %d bytes were captured", len(f.data), f.length))
	case control:
		rec.readControl(pfcframe.Pad(b))
	case lldp.Is(b):
		rec.readLLDP(b)
	default:
		rec.readMessage(b)
	}
	return rec, true
}

// timersKept reports whether what was captured of a MAC Control frame has all of its timers, behind
// which there is only padding.
func timersKept(b []byte) bool {
	const pauseEnd = 18 // of its quanta
	if _, _, err := pfcframe.Parse(b); err == pfcframe.ErrPause {
		return len(b) >= pauseEnd
	}
	return len(b) >= pfcframe.PadOffset
}

func formatTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(timeFormat)
}

// untag takes up to two 802.1Q tags out of b, in place. MAC Control frames carry
// none by the standard, but what was captured above a VLAN device may show some. A
// tagged frame of the minimum size lacks its last octets of padding once the tag
// is gone; they are taken for zero.
func untag(b []byte) ([]byte, []Tag) {
	const minFrame = 60
	whole := len(b) >= minFrame
	var tags []Tag
	for len(tags) < 2 && len(b) >= 18 && isTag(binary.BigEndian.Uint16(b[12:])) {
		tci := binary.BigEndian.Uint16(b[14:])
		tags = append(tags, Tag{ID: tci & 0xfff, Priority: uint8(tci >> 13)})
		copy(b[tagLen:], b[:12])
		b = b[tagLen:]
	}
	for whole && len(b) < minFrame {
		b = append(b, 0)
	}
	return b, tags
}

func (rec *Record) malformed(reason string) { rec.Kind, rec.Reason = KindMalformed, reason }

func (rec *Record) readControl(b []byte) {
	f, pad, err := pfcframe.Parse(b)
	if err == pfcframe.ErrPause {
		rec.readPause(b)
		return
	}
	if err != nil {
		rec.malformed(reason(err, b))
		return
	}
	rec.Kind = KindPFC
	for c := range unit.Priority(unit.Priorities) {
		if f.Enable.Has(c) {
			rec.Priorities = append(rec.Priorities, Priority{c, f.Quanta[c]})
		}
	}
	if rec.Captured > 0 {
		return
	}
	switch t, err := itsyhdr.Parse(pad); err {
	case nil:
		rec.setTLV(t)
	case itsyhdr.ErrNone:
	default:
		rec.Padding = reason(err, pad)
	}
}

func (rec *Record) readPause(b []byte) {
	_, quanta, err := pfcframe.ParsePause(b)
	if err != nil {
		rec.malformed(reason(err, b))
		return
	}
	rec.Kind, rec.Quanta = KindPause, &quanta
}

func (rec *Record) readMessage(b []byte) {
	m, err := parseMessage(b)
	if err != nil {
		rec.malformed(reason(err, b))
		return
	}
	rec.said = m
	switch m := m.(type) {
	case *CLCM:
		rec.Kind, rec.CLCM = KindCLCM, m
	case *Rate:
		rec.Kind, rec.GFC = KindGFC, m
	case itsy.Message:
		rec.Kind, rec.Diagnosis = KindDiagnosis, newDiagnosis(m)
	case itsyhdr.TLV:
		rec.Kind = KindITSY
		rec.setTLV(m)
	}
}

// parseMessage reads what a message frame carries: a *CLCM, a *Rate, an itsy.Message or an itsyhdr.TLV.
func parseMessage(b []byte) (fmt.Stringer, error) {
	if m, ok := parseRate(b); ok {
		return m, nil
	}
	switch {
	case isCLCM(b):
		return parseCLCM(b)
	case isDiagnosis(b):
		return itsy.ParseMessage(b[offPayload:])
	}
	_, t, err := itsyhdr.ParseMessage(b)
	return t, err
}

func (rec *Record) setTLV(t itsyhdr.TLV) {
	rec.said = t
	rec.ITSY = &TLV{
		Kind: t.Kind.String(), Priority: t.Priority, Flags: t.Flags, Initiator: numbered(t.Initiator), Seq: t.Seq,
		Trigger: numbered(t.Trigger), Hops: t.Hops, Period: t.Period,
	}
	if t.Auth != 0 {
		rec.ITSY.Auth = fmt.Sprintf("%016x", t.Auth)
	}
}

// reason is err with the value that it complains of, from the frame or padding b.
func reason(err error, b []byte) string {
	switch err {
	case pfcframe.ErrShort, pfcframe.ErrLong, itsyhdr.ErrShort, itsyhdr.ErrLong:
		return fmt.Sprintf("%v; it has %d bytes", err, len(b))
	case pfcframe.ErrEtherType:
		return fmt.Sprintf("%v; it is 0x%04x", err, binary.BigEndian.Uint16(b[12:]))
	case pfcframe.ErrOpcode:
		return fmt.Sprintf("%v; it is 0x%04x", err, binary.BigEndian.Uint16(b[14:]))
	case pfcframe.ErrAddress:
		return fmt.Sprintf("%v; it is %v", err, net.HardwareAddr(b[:6]))
	case pfcframe.ErrReserved:
		return fmt.Sprintf("%v; it is 0x%02x", err, b[16])
	}
	if itsyhdr.IsMessage(b) {
		b = b[14:]
	}
	return fmt.Sprintf("%v; it begins with % x", err, b[:min(8, len(b))])
}
