package event

import (
	"bytes"
	"fmt"

	"softswitch/unit"
)

// Decode reads the log of one node. It is strict: each line is one JSON object
// with exactly the keys of its type (any order, port names optional), every
// number in range, every line of the same node, ts never going back.
//
// The last line of a killed switch's log may be cut short, which shows as a missing
// newline. With allowCut such a line is left out (or read, if only the newline is
// missing) and Log.Cut is set; without, it is an error.
//
// An error names file:line, the key, the value and what would be valid; the Log then
// holds the events before that line.
func Decode(file string, data []byte, allowCut bool) (Log, error) {
	var d decoder
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
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

type decoder struct{ log Log }

// line reads one line into the log; after an error the log is unchanged.
func (d *decoder) line(text []byte) error {
	var l line
	if err := l.unmarshal(text); err != nil {
		return err
	}
	e, who, err := l.event()
	if err != nil {
		return err
	}
	if n := d.log.Node; len(d.log.Events) > 0 && (n.ID != who.id || n.Name != who.name) {
		return fmt.Errorf("node: %q, id %d: this is the log of %q, id %d", who.name, who.id, n.Name, n.ID)
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
	for _, pair := range [...]key{keyPG, keyQueue} { // both or none
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
