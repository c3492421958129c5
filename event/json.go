package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"softswitch/detect"
	"softswitch/internal/unit"
	"softswitch/itsyhdr"
)

// Node is who writes a log.
type Node struct {
	ID   unit.NodeID
	Name string
	// Ports are the names of ports 0, 1, ...; it may be shorter than the switch
	// has ports, and a name may be empty: such a port is written as its number only.
	Ports []string
}

// Log is the log of one node, oldest event first.
type Log struct {
	Node   Node
	Events []Event
	// Cut is true if the last line was cut short, as a killed switch leaves it.
	Cut bool
}

// key is a key of a line, one bit each.
type key uint32

const (
	keyTS key = 1 << iota
	keyNode
	keyID
	keyType
	keyPort
	keyPortName
	keyPriority
	keyOut
	keyOutName
	keyOutPriority
	keyPeriod
	keyBytes
	keyLimit
	keyRoute
	keyStep
	keyLabel
	keyTrigger
	keyOnLoop

	keyHead   = keyTS | keyNode | keyID | keyType
	keyBucket = keyPort | keyPriority
	keyQueue  = keyOut | keyOutPriority
)

// keyNames are in the order of the bits, which is the order of a line.
var keyNames = [...]string{
	"ts", "node", "id", "type", "port", "port_name", "priority", "out", "out_name", "out_priority",
	"period", "bytes", "limit", "route", "step", "label", "trigger", "on_loop",
}

func (k key) String() string {
	var names []string
	for ; k != 0; k &= k - 1 {
		names = append(names, keyNames[bits.TrailingZeros32(uint32(k))])
	}
	return strings.Join(names, ", ")
}

// shape is which keys a type of event has, besides keyHead: need are always
// there, may can be.
type shape struct {
	name      string
	need, may key
}

var shapes = [...]shape{
	XOFF:          {"xoff", keyBucket | keyQueue | keyPeriod | keyBytes | keyLimit, 0},
	XON:           {"xon", keyBucket | keyPeriod | keyBytes, 0},
	PauseSent:     {"pause_sent", keyBucket | keyPeriod, 0},
	ResumeSent:    {"resume_sent", keyBucket | keyPeriod, 0},
	RefreshSent:   {"refresh_sent", keyBucket | keyPeriod, 0},
	Paused:        {"paused", keyQueue, keyPeriod},
	Resumed:       {"resumed", keyQueue, 0},
	Expired:       {"expired", keyQueue, 0},
	Held:          {"held", keyBucket | keyQueue | keyBytes | keyLimit, 0},
	StrongCreated: {"strong_created", keyBucket | keyQueue | keyBytes | keyLimit, 0},
	StrongRemoved: {"strong_removed", keyBucket | keyQueue | keyBytes | keyLimit, 0},
	Trace:         {"trace", keyStep | keyLabel, keyBucket | keyQueue},
	Deadlock:      {"deadlock", keyBucket | keyQueue | keyLabel | keyTrigger | keyOnLoop, 0},
	LinkUp:        {"link_up", keyPort, 0},
	LinkDown:      {"link_down", keyPort, 0},
	Rerouted:      {"rerouted", keyOut | keyRoute, 0},
}

// lastStep is the highest step that has a name.
const lastStep = detect.StepVerify

var kindNames = [...]string{
	itsyhdr.KindPeriod:        "period",
	itsyhdr.KindChecking:      "checking",
	itsyhdr.KindTemporalCheck: "temporal_check",
	itsyhdr.KindLabel:         "label",
}

// String is the type's name in a log.
func (t Type) String() string {
	if t == 0 || int(t) >= len(shapes) {
		return "type-" + strconv.Itoa(int(t))
	}
	return shapes[t].name
}

// Append appends e to dst as one line of n's log, with its newline, and returns
// the longer slice. It allocates only if dst is too short; 512 bytes are enough
// for names of ordinary length.
//
// It writes the fields that count for e's type and no others: a Trace without
// queue or bucket (Port or Out is unit.NoPort) has no such key. A type without a
// name is a fault of the program and panics.
func (n Node) Append(dst []byte, e Event) []byte {
	if e.Type == 0 || int(e.Type) >= len(shapes) {
		panic(fmt.Sprintf("event: no type %d: 1 (xoff) to %d (rerouted)", e.Type, Rerouted))
	}
	has := shapes[e.Type].need | present(e)
	dst = appendInt(append(dst, '{'), "ts", int64(e.At))
	dst = appendText(dst, `,"node":`, n.Name)
	dst = appendInt(append(dst, ','), "id", int64(n.ID))
	dst = appendText(dst, `,"type":`, shapes[e.Type].name)
	if has&keyPort != 0 {
		dst = n.appendPort(dst, "port", "port_name", e.Port)
	}
	if has&keyPriority != 0 {
		dst = appendInt(append(dst, ','), "priority", int64(e.Class))
	}
	if has&keyOut != 0 {
		dst = n.appendPort(dst, "out", "out_name", e.Out)
	}
	if has&keyOutPriority != 0 {
		dst = appendInt(append(dst, ','), "out_priority", int64(e.OutClass))
	}
	if has&keyPeriod != 0 {
		dst = appendInt(append(dst, ','), "period", int64(e.Period))
	}
	if has&keyBytes != 0 {
		dst = appendInt(append(dst, ','), "bytes", int64(e.Bytes))
	}
	if has&keyLimit != 0 {
		dst = appendInt(append(dst, ','), "limit", int64(e.Limit))
	}
	if has&keyRoute != 0 {
		dst = appendInt(append(dst, ','), "route", int64(e.Bytes))
	}
	if has&keyStep != 0 {
		dst = appendText(dst, `,"step":`, e.Step.String())
	}
	if has&keyLabel != 0 {
		dst = appendLabel(append(dst, `,"label":`...), e.Label)
	}
	if has&keyTrigger != 0 {
		dst = appendNodePort(append(dst, `,"trigger":`...), e.Trigger)
	}
	if has&keyOnLoop != 0 {
		dst = strconv.AppendBool(append(dst, `,"on_loop":`...), e.OnLoop)
	}
	return append(dst, "}\n"...)
}

// present is which of the keys that e's type may have e has.
func present(e Event) (has key) {
	if e.HasPeriod {
		has |= keyPeriod
	}
	if e.Port != unit.NoPort {
		has |= keyBucket
	}
	if e.Out != unit.NoPort {
		has |= keyQueue
	}
	return has & shapes[e.Type].may
}

func (n Node) appendPort(dst []byte, number, name string, p unit.Port) []byte {
	dst = appendInt(append(dst, ','), number, int64(p))
	if int(p) >= len(n.Ports) || n.Ports[p] == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return appendText(dst, "", n.Ports[p])
}

func appendInt(dst []byte, name string, v int64) []byte {
	dst = append(append(append(dst, '"'), name...), `":`...)
	return strconv.AppendInt(dst, v, 10)
}

// appendText appends s as a JSON string (RFC 8259, section 7) after the raw
// bytes of prefix. What is not UTF-8 becomes U+FFFD.
func appendText(dst []byte, prefix, s string) []byte {
	dst = append(append(dst, prefix...), '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

func appendLabel(dst []byte, t itsyhdr.TLV) []byte {
	dst = append(dst, `{"kind":"`...)
	if int(t.Kind) < len(kindNames) {
		dst = append(dst, kindNames[t.Kind]...)
	} else {
		dst = strconv.AppendInt(append(dst, "kind-"...), int64(t.Kind), 10)
	}
	dst = appendInt(append(dst, `",`...), "class", int64(t.Class))
	dst = appendInt(append(dst, ','), "flags", int64(t.Flags))
	dst = appendNodePort(append(dst, `,"initiator":`...), t.Initiator)
	dst = appendInt(append(dst, ','), "seq", int64(t.Seq))
	dst = appendNodePort(append(dst, `,"trigger":`...), t.Trigger)
	dst = appendInt(append(dst, ','), "hops", int64(t.Hops))
	dst = appendInt(append(dst, ','), "period", int64(t.Period))
	if t.Auth != 0 {
		// A string: a JSON number of 64 bits loses digits in many readers.
		dst = append(dst, `,"auth":"`...)
		for shift := 60; shift >= 0; shift -= 4 {
			dst = append(dst, "0123456789abcdef"[t.Auth>>shift&15])
		}
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

func appendNodePort(dst []byte, np unit.NodePort) []byte {
	dst = appendInt(append(dst, '{'), "node", int64(np.Node))
	dst = appendInt(append(dst, ','), "port", int64(np.Port))
	return append(dst, '}')
}

// Decode reads the log of one node. It is strict: each line is one JSON object
// with exactly the keys of its type (any order, port names optional), every
// number in range, every line of the same node, ts never going back.
//
// The last line of a switch that was killed may be cut short, which shows in a
// missing newline. With allowCut such a line is left out, or read if nothing but
// the newline is missing, and Log.Cut is set; without, it is an error.
//
// An error names file:line, the key, the value and what would be valid; the Log
// then holds the events before that line.
func Decode(file string, data []byte, allowCut bool) (Log, error) {
	d := decoder{names: make(map[string]string)}
	for line := 1; len(data) > 0; line++ {
		text, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		if !whole {
			if !allowCut {
				return d.log, fmt.Errorf("%s:%d: cut short: the last line has no newline", file, line)
			}
			d.log.Cut = true
		}
		err := d.line(text)
		if err != nil && !whole {
			break
		}
		if err != nil {
			return d.log, fmt.Errorf("%s:%d: %w", file, line, err)
		}
	}
	return d.log, nil
}

type decoder struct {
	log   Log
	names map[string]string // one string for a name that every line repeats
}

// line reads one line into the log; on an error the log has not changed.
func (d *decoder) line(text []byte) error {
	s := scanner{b: text, names: d.names}
	e, who, err := s.event()
	if err != nil {
		return err
	}
	if err := d.checkNode(who); err != nil {
		return err
	}
	if n := len(d.log.Events); n > 0 && e.At < d.log.Events[n-1].At {
		return fmt.Errorf("ts: %d: goes back: the line before has %d", e.At, d.log.Events[n-1].At)
	}
	if err := d.namePort(who.portName, e.Port); err != nil {
		return err
	}
	if err := d.namePort(who.outName, e.Out); err != nil {
		return err
	}
	d.log.Node.ID, d.log.Node.Name = who.id, who.name
	d.log.Events = append(d.log.Events, e)
	return nil
}

func (d *decoder) checkNode(who whose) error {
	n := d.log.Node
	if len(d.log.Events) > 0 && (n.ID != who.id || n.Name != who.name) {
		return fmt.Errorf("node: %q, id %d: this is the log of %q, id %d", who.name, who.id, n.Name, n.ID)
	}
	return nil
}

func (d *decoder) namePort(name string, p unit.Port) error {
	if name == "" {
		return nil
	}
	ports := &d.log.Node.Ports
	for int(p) >= len(*ports) {
		*ports = append(*ports, "")
	}
	if old := (*ports)[p]; old != "" && old != name {
		return fmt.Errorf("port %d: named %q, before %q", p, name, old)
	}
	(*ports)[p] = name
	return nil
}

// whose are the fields of a line that Event does not hold.
type whose struct {
	id                      unit.NodeID
	name, portName, outName string
}

// scanner reads the JSON of one line.
type scanner struct {
	b     []byte
	i     int
	names map[string]string
}

var errEnd = errors.New("not a whole JSON object")

// event reads the object that is the whole line.
func (s *scanner) event() (e Event, who whose, err error) {
	e.Port, e.Out = unit.NoPort, unit.NoPort
	var has key
	err = s.object(func(name string) error {
		k, err := s.eventKey(name, &e, &who)
		has |= k
		return err
	})
	if err != nil {
		return e, who, err
	}
	if s.space(); s.i != len(s.b) {
		return e, who, fmt.Errorf("%q after the object", short(s.b[s.i:]))
	}
	if has&keyType == 0 {
		return e, who, errors.New("type: missing")
	}
	if err := checkKeys(e.Type, has); err != nil {
		return e, who, err
	}
	e.HasPeriod = e.Type == Paused && has&keyPeriod != 0
	// What a type does not have is zero; only a Trace may lack queue or bucket.
	if e.Type != Trace {
		if has&keyPort == 0 {
			e.Port = 0
		}
		if has&keyOut == 0 {
			e.Out = 0
		}
	}
	return e, who, nil
}

func checkKeys(t Type, has key) error {
	sh := shapes[t]
	need := sh.need | keyHead
	may := need | sh.may
	if may&keyPort != 0 {
		may |= keyPortName
	}
	if may&keyOut != 0 {
		may |= keyOutName
	}
	for _, pair := range [...]key{keyBucket, keyQueue} { // both or none
		if sh.may&pair == pair && has&pair != 0 {
			need |= pair
		}
	}
	if has&keyPortName != 0 {
		need |= keyPort
	}
	if has&keyOutName != 0 {
		need |= keyOut
	}
	if missing := need &^ has; missing != 0 {
		return fmt.Errorf("%s: missing from a line of type %s", missing, t)
	}
	if extra := has &^ may; extra != 0 {
		return fmt.Errorf("%s: not on a line of type %s, which has %s", extra, t, may)
	}
	return nil
}

// eventKey reads the value of one key of a line.
func (s *scanner) eventKey(name string, e *Event, who *whose) (k key, err error) {
	switch name {
	case "ts":
		return keyTS, number(s, name, 0, math.MaxInt64, &e.At)
	case "node":
		who.name, err = s.name(name)
		return keyNode, err
	case "id":
		return keyID, number(s, name, 1, math.MaxUint16, &who.id)
	case "type":
		e.Type, err = s.eventType()
		return keyType, err
	case "port":
		return keyPort, number(s, name, 0, unit.MaxPorts-1, &e.Port)
	case "port_name":
		who.portName, err = s.name(name)
		return keyPortName, err
	case "priority":
		return keyPriority, number(s, name, 0, unit.Priorities-1, &e.Class)
	case "out":
		return keyOut, number(s, name, 0, unit.MaxPorts-1, &e.Out)
	case "out_name":
		who.outName, err = s.name(name)
		return keyOutName, err
	case "out_priority":
		return keyOutPriority, number(s, name, 0, unit.Priorities-1, &e.OutClass)
	case "period":
		return keyPeriod, number(s, name, 0, math.MaxUint8, &e.Period)
	case "bytes":
		return keyBytes, number(s, name, 0, math.MaxInt32, &e.Bytes)
	case "limit":
		return keyLimit, number(s, name, 0, math.MaxInt32, &e.Limit)
	case "route":
		return keyRoute, number(s, name, 0, math.MaxInt32, &e.Bytes)
	case "step":
		e.Step, err = s.step()
		return keyStep, err
	case "label":
		e.Label, err = s.label()
		return keyLabel, err
	case "trigger":
		e.Trigger, err = s.nodePort(name)
		return keyTrigger, err
	case "on_loop":
		e.OnLoop, err = s.bool(name)
		return keyOnLoop, err
	}
	return 0, fmt.Errorf("unknown key %q: want %s", name, key(1<<len(keyNames)-1))
}

func (s *scanner) eventType() (Type, error) {
	name, err := s.text()
	if err != nil {
		return 0, fmt.Errorf("type: %w", err)
	}
	var names []string
	for t := XOFF; int(t) < len(shapes); t++ {
		if shapes[t].name == name {
			return t, nil
		}
		names = append(names, shapes[t].name)
	}
	return 0, fmt.Errorf("type: %q: want %s", name, strings.Join(names, ", "))
}

func (s *scanner) step() (detect.Step, error) {
	name, err := s.text()
	if err != nil {
		return 0, fmt.Errorf("step: %w", err)
	}
	var names []string
	for st := detect.StepMint; st <= lastStep; st++ {
		if st.String() == name {
			return st, nil
		}
		names = append(names, st.String())
	}
	return 0, fmt.Errorf("step: %q: want %s", name, strings.Join(names, ", "))
}

func (s *scanner) label() (t itsyhdr.TLV, err error) {
	seen := 0
	err = s.object(func(name string) (err error) {
		seen++
		switch name {
		case "kind":
			t.Kind, err = s.kind()
			return err
		case "class":
			return number(s, "label.class", 0, unit.Priorities-1, &t.Class)
		case "flags":
			return number(s, "label.flags", 0, 31, &t.Flags)
		case "initiator":
			t.Initiator, err = s.nodePort("label.initiator")
			return err
		case "seq":
			return number(s, "label.seq", 0, math.MaxUint16, &t.Seq)
		case "trigger":
			t.Trigger, err = s.nodePort("label.trigger")
			return err
		case "hops":
			return number(s, "label.hops", 0, math.MaxUint8, &t.Hops)
		case "period":
			return number(s, "label.period", 0, math.MaxUint8, &t.Period)
		case "auth":
			seen-- // the only one that may be missing
			t.Auth, err = s.auth()
			return err
		}
		return fmt.Errorf("label: unknown key %q: want kind, class, flags, initiator, seq, trigger, hops, period, auth", name)
	})
	if err == nil && seen != 8 { // object refuses a key that comes twice
		err = fmt.Errorf("label: %d keys: want kind, class, flags, initiator, seq, trigger, hops, period and perhaps auth", seen)
	}
	return t, err
}

func (s *scanner) kind() (itsyhdr.Kind, error) {
	name, err := s.text()
	if err != nil {
		return 0, fmt.Errorf("label.kind: %w", err)
	}
	for k, known := range kindNames {
		if known == name {
			return itsyhdr.Kind(k), nil
		}
	}
	for k := len(kindNames); k < 16; k++ {
		if name == "kind-"+strconv.Itoa(k) {
			return itsyhdr.Kind(k), nil
		}
	}
	return 0, fmt.Errorf("label.kind: %q: want %s or kind-%d to kind-15", name, strings.Join(kindNames[:], ", "), len(kindNames))
}

func (s *scanner) auth() (uint64, error) {
	text, err := s.text()
	if err != nil {
		return 0, fmt.Errorf("label.auth: %w", err)
	}
	v, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 || v == 0 {
		return 0, fmt.Errorf("label.auth: %q: want 16 hexadecimal digits, not all zero", text)
	}
	return v, nil
}

func (s *scanner) nodePort(key string) (np unit.NodePort, err error) {
	seen := 0
	err = s.object(func(name string) error {
		seen++
		switch name {
		case "node":
			return number(s, key+".node", 0, math.MaxUint16, &np.Node)
		case "port":
			return number(s, key+".port", 0, unit.MaxPorts-1, &np.Port)
		}
		return fmt.Errorf("%s: unknown key %q: want node, port", key, name)
	})
	if err == nil && seen != 2 {
		err = fmt.Errorf("%s: want node and port", key)
	}
	return np, err
}

// object reads an object and calls value at the value of each key; a key that
// comes twice is an error.
func (s *scanner) object(value func(name string) error) error {
	if !s.take('{') {
		return errEnd
	}
	var seen []string
	for first := true; !s.take('}'); first = false {
		if !first && !s.take(',') {
			return errEnd
		}
		name, err := s.text()
		if err != nil {
			return err
		}
		for _, n := range seen {
			if n == name {
				return fmt.Errorf("key %q twice", name)
			}
		}
		seen = append(seen, name)
		if !s.take(':') {
			return errEnd
		}
		if err := value(name); err != nil {
			return err
		}
	}
	return nil
}

// number reads an integer from lo to hi into *v.
func number[T ~int64 | ~int32 | ~uint16 | ~uint8](s *scanner, key string, lo, hi int64, v *T) error {
	s.space()
	from := s.i
	for s.i < len(s.b) && (s.b[s.i] == '-' || s.b[s.i] >= '0' && s.b[s.i] <= '9') {
		s.i++
	}
	text := s.b[from:s.i]
	n, err := strconv.ParseInt(string(text), 10, 64)
	canonical := err == nil && (text[0] != '0' || len(text) == 1) && !bytes.HasPrefix(text, []byte("-0"))
	if !canonical || n < lo || n > hi {
		return fmt.Errorf("%s: %s: want an integer, %d to %d", key, short(s.b[from:]), lo, hi)
	}
	*v = T(n)
	return nil
}

func (s *scanner) bool(key string) (bool, error) {
	s.space()
	for _, v := range [...]bool{true, false} {
		if text := strconv.FormatBool(v); bytes.HasPrefix(s.b[s.i:], []byte(text)) {
			s.i += len(text)
			return v, nil
		}
	}
	return false, fmt.Errorf("%s: %s: want true or false", key, short(s.b[s.i:]))
}

// name reads a string that is not empty.
func (s *scanner) name(key string) (string, error) {
	text, err := s.text()
	if err == nil && text == "" {
		err = errors.New("empty name")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	return text, nil
}

// text reads a string.
func (s *scanner) text() (string, error) {
	if s.space(); s.i >= len(s.b) {
		return "", errEnd
	}
	if s.b[s.i] != '"' {
		return "", fmt.Errorf("%s: want a string", short(s.b[s.i:]))
	}
	from, escaped := s.i, false
	for s.i++; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case '\\':
			escaped = true
			s.i++
		case '"':
			s.i++
			return s.unquote(s.b[from:s.i], escaped)
		}
	}
	return "", errEnd
}

func (s *scanner) unquote(quoted []byte, escaped bool) (string, error) {
	inner := quoted[1 : len(quoted)-1]
	if known, ok := s.names[string(inner)]; ok && !escaped {
		return known, nil
	}
	if !utf8.Valid(inner) {
		return "", fmt.Errorf("%s: not UTF-8", short(quoted))
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return "", fmt.Errorf("%s: not a JSON string", short(quoted))
	}
	// Keys and names are few; the bound holds against a file that is not a log.
	if !escaped && len(s.names) < 4096 {
		s.names[text] = text
	}
	return text, nil
}

func (s *scanner) take(c byte) bool {
	if s.space(); s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

// short is the start of b, for an error.
func short(b []byte) string {
	if i := bytes.IndexAny(b, ",}"); i > 0 {
		b = b[:i]
	}
	if len(b) > 40 {
		b = b[:40]
	}
	return strings.ToValidUTF8(string(b), "\ufffd")
}
