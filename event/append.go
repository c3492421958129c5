package event

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"softswitch/itsyhdr"
	"softswitch/unit"
)

// Append appends e to dst as one line of n's log, including the newline, and returns
// the longer slice. It allocates only if dst is too short; 512 bytes are enough for
// names of ordinary length.
//
// It only writes the fields that e's type uses; a Trace without queue or bucket (Port
// or Out is unit.NoPort) leaves that key out. An unknown type is a bug and panics.
func (n Node) Append(dst []byte, e Event) []byte {
	if e.Type == 0 || int(e.Type) >= len(shapes) {
		panic(fmt.Sprintf("event: no type %d: 1 (xoff) to %d (%v)", e.Type, lastType, lastType))
	}
	l := lineOf{append(dst, '{'), keyHead | shapes[e.Type].need | present(e)}
	l.int(keyTS, int64(e.At))
	l.dst = appendText(l.dst, "node", n.Name)
	l.int(keyID, int64(n.ID))
	l.choice(keyType, e.Type)
	l.port(keyPort, keyPortName, e.Port, n.Ports)
	l.int(keyPriority, int64(e.Class))
	l.port(keyOut, keyOutName, e.Out, n.Ports)
	l.int(keyOutPriority, int64(e.OutClass))
	l.int(keyPeriod, int64(e.Period))
	l.int(keyBytes, int64(e.Bytes))
	l.int(keyLimit, int64(e.Limit))
	l.int(keyRoute, int64(e.Bytes))
	l.choice(keyStep, e.Step)
	if l.has&keyLabel != 0 {
		l.dst = appendLabel(l.dst, e.Label)
	}
	if l.has&keyTrigger != 0 {
		l.dst = appendNodePort(l.dst, "trigger", e.Trigger)
	}
	l.bool(keyOnLoop, e.OnLoop)
	l.choice(keyAction, e.Action)
	l.int(keyAmount, int64(e.Bytes))
	l.choice(keyRefusal, e.Refusal)
	l.int(keyFlow, int64(e.Flow))
	l.choice(keyCause, e.Cause)
	l.int(keyRank, int64(e.Rank))
	l.int(keyConfidence, int64(e.Confidence))
	l.int(keyIn, int64(e.In))
	l.bool(keyTogether, e.Together)
	l.choice(keyWhy, e.Why)
	l.int(keyLeftOut, int64(e.Bytes))
	return append(l.dst, "}\n"...)
}

// lineOf is a line that begins, and the keys that it has. Its methods append a key that is among them.
type lineOf struct {
	dst []byte
	has key
}

func (l *lineOf) int(k key, v int64) {
	if l.has&k != 0 {
		l.dst = appendInt(l.dst, k.name(), v)
	}
}

func (l *lineOf) bool(k key, v bool) {
	if l.has&k != 0 {
		l.dst = strconv.AppendBool(appendKey(l.dst, k.name()), v)
	}
}

func (l *lineOf) choice(k key, v fmt.Stringer) {
	if l.has&k != 0 {
		l.dst = appendText(l.dst, k.name(), v.String())
	}
}

// port appends a port by number and, if it has one, by name.
func (l *lineOf) port(k, name key, p unit.Port, names []string) {
	l.int(k, int64(p))
	if l.has&k != 0 && int(p) < len(names) && names[p] != "" {
		l.dst = appendText(l.dst, name.name(), names[p])
	}
}

// present returns which of the optional keys of its type e has.
func present(e Event) (has key) {
	for _, of := range [...]struct {
		is   bool
		keys key
	}{
		{e.HasPeriod, keyPeriod},
		{e.Flow != 0, keyFlow},
		{e.In != unit.NoPort, keyIn},
		{e.Together, keyTogether},
		{e.Bytes != 0, keyLeftOut},
		{e.Port != unit.NoPort, keyBucket},
		{e.Out != unit.NoPort, keyQueue},
	} {
		if of.is {
			has |= of.keys
		}
	}
	return has & shapes[e.Type].may
}

// appendKey appends the key of a value that follows.
func appendKey(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), `":`...)
}

func appendInt(dst []byte, name string, v int64) []byte {
	return strconv.AppendInt(appendKey(dst, name), v, 10)
}

// appendText appends s as a JSON string (RFC 8259, section 7). Invalid UTF-8 becomes U+FFFD.
func appendText(dst []byte, name, s string) []byte {
	dst = append(appendKey(dst, name), '"')
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
	dst = append(appendKey(dst, "label"), `{"kind":"`...)
	if int(t.Kind) < len(kindNames) {
		dst = append(dst, kindNames[t.Kind]...)
	} else {
		dst = strconv.AppendInt(append(dst, "kind-"...), int64(t.Kind), 10)
	}
	dst = appendInt(append(dst, '"'), "class", int64(t.Class))
	dst = appendInt(dst, "flags", int64(t.Flags))
	dst = appendNodePort(dst, "initiator", t.Initiator)
	dst = appendInt(dst, "seq", int64(t.Seq))
	dst = appendNodePort(dst, "trigger", t.Trigger)
	dst = appendInt(dst, "hops", int64(t.Hops))
	dst = appendInt(dst, "period", int64(t.Period))
	if t.Auth != 0 {
		// A string: many JSON readers lose digits of a 64-bit number.
		dst = append(dst, `,"auth":"`...)
		for shift := 60; shift >= 0; shift -= 4 {
			dst = append(dst, "0123456789abcdef"[t.Auth>>shift&15])
		}
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

func appendNodePort(dst []byte, name string, np unit.NodePort) []byte {
	dst = appendInt(append(appendKey(dst, name), '{'), "node", int64(np.Node))
	return append(appendInt(dst, "port", int64(np.Port)), '}')
}
