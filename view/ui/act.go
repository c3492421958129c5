package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"softswitch/internal/control"
	"softswitch/internal/strictyaml"
	"softswitch/internal/timer"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/unit"
)

// Order is what a page wants done to a lab.
type Order struct {
	// Do is "fail" or "heal" (Link); "impair", which is for both directions of a link (Link,
	// Wire, where an empty one carries frames at once again); "storm" (Host, Class), "slow" (Host, Rate) or
	// "normal" (Host); "start" or "stop", the flows of all hosts; "restart", all switches,
	// with Detector and Response.
	Do       string      `json:"do"`
	Link     string      `json:"link,omitempty"`
	Host     string      `json:"host,omitempty"`
	Class    int         `json:"class,omitempty"`
	Rate     string      `json:"rate,omitempty"`
	Detector string      `json:"detector,omitempty"`
	Response string      `json:"response,omitempty"`
	Wire     config.Wire `json:"wire,omitzero"`
}

// orders are all values of Order.Do.
var orders = []string{"fail", "heal", "impair", "storm", "slow", "normal", "start", "stop", "restart"}

// orderError is an order that makes no sense; other errors are the lab's.
type orderError struct{ text string }

func (e *orderError) Error() string { return e.text }

func senseless(format string, args ...any) error { return &orderError{fmt.Sprintf(format, args...)} }

const (
	// startLead is the time between the order to start and the first frame, by which all
	// hosts have heard of it.
	startLead = 200 * unit.Millisecond
	// restartPatience is how long a switch may take to come back.
	restartPatience = 5 * time.Second
)

// Act does what a page orders. One order is carried out at a time.
func (l *Lab) Act(ctx context.Context, o Order) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.view == nil {
		return fmt.Errorf("lab %s is not up", l.name)
	}
	switch o.Do {
	case "fail", "heal", "impair":
		return l.setLink(o)
	case "storm", "slow", "normal":
		return l.behave(o)
	case "start":
		return l.allHosts("start", struct {
			At unit.Time `json:"at"`
		}{timer.Now() + startLead})
	case "stop":
		return l.allHosts("stop", nil)
	case "restart":
		return l.restartSwitches(ctx, o)
	}
	return senseless("order %q: valid: %s", o.Do, strings.Join(orders, ", "))
}

func (l *Lab) setLink(o Order) error {
	var names []string
	for i, link := range l.view.w.links {
		if link.Name != o.Link {
			names = append(names, link.Name)
			continue
		}
		switch at := l.view.st.Links[i]; o.Do {
		case "fail":
			return l.view.st.Fail(at)
		case "heal":
			return l.view.st.Heal(at)
		default:
			return l.impair(at, o.Wire)
		}
	}
	return senseless("no link %q%s", o.Link, strictyaml.DidYouMean(o.Link, names))
}

// impair has both directions of a link do this to frames.
func (l *Lab) impair(at netnslab.LinkState, w config.Wire) error {
	if _, err := w.Build(); err != nil {
		return senseless("%v", err)
	}
	var errs []error
	for _, e := range []netnslab.End{at.A, at.B} {
		if err := control.Call(l.socket(e.Node), "impair", config.WireRequest{Port: e.Iface, Wire: w}, nil); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Node, err))
		}
	}
	return errors.Join(errs...)
}

// behave makes a host misbehave, or behave.
func (l *Lab) behave(o Order) error {
	i := slices.IndexFunc(l.view.w.hosts, func(h config.Host) bool { return h.Name == o.Host })
	if i < 0 {
		var names []string
		for _, h := range l.view.w.hosts {
			names = append(names, h.Name)
		}
		return senseless("no host %q%s", o.Host, strictyaml.DidYouMean(o.Host, names))
	}
	act := config.Act{At: "0s", Do: o.Do}
	switch o.Do {
	case "storm":
		act.Class = o.Class
	case "slow":
		act.Rate = o.Rate
	}
	return l.host(o.Host, "act", act)
}

func (l *Lab) host(name, do string, args any) error {
	if err := control.Call(l.socket(name), do, args, nil); err != nil {
		return fmt.Errorf("host %s: %w", name, err)
	}
	return nil
}

func (l *Lab) allHosts(do string, args any) error {
	var errs []error
	for _, h := range l.view.w.hosts {
		errs = append(errs, l.host(h.Name, do, args))
	}
	return errors.Join(errs...)
}

func (l *Lab) socket(node string) string {
	return filepath.Join(netnslab.Dir(l.name), node, "control.sock")
}

// restartSwitches makes every switch begin anew, its buffers empty, and waits until all are
// back.
func (l *Lab) restartSwitches(ctx context.Context, o Order) error {
	if !slices.Contains(l.choices.Detectors, o.Detector) {
		return senseless("detector %q: valid: %s", o.Detector, strings.Join(l.choices.Detectors, ", "))
	}
	if !slices.Contains(l.choices.Responses, o.Response) {
		return senseless("response %q: valid: %s", o.Response, strings.Join(l.choices.Responses, ", "))
	}
	args := struct {
		Detector string `json:"detector"`
		Response string `json:"response"`
	}{o.Detector, o.Response}
	before := make([]int, len(l.view.w.switches))
	for i, s := range l.view.w.switches {
		restarts, err := l.restarts(s.Name)
		if err == nil {
			err = control.Call(l.socket(s.Name), "restart", args, nil)
		}
		if err != nil {
			return fmt.Errorf("switch %s: %w", s.Name, err)
		}
		before[i] = restarts
	}
	l.restart = &o
	defer func() { l.view.stale = true }() // when the logs of before are gone
	for i, s := range l.view.w.switches {
		if err := l.awaitRestart(ctx, s.Name, before[i]); err != nil {
			return err
		}
	}
	return nil
}

// restarts is how often a switch has begun anew.
func (l *Lab) restarts(name string) (int, error) {
	var snap observe.Switch
	err := control.Call(l.socket(name), "stats", nil, &snap)
	return snap.Restarts, err
}

// awaitRestart waits until a switch answers that has begun anew more often than before: the one
// that ends may answer, too.
func (l *Lab) awaitRestart(ctx context.Context, name string, before int) error {
	ctx, cancel := context.WithTimeout(ctx, restartPatience)
	defer cancel()
	for {
		restarts, err := l.restarts(name)
		if err == nil && restarts > before {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("switch %s does not come back: %w", name, cmp.Or(err, ctx.Err()))
		}
	}
}
