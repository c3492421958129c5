package decode

import (
	"fmt"
	"strings"
	"unicode"

	"softswitch/internal/lists"
)

// String is rec as a line for people:
//
//	7 09:24:00.000123456 eth1 02:00:00:00:00:01 PFC 3:65535 4:resume; checking priority 3 from 5.2 ...
//
// frame number, time of day in UTC ("-" if the capture has none), interface and
// sender as far as they are known, the sender by its name if it has one, tags, and what the frame says.
func (rec Record) String() string {
	parts := []string{fmt.Sprint(rec.Frame), timeOfDay(rec.Time)}
	if rec.Interface != "" {
		parts = append(parts, printable(rec.Interface))
	}
	switch {
	case rec.SrcName != "":
		parts = append(parts, printable(rec.SrcName))
	case rec.Src != "":
		parts = append(parts, rec.Src)
	}
	for _, tag := range rec.VLAN {
		parts = append(parts, fmt.Sprintf("vlan %d priority %d", tag.ID, tag.Priority))
	}
	parts = append(parts, rec.content())
	if a := rec.Auth; a != nil {
		parts = append(parts, "["+strings.TrimSpace("auth "+a.Verdict+" "+printable(a.Link))+"]")
	}
	return strings.Join(parts, " ")
}

func timeOfDay(t string) string {
	_, clock, ok := strings.Cut(t, "T")
	if !ok {
		return "-"
	}
	return strings.TrimSuffix(clock, "Z")
}

func (rec Record) content() string {
	switch rec.Kind {
	case KindPFC:
		s := "PFC " + priorities(rec.Priorities)
		if rec.ITSY != nil {
			s += "; " + rec.named(rec.said.String())
		}
		if rec.Padding != "" {
			s += "; padding is no ITSY TLV: " + rec.Padding
		}
		return s + rec.cut()
	case KindPause:
		return "802.3x PAUSE " + quanta(*rec.Quanta) + rec.cut()
	case KindLLDP:
		return "LLDP " + rec.LLDP.String()
	case KindITSY, KindDiagnosis, KindCLCM, KindGFC:
		return messageName(rec.said) + " " + rec.named(rec.said.String())
	}
	return "MALFORMED: " + rec.Reason
}

// cut says how much of a frame was captured, if not all.
func (rec Record) cut() string {
	if rec.Captured == 0 {
		return ""
	}
	return fmt.Sprintf("; only %d of its %d bytes were captured", rec.Captured, rec.length)
}

// messageName names a message that parseMessage has read.
func messageName(m fmt.Stringer) string {
	switch m.(type) {
	case *CLCM:
		return "CLCM"
	case *Rate:
		return "GFC"
	}
	return "ITSY message"
}

// priorities is "3:65535 4:resume", or "of no priority".
func priorities(cs []Priority) string {
	if len(cs) == 0 {
		return "of no priority"
	}
	return strings.Join(lists.Map(cs, func(c Priority) string { return fmt.Sprintf("%d:%s", c.Priority, quanta(c.Quanta)) }), " ")
}

func quanta(q uint16) string {
	if q == 0 {
		return "resume"
	}
	return fmt.Sprint(q)
}

// printable keeps a name out of a file from breaking the line or the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != ' ' {
			return r
		}
		return '?'
	}, s)
}
