package event

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/unit"
)

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
	// What a type does not have is zero; only where it may lack queue or bucket it has
	// unit.NoPort.
	if shapes[e.Type].may&keyBucket != keyBucket {
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
		e.Step, err = choose(s, name, detect.StepMint, lastStep)
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
	case "measure":
		e.Measure, err = choose(s, name, detect.MeasureDrop, detect.MeasureLossy)
		return keyMeasure, err
	case "amount":
		return keyAmount, number(s, name, 0, math.MaxInt32, &e.Bytes)
	case "flow":
		return keyFlow, number(s, name, 1, math.MaxUint32, &e.Flow)
	case "refusal":
		e.Refusal, err = choose(s, name, detect.RefusedNoAlternative, detect.RefusedPathFull)
		return keyRefusal, err
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

// choose reads the name of one of the values from lo to hi.
func choose[T interface {
	~uint8
	fmt.Stringer
}](s *scanner, key string, lo, hi T) (T, error) {
	name, err := s.text()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	var names []string
	for v := lo; v <= hi; v++ {
		if v.String() == name {
			return v, nil
		}
		names = append(names, v.String())
	}
	return 0, fmt.Errorf("%s: %q: want %s", key, name, strings.Join(names, ", "))
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
