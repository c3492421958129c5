package detect

import (
	"fmt"

	"softswitch/unit"
)

// Control is what a system that does more than detect may do to its switch. Each
// call that changes something is logged by the switch, as an Action, with the time;
// each that is repeated without effect is not.
//
// Frames that are dropped by Drop, Flush and Discard are dropped on purpose, to break a
// deadlock; those that a policer or a lossy queue drops are what its trigger costs.
// Each is counted by its own reason, and none of them as lost.
type Control interface {
	// Drop drops frames of b that wait in q, the oldest first, until b is at or below
	// its XON threshold or nothing that is charged to b is left there, and returns how
	// many charged bytes it dropped. A flooded frame goes from q alone.
	Drop(b PG, q Queue) (bytes int)
	// Force permits frames of b to leave q in spite of the pause that is active there,
	// until this many bytes have left or that pause ends; the last frame leaves whole. It
	// replaces what is left of an earlier call for q; 0 ends it.
	Force(b PG, q Queue, bytes int)
	// Ignore permits q to send in spite of pauses, until it is called with on false: the
	// active pause ends, and pause frames that come are only counted.
	Ignore(q Queue, on bool)
	// Flush drops what waits in q and what would be queued there, until it is called with
	// on false. It implies Ignore.
	Flush(q Queue, on bool)
	// Discard drops what waits in q, what would be queued there, and what comes in by q's
	// port in its priority, until it is called with on false. It implies Ignore.
	Discard(q Queue, on bool)
	// Restrict permits only frames of b to leave q, in their order, until it is called
	// with on false. Frames of others wait.
	Restrict(b PG, q Queue, on bool)
	// Extra raises the XOFF threshold of b, and the XON threshold with it, by this many
	// bytes; it replaces what b was given before, and 0 takes it back. b keeps what it
	// holds by then. ok is false, and nothing changes, if the shared pool has too little
	// left.
	Extra(b PG, bytes int) (ok bool)
	// Avoid keeps routed frames that come in at in from leaving by out where their
	// group has another port that is up, until it is called with on false. Frames that
	// wait already stay where they are.
	Avoid(in, out unit.Port, on bool)
	// Police drops frames of flow that come in at in above rate, which is above 0, until
	// it is called with rate 0. ok is false, and nothing changes, if there is no policer
	// left.
	Police(in unit.Port, flow FlowID, rate unit.Rate) (ok bool)
	// Lossy makes q lossy, until it is called with on false: pauses are not honoured, as
	// by Ignore, and frames that are queued from now on are charged to nobody and
	// dropped when the queue holds as much as a lossy one may.
	Lossy(q Queue, on bool)
	// LossyTurn makes the turn from b to q lossy, until it is called with on false: frames
	// of b that are queued in q from now on are charged to nobody, so that b does not wait
	// for q. They are dropped where as much of them waits as a lossy queue may hold. Pauses
	// are honoured, and what waits already stays charged as it is.
	LossyTurn(b PG, q Queue, on bool)
	// Refuse logs that an action was wanted and why it was not taken.
	Refuse(why Refusal, b PG, q Queue)
}

// FlowID tells the flows of a switch apart: the hash of a frame's 5-tuple. Two flows
// in a queue have the same one with a probability of 2^-32. A frame that is not IP is of
// no flow.
type FlowID uint32

// String is the flow in logs and tables.
func (f FlowID) String() string { return fmt.Sprintf("%08x", uint32(f)) }

// Flow is a flow's share of a queue.
type Flow struct {
	ID      FlowID
	In      unit.Port // where its frames came in
	Bytes   int       // that wait
	Flooded int       // of those, in frames that were flooded
}

// Action is something that was done to a switch.
type Action uint8

// Actions, with the number that goes with each in brackets.
const (
	ActionDrop         Action = iota + 1 // [bytes dropped]
	ActionForce                          // [bytes allowed]
	ActionUnforce                        // what was left of Force was taken back
	ActionIgnore                         //
	ActionHonour                         // Ignore or Lossy ended
	ActionDiscard                        // [bytes dropped at once]
	ActionAdmit                          // Discard or Flush ended
	ActionRestrict                       //
	ActionFree                           // Restrict ended
	ActionExtra                          // [bytes]: "lend" in a log
	ActionExtraOver                      // Extra ended: "return" in a log
	ActionAvoid                          // the priority group's port is in, the queue's is out
	ActionAllow                          // Avoid ended
	ActionPolice                         // [kbit/s]; the priority group's port is in
	ActionUnpolice                       // the policer was taken away
	ActionLossy                          //
	ActionLossyTurn                      //
	ActionLosslessTurn                   // LossyTurn ended
	ActionFlush                          // [bytes dropped at once]
	// ActionContain is, like its end, an action of the switch itself, which no system asks for: it bounds
	// what a host does to others by its pauses.
	ActionContain // the queue to a host that pauses without end is lossy
	ActionRelease // ActionContain ended
)

var actionNames = [...]string{
	"", "drop", "force", "unforce", "ignore", "honour", "discard", "admit", "restrict", "free", "lend", "return", "avoid", "allow", "police", "unpolice", "lossy", "lossy-turn", "lossless-turn", "flush", "contain", "release",
}

// begun lists, for each action that ends something, the actions that it ends.
var begun = [len(actionNames)][]Action{
	ActionUnforce: {ActionForce}, ActionHonour: {ActionIgnore, ActionLossy}, ActionAdmit: {ActionDiscard, ActionFlush}, ActionFree: {ActionRestrict},
	ActionExtraOver: {ActionExtra}, ActionAllow: {ActionAvoid}, ActionUnpolice: {ActionPolice},
	ActionLosslessTurn: {ActionLossyTurn}, ActionRelease: {ActionContain},
}

// Ends are the actions that a ends, where it is about the same queue, priority group and flow, as
// far as a names them; none if it ends nothing.
func (a Action) Ends() []Action { return begun[a] }

// reasons says why an action that lasts is taken, and what ends it.
var reasons = [len(actionNames)]struct{ why, until string }{
	ActionIgnore:    {"what waits there is sent in spite of pauses", "no pause comes for a time"},
	ActionDiscard:   {"what waits there would hold others up", "no pause comes for a time"},
	ActionRestrict:  {"frames of the loop alone leave", "the loop has moved on"},
	ActionExtra:     {"room for what the loop has too much", "its time is over"},
	ActionAvoid:     {"the turn closes a loop", "never"},
	ActionPolice:    {"its frames wait at the initial trigger", "its time is over"},
	ActionLossy:     {"the host behind it is the initial trigger", "the host has not paused for a time"},
	ActionLossyTurn: {"the turn holds a loop, or would", "for a time it would have held nobody up"},
	ActionFlush:     {"what waits there would hold others up", "the queue is taken for recovered"},
	ActionContain:   {"the host behind it pauses without end", "the host has not paused for a time"},
}

// Lasts reports whether a stays in effect until another action ends it.
func (a Action) Lasts() bool { return reasons[a].why != "" }

// Why says what an action that lasts is for, "" of another one.
func (a Action) Why() string { return reasons[a].why }

// Until says what ends an action that lasts, "" of another one.
func (a Action) Until() string { return reasons[a].until }

// String is the action's name in a log.
func (a Action) String() string { return actionNames[a] }

// Refusal is why an action was not taken.
type Refusal uint8

// Refusals.
const (
	RefusedNoAlternative Refusal = iota + 1 // no other path for the loop's flows
	RefusedNoReserve                        // the shared pool has too little left
	RefusedNoPolicer                        // all policers are in use
	RefusedUnreachable                      // nobody answered for the trigger
	RefusedPortDown                         // the link is down
	RefusedUnconfirmed                      // the loop was not there any more
	RefusedHeld                             // another action for the same loop was taken shortly before
	RefusedNoFlow                           // no flow waits where the trigger is
	RefusedPathFull                         // the loop is longer than a message can tell
	RefusedUnfounded                        // the switch that should handle the trigger has seen nothing of it
	RefusedTooMany                          // all places for searches for triggers, of one link or of the switch's own, are taken
)

var refusalNames = [...]string{
	"", "no alternative path", "no reserve to lend", "no policer left", "trigger out of reach", "port down", "loop not confirmed", "held down", "no flow at the trigger", "path too long for a message", "nothing seen of the trigger", "too many searches",
}

// String is the refusal for people.
func (r Refusal) String() string { return refusalNames[r] }

// Peer is a Detector that speaks to its neighbours in a format of its own.
type Peer interface {
	// Frame: a one-hop message arrived at p whose payload, which is the switch's, is not
	// an ITSY TLV. It reports whether the payload is well-formed; the switch counts
	// those that are not.
	Frame(now unit.Time, p unit.Port, payload []byte) (ok bool)
}
