package event

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"softswitch/detect"
	"softswitch/itsyhdr"
	"softswitch/link/auth"
	"softswitch/link/lldp"
	"softswitch/unit"
)

// line is a line decoded from JSON. A missing text is "".
type line struct {
	TS          number    `json:"ts"`
	Node        string    `json:"node"`
	ID          number    `json:"id"`
	Type        string    `json:"type"`
	Port        number    `json:"port"`
	PortName    string    `json:"port_name"`
	Priority    number    `json:"priority"`
	Out         number    `json:"out"`
	OutName     string    `json:"out_name"`
	OutPriority number    `json:"out_priority"`
	Period      number    `json:"period"`
	Bytes       number    `json:"bytes"`
	Limit       number    `json:"limit"`
	Route       number    `json:"route"`
	Step        string    `json:"step"`
	Label       *label    `json:"label"`
	Trigger     *nodePort `json:"trigger"`
	OnLoop      *bool     `json:"on_loop"`
	Action      string    `json:"action"`
	Measure     string    `json:"measure"` // the key of Action in older logs
	Amount      number    `json:"amount"`
	Refusal     string    `json:"refusal"`
	Flow        number    `json:"flow"`
	Cause       string    `json:"cause"`
	Rank        number    `json:"rank"`
	Confidence  number    `json:"confidence"`
	In          number    `json:"in"`
	Together    *bool     `json:"together"`
	Why         string    `json:"why"`
	LeftOut     number    `json:"left_out"`
	Feature     string    `json:"feature"`
	Own         number    `json:"own"`
	Peer        number    `json:"peer"`
	Lost        number    `json:"lost_frames"`
}

type label struct {
	Kind      string   `json:"kind"`
	Priority  number   `json:"priority"`
	Class     number   `json:"class"` // the key of Priority in older logs
	Flags     number   `json:"flags"`
	Initiator nodePort `json:"initiator"`
	Seq       number   `json:"seq"`
	Trigger   nodePort `json:"trigger"`
	Hops      number   `json:"hops"`
	Period    number   `json:"period"`
	Auth      string   `json:"auth"` // absent for 0
}

type nodePort struct {
	Node number `json:"node"`
	Port number `json:"port"`
}

// number is an optional integer.
type number struct {
	there bool
	v     int64
}

// UnmarshalJSON accepts only numbers in the form that Append writes.
func (n *number) UnmarshalJSON(b []byte) (err error) {
	n.there = true
	if n.v, err = strconv.ParseInt(string(b), 10, 64); err != nil {
		return fmt.Errorf("%.40s: want an integer", b)
	}
	return nil
}

var strict = json.JoinOptions(json.RejectUnknownMembers(true))

func (l *line) unmarshal(text []byte) error {
	err := json.Unmarshal(text, l, strict)
	var wrong *json.SemanticError
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Errorf("%w: want %s", err, key(1<<len(keyNames)-1))
	case errors.As(err, &wrong) && wrong.Err != nil:
		name := strings.TrimPrefix(string(wrong.JSONPointer), "/")
		return fmt.Errorf("%s: %w", strings.ReplaceAll(name, "/", "."), wrong.Err)
	}
	return err
}

// whose is the fields of a line that are not part of Event.
type whose struct {
	id                      unit.NodeID
	name, portName, outName string
}

// event converts the line.
func (l *line) event() (e Event, who whose, err error) {
	if l.Type == "" {
		return e, who, errors.New("type: missing")
	}
	e.Port, e.Out = unit.NoPort, unit.NoPort
	who.name, who.portName, who.outName = l.Node, l.PortName, l.OutName
	var r reading
	r.text(keyNode, l.Node)
	r.text(keyPortName, l.PortName)
	r.text(keyOutName, l.OutName)
	put(&r, keyTS, l.TS, 0, math.MaxInt64, &e.At)
	put(&r, keyID, l.ID, 1, math.MaxUint16, &who.id)
	put(&r, keyPort, l.Port, 0, unit.MaxPorts-1, &e.Port)
	put(&r, keyPriority, l.Priority, 0, unit.Priorities-1, &e.Priority)
	put(&r, keyOut, l.Out, 0, unit.MaxPorts-1, &e.Out)
	put(&r, keyOutPriority, l.OutPriority, 0, unit.Priorities-1, &e.OutPriority)
	put(&r, keyPeriod, l.Period, 0, math.MaxUint8, &e.Period)
	put(&r, keyBytes, l.Bytes, 0, math.MaxInt32, &e.Bytes)
	put(&r, keyLimit, l.Limit, 0, math.MaxInt32, &e.Limit)
	put(&r, keyRoute, l.Route, 0, math.MaxInt32, &e.Bytes)
	put(&r, keyAmount, l.Amount, 0, math.MaxInt32, &e.Bytes)
	put(&r, keyLeftOut, l.LeftOut, 1, math.MaxInt32, &e.Bytes)
	put(&r, keyOwn, l.Own, 0, math.MaxUint8, &e.Bytes)
	put(&r, keyPeer, l.Peer, 0, math.MaxUint8, &e.Limit)
	put(&r, keyLost, l.Lost, 0, math.MaxInt32, &e.Limit)
	put(&r, keyFlow, l.Flow, 1, math.MaxUint32, &e.Flow)
	if l.Type == Cause.String() {
		e.In = unit.NoPort
		put(&r, keyIn, l.In, 0, unit.MaxPorts-1, &e.In)
	} else if l.In.there {
		r.has |= keyIn
	}
	put(&r, keyRank, l.Rank, 1, detect.CausesMax, &e.Rank)
	put(&r, keyConfidence, l.Confidence, 0, 100, &e.Confidence)
	choose(&r, keyCause, l.Cause, detect.CauseHost, detect.CauseSeveral, &e.Cause)
	if l.Type == "measured" { // in older logs
		l.Type = Acted.String()
	}
	choose(&r, keyType, l.Type, XOFF, lastType, &e.Type)
	choose(&r, keyStep, l.Step, detect.StepMint, lastStep, &e.Step)
	choose(&r, keyAction, cmp.Or(l.Action, l.Measure), detect.ActionDrop, detect.ActionRelease, &e.Action)
	choose(&r, keyWhy, l.Why, auth.Missing, auth.Verdicts-1, &e.Why)
	choose(&r, keyFeature, l.Feature, lldp.FeaturePFC, lldp.FeatureApp, &e.Feature)
	choose(&r, keyRefusal, l.Refusal, detect.RefusedNoAlternative, detect.RefusedTooMany, &e.Refusal)
	if l.OnLoop != nil {
		r.has |= keyOnLoop
		e.OnLoop = *l.OnLoop
	}
	if l.Together != nil {
		r.has |= keyTogether
		e.Together = *l.Together
	}
	if l.Trigger != nil {
		r.has |= keyTrigger
		e.Trigger = r.nodePort("trigger", *l.Trigger)
	}
	if l.Label != nil {
		r.has |= keyLabel
		e.Label = r.label(*l.Label)
	}
	if r.err == nil {
		r.err = checkKeys(e.Type, r.has)
	}
	e.HasPeriod = e.Type == Paused && r.has&keyPeriod != 0
	e.withoutPorts(r.has)
	return e, who, r.err
}

// withoutPorts sets the ports that the line leaves out: to unit.NoPort where its type
// may lack a queue or priority group, else to 0.
func (e *Event) withoutPorts(has key) {
	if shapes[e.Type].may&keyPG == keyPG {
		return
	}
	if has&keyPort == 0 {
		e.Port = 0
	}
	if has&keyOut == 0 {
		e.Out = 0
	}
}

// reading is the state of reading a line: the keys found so far, and the first error.
type reading struct {
	has key
	err error
}

func (r *reading) wrong(name, value, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %.40s: want %s", name, value, want)
	}
}

func (r *reading) text(k key, s string) {
	if s != "" {
		r.has |= k
	}
}

type integer interface {
	~int64 | ~int32 | ~uint32 | ~uint16 | ~uint8
}

// put stores n if present; it must then be from lo to hi.
func put[T integer](r *reading, k key, n number, lo, hi int64, dst *T) {
	if n.there {
		r.has |= k
		need(r, keyNames[bits.TrailingZeros64(uint64(k))], n, lo, hi, dst)
	}
}

// need stores n, which must be present and from lo to hi.
func need[T integer](r *reading, name string, n number, lo, hi int64, dst *T) {
	switch {
	case !n.there:
		r.wrong(name, "missing", fmt.Sprintf("an integer, %d to %d", lo, hi))
	case n.v < lo || n.v > hi:
		r.wrong(name, strconv.FormatInt(n.v, 10), fmt.Sprintf("an integer, %d to %d", lo, hi))
	default:
		*dst = T(n.v)
	}
}

// choose stores the value from lo to hi whose name this is.
func choose[T interface {
	~uint8
	fmt.Stringer
}](r *reading, k key, name string, lo, hi T, dst *T) {
	if name == "" {
		return
	}
	r.has |= k
	for v := lo; v <= hi; v++ {
		if v.String() == name {
			*dst = v
			return
		}
	}
	var names []string
	for v := lo; v <= hi; v++ {
		names = append(names, v.String())
	}
	r.wrong(k.String(), strconv.Quote(name), strings.Join(names, ", "))
}

func (r *reading) nodePort(name string, p nodePort) (np unit.NodePort) {
	need(r, name+".node", p.Node, 0, math.MaxUint16, &np.Node)
	need(r, name+".port", p.Port, 0, unit.MaxPorts-1, &np.Port)
	return np
}

func (r *reading) label(l label) (t itsyhdr.TLV) {
	t.Kind = r.kind(l.Kind)
	need(r, "label.priority", cmp.Or(l.Priority, l.Class), 0, unit.Priorities-1, &t.Priority)
	need(r, "label.flags", l.Flags, 0, 31, &t.Flags)
	t.Initiator = r.nodePort("label.initiator", l.Initiator)
	need(r, "label.seq", l.Seq, 0, math.MaxUint16, &t.Seq)
	t.Trigger = r.nodePort("label.trigger", l.Trigger)
	need(r, "label.hops", l.Hops, 0, math.MaxUint8, &t.Hops)
	need(r, "label.period", l.Period, 0, math.MaxUint8, &t.Period)
	if l.Auth != "" {
		var err error
		if t.Auth, err = strconv.ParseUint(l.Auth, 16, 64); err != nil || len(l.Auth) != 16 || t.Auth == 0 {
			r.wrong("label.auth", strconv.Quote(l.Auth), "16 hexadecimal digits, not all zero")
		}
	}
	return t
}

func (r *reading) kind(name string) itsyhdr.Kind {
	for k, known := range kindNames {
		if known == name {
			return itsyhdr.Kind(k)
		}
	}
	for k := len(kindNames); k < 16; k++ {
		if name == "kind-"+strconv.Itoa(k) {
			return itsyhdr.Kind(k)
		}
	}
	r.wrong("label.kind", strconv.Quote(name), fmt.Sprintf("%s or kind-%d to kind-15", strings.Join(kindNames[:], ", "), len(kindNames)))
	return 0
}
