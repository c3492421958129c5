package watchdog

import (
	"fmt"

	"softswitch/detect"
	"softswitch/unit"
)

// Names in scenario files and verdicts, by action. Name is that of Drop, SONiC's
// default.
const (
	Name        = "watchdog"
	NameForward = "watchdog-forward"
	NameAlert   = "watchdog-alert"
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

// Config is a watchdog's times, for a switch of up to 32 ports, and its action. For 33
// to 64 ports all times are doubled; Poll is never above a second.
type Config struct {
	// Detection is how long a queue is stuck when it is called a storm. With a
	// Detection of up to two polls it takes two.
	Detection unit.Time
	// Restoration is how long no pause frame has come when the storm is over. Less
	// than the interval at which a pause is refreshed, and the storm is over while
	// the pause is not. Action Alert has no use for it.
	Restoration unit.Time
	// Poll is the time from one look at the queues to the next; at most Detection
	// and at most Restoration.
	Poll   unit.Time
	Action Action
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

// New makes the default watchdog of the switch that v shows; it is a detect.Factory.
func New(v detect.View, a detect.Actions) detect.Detector { return newAction(v, a, Drop) }

// NewForward is New with action Forward.
func NewForward(v detect.View, a detect.Actions) detect.Detector { return newAction(v, a, Forward) }

// NewAlert is New with action Alert.
func NewAlert(v detect.View, a detect.Actions) detect.Detector { return newAction(v, a, Alert) }

func newAction(v detect.View, a detect.Actions, do Action) detect.Detector {
	c := Default()
	c.Action = do
	return newWatchdog(c, v, a)
}

// Factory makes watchdogs of these times. It panics if a time is not above 0, if Poll
// is longer than one of the others, or if there is no such Action.
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
	return nil
}

// scaled is c for a switch with so many ports.
func (c Config) scaled(ports int) Config {
	n := unit.Time(max(1, (ports-1)/portsPer+1))
	c.Detection *= n
	c.Restoration *= n
	c.Poll = min(c.Poll*n, pollMax)
	return c
}

func (c Config) name() string { return [...]string{Name, NameForward, NameAlert}[c.Action] }
