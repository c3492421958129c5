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
// It only writes the fields that e's type uses; a Trace without queue or priority group (Port
// or Out is unit.NoPort) leaves that key out. An unknown type is a bug and panics.
func (n Node) Append(dst []byte, e Event) []byte {
	if e.Type == 0 || int(e.Type) >= len(shapes) {
		panic(fmt.Sprintf("event: no type %d: 1 (xoff) to %d (%v)", e.Type, lastType, lastType))
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
		dst = appendInt(append(dst, ','), "priority", int64(e.Priority))
	}
	if has&keyOut != 0 {
		dst = n.appendPort(dst, "out", "out_name", e.Out)
	}
	if has&keyOutPriority != 0 {
		dst = appendInt(append(dst, ','), "out_priority", int64(e.OutPriority))
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
	if has&keyAction != 0 {
		dst = appendText(dst, `,"action":`, e.Action.String())
	}
	if has&keyAmount != 0 {
		dst = appendInt(append(dst, ','), "amount", int64(e.Bytes))
	}
	if has&keyRefusal != 0 {
		dst = appendText(dst, `,"refusal":`, e.Refusal.String())
	}
	if has&keyFlow != 0 {
		dst = appendInt(append(dst, ','), "flow", int64(e.Flow))
	}
	if has&keyCause != 0 {
		dst = appendText(dst, `,"cause":`, e.Cause.String())
	}
	if has&keyRank != 0 {
		dst = appendInt(append(dst, ','), "rank", int64(e.Rank))
	}
	if has&keyConfidence != 0 {
		dst = appendInt(append(dst, ','), "confidence", int64(e.Confidence))
	}
	if has&keyIn != 0 {
		dst = appendInt(append(dst, ','), "in", int64(e.In))
	}
	if has&keyTogether != 0 {
		dst = strconv.AppendBool(append(dst, `,"together":`...), e.Together)
	}
	if has&keyWhy != 0 {
		dst = appendText(dst, `,"why":`, e.Why.String())
	}
	if has&keyLeftOut != 0 {
		dst = appendInt(append(dst, ','), "left_out", int64(e.Bytes))
	}
	if has&keyFeature != 0 {
		dst = appendText(dst, `,"feature":`, e.Feature.String())
	}
	if has&keyOwn != 0 {
		dst = appendInt(append(dst, ','), "own", int64(e.Bytes))
	}
	if has&keyPeer != 0 {
		dst = appendInt(append(dst, ','), "peer", int64(e.Limit))
	}
	if has&keyLost != 0 {
		dst = appendInt(append(dst, ','), "lost_frames", int64(e.Limit))
	}
	return append(dst, "}\n"...)
}

// present returns which of the optional keys of its type e has.
func present(e Event) (has key) {
	if e.HasPeriod {
		has |= keyPeriod
	}
	if e.Flow != 0 {
		has |= keyFlow
	}
	if e.In != unit.NoPort {
		has |= keyIn
	}
	if e.Together {
		has |= keyTogether
	}
	if e.Bytes != 0 {
		has |= keyLeftOut
	}
	if e.Feature.OfPriorities() {
		has |= keyOwn | keyPeer
	}
	if e.Port != unit.NoPort {
		has |= keyPG
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

// appendText appends prefix as it is, then s as a JSON string (RFC 8259, section 7).
// Invalid UTF-8 becomes U+FFFD.
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
	dst = appendInt(append(dst, `",`...), "priority", int64(t.Priority))
	dst = appendInt(append(dst, ','), "flags", int64(t.Flags))
	dst = appendNodePort(append(dst, `,"initiator":`...), t.Initiator)
	dst = appendInt(append(dst, ','), "seq", int64(t.Seq))
	dst = appendNodePort(append(dst, `,"trigger":`...), t.Trigger)
	dst = appendInt(append(dst, ','), "hops", int64(t.Hops))
	dst = appendInt(append(dst, ','), "period", int64(t.Period))
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

func appendNodePort(dst []byte, np unit.NodePort) []byte {
	dst = appendInt(append(dst, '{'), "node", int64(np.Node))
	dst = appendInt(append(dst, ','), "port", int64(np.Port))
	return append(dst, '}')
}
