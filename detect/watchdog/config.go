package watchdog

import (
	"fmt"

	"softswitch/detect"
	"softswitch/unit"
)

// Names in scenario files and verdicts: SONiC's by action, Name is that of Drop, its
// default; SONiC's by ASIC; and Juniper's.
const (
	Name             = "watchdog"
	NameForward      = "watchdog-forward"
	NameAlert        = "watchdog-alert"
	NameBroadcom     = "watchdog-broadcom"
	NameMellanox     = "watchdog-mellanox"
	NameMellanox2023 = "watchdog-mellanox-2023"
	NameJuniper      = "watchdog-juniper"
)

// Action is what is done about a storm.
type Action uint8

// Actions.
const (
	Drop    Action = iota // drop what waits in the queue, and what comes for it or by its port
	Forward               // send in spite of the pause
	Alert                 // report it, nothing else
)

var actionNames = [...]string{"drop", "forward", "alert"}

// String is the action's name in SONiC.
func (a Action) String() string { return actionNames[a] }

// ASIC is whose switch chip it is, by which SONiC chooses the script that calls storms. It is read from the
// counters at two polls.
type ASIC uint8

// ASICs, each with its script in sonic-swss, orchagent.
const (
	// AnyASIC calls a storm only where the scripts of today all do: frames wait, none has left, and one pause
	// lasted from the first poll to the second.
	AnyASIC ASIC = iota
	// Broadcom calls one where pause frames came, no pause ended, and the queue was paused at both polls. Neither what waits
	// nor what left is looked at (pfc_detect_broadcom.lua).
	Broadcom
	// Mellanox calls one where frames wait, none has left, and the queue was paused for more than 99 % of the time
	// (pfc_detect_mellanox.lua since pull request 3036, of May 2024).
	Mellanox
	// Mellanox2023 calls one where none has left, and pause frames came if frames wait; if none waits, the queue was paused for
	// more than 80 % of the poll time (the same file before).
	Mellanox2023
)

var asicNames = [...]string{Name, NameBroadcom, NameMellanox, NameMellanox2023}

// Config is a watchdog's times, for a switch of up to 32 ports, and its action. For 33
// to 64 ports all of SONiC's default times are doubled; Poll is never above a second.
type Config struct {
	// Detection is how long a queue is seen to be stuck, from one poll to another, when it
	// is called a storm: up to one poll longer than it has been.
	Detection unit.Time
	// Restoration is how long no pause frame has come when the storm is over. Less
	// than the interval at which a pause is refreshed, and the storm is over while
	// the pause is not. Action Alert has no use for it.
	Restoration unit.Time
	// Poll is the time from one look at the queues to the next; at most Detection
	// and at most Restoration.
	Poll   unit.Time
	Action Action
	// Given is whether the times are those of a user, or of a file, which hold for any number of ports.
	Given bool
	// Juniper is the watchdog of Junos instead of SONiC's, for which Action is Drop: a
	// queue is stuck from one poll to the next if a pause is active at the second and
	// nothing has left it; then it alone is emptied and takes nothing, for Restoration,
	// whatever comes.
	Juniper bool
	// ASIC is by whose rule SONiC's watchdog calls a storm. Its Action is Drop, unless it is AnyASIC.
	ASIC ASIC
}

const (
	defaultTime = 200 * unit.Millisecond
	pollMax     = 1000 * unit.Millisecond
	portsPer    = 32 // ports that the times of a Config are for
)

// Default is what `pfcwd start_default` sets: 200 ms each, and Drop.
func Default() Config {
	return Config{Detection: defaultTime, Restoration: defaultTime, Poll: defaultTime, Action: Drop}
}

// Juniper is what `pfc-watchdog` of Junos sets by default: polls of 100 ms, 2 of them to
// detect, 200 ms to recover.
func Juniper() Config {
	return Config{Detection: 2 * juniperPoll, Restoration: 200 * unit.Millisecond, Poll: juniperPoll, Action: Drop, Juniper: true}
}

const juniperPoll = 100 * unit.Millisecond

// New makes the default watchdog of the switch that v shows; it is a detect.Factory.
func New(v detect.View, a detect.Actions) detect.Detector { return newAction(v, a, Drop) }

// NewForward is New with action Forward.
func NewForward(v detect.View, a detect.Actions) detect.Detector { return newAction(v, a, Forward) }

// NewAlert is New with action Alert.
func NewAlert(v detect.View, a detect.Actions) detect.Detector { return newAction(v, a, Alert) }

// NewJuniper makes the watchdog of Juniper; it is a detect.Factory.
func NewJuniper(v detect.View, a detect.Actions) detect.Detector { return newWatchdog(Juniper(), v, a) }

// NewBroadcom makes the default watchdog of a switch with a chip of Broadcom; it is a detect.Factory.
func NewBroadcom(v detect.View, a detect.Actions) detect.Detector { return newASIC(v, a, Broadcom) }

// NewMellanox is NewBroadcom for Mellanox.
func NewMellanox(v detect.View, a detect.Actions) detect.Detector { return newASIC(v, a, Mellanox) }

// NewMellanox2023 is NewBroadcom for Mellanox2023.
func NewMellanox2023(v detect.View, a detect.Actions) detect.Detector {
	return newASIC(v, a, Mellanox2023)
}

func newASIC(v detect.View, a detect.Actions, of ASIC) detect.Detector {
	c := Default()
	c.ASIC = of
	return newWatchdog(c, v, a)
}

func newAction(v detect.View, a detect.Actions, do Action) detect.Detector {
	c := Default()
	c.Action = do
	return newWatchdog(c, v, a)
}

// Factory makes watchdogs of these times. It panics if a time is not above 0, if Poll
// is longer than one of the others, or if there is no such Action or ASIC, or Juniper or the ASIC
// has not this action.
func (c Config) Factory() detect.Factory {
	if err := c.check(); err != nil {
		panic(err)
	}
	return func(v detect.View, a detect.Actions) detect.Detector { return newWatchdog(c, v, a) }
}

func (c Config) check() error {
	if shortest := min(c.Detection, c.Restoration); c.Poll <= 0 || c.Poll > shortest {
		return fmt.Errorf("watchdog: poll of %d ns with a detection of %d ns and a restoration of %d ns: want above 0 and at most the shorter of these",
			c.Poll, c.Detection, c.Restoration)
	}
	if int(c.Action) >= len(actionNames) {
		return fmt.Errorf("watchdog: action %d: want %d (drop), %d (forward) or %d (alert)", c.Action, Drop, Forward, Alert)
	}
	if int(c.ASIC) >= len(asicNames) {
		return fmt.Errorf("watchdog: ASIC %d: want 0 to %d", c.ASIC, len(asicNames)-1)
	}
	if c.ASIC != AnyASIC && (c.Juniper || c.Action != Drop) {
		return fmt.Errorf("watchdog: %s with action %s, Juniper's: %v; it is SONiC's, and has drop alone", asicNames[c.ASIC], c.Action, c.Juniper)
	}
	if c.Juniper && c.Action != Drop {
		return fmt.Errorf("watchdog: Juniper's with action %s: it has drop alone", c.Action)
	}
	return nil
}

// scaled is c for a switch with this many ports.
func (c Config) scaled(ports int) Config {
	if c.Juniper || c.Given {
		return c
	}
	n := unit.Time(max(1, (ports-1)/portsPer+1))
	c.Detection *= n
	c.Restoration *= n
	c.Poll = min(c.Poll*n, pollMax)
	return c
}

func (c Config) name() string {
	if c.Juniper {
		return NameJuniper
	}
	if c.ASIC != AnyASIC {
		return asicNames[c.ASIC]
	}
	return [...]string{Name, NameForward, NameAlert}[c.Action]
}
