package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/unit"
)

// Order is what a page wants done to a lab.
type Order struct {
	// Do is "fail" or "heal" (Link); "impair", which is for both directions of a link (Link,
	// Wire, where an empty one carries frames at once again); "storm" (Host, Priority), "slow" (Host, Rate)
	// or "normal" (Host); "start" or "stop", the flows of all hosts; "response", of all switches to
	// deadlocks, also those that stand (Response); "restart", all switches, with Detector and Response.
	Do       string      `json:"do"`
	Link     string      `json:"link,omitempty"`
	Host     string      `json:"host,omitempty"`
	Priority int         `json:"priority,omitempty"`
	Rate     string      `json:"rate,omitempty"`
	Detector string      `json:"detector,omitempty"`
	Response string      `json:"response,omitempty"`
	Wire     config.Wire `json:"wire,omitzero"`
}

// Orders does to a lab that is up what pages order. lab.Orders is one.
type Orders interface {
	Fail(ctx context.Context, links ...netnslab.LinkState) error
	Heal(ctx context.Context, links ...netnslab.LinkState) error
	Impair(ctx context.Context, w config.Wire, links ...netnslab.LinkState) error
	Storm(ctx context.Context, priority int, hosts ...string) error
	Slow(ctx context.Context, rate unit.Rate, hosts ...string) error
	Normal(ctx context.Context, hosts ...string) error
	Start(ctx context.Context, hosts ...string) error
	Stop(ctx context.Context, hosts ...string) error
	Respond(ctx context.Context, response string) error
	RestartSwitches(ctx context.Context, detector, response string) error
}

// Valid are all values of Order.Do.
var Valid = []string{"fail", "heal", "impair", "storm", "slow", "normal", "start", "stop", "response", "restart"}

// orderError is an order that makes no sense; other errors are the lab's.
type orderError struct{ text string }

func (e *orderError) Error() string { return e.text }

func senseless(format string, args ...any) error { return &orderError{fmt.Sprintf(format, args...)} }

// Act does what a page orders, whether one is open or not. One order is carried out at a time.
func (l *Lab) Act(ctx context.Context, o Order) error {
	l.acting.Lock()
	defer l.acting.Unlock()
	defer func() {
		select {
		case l.acted <- struct{}{}:
		default:
		}
	}()
	st, w, err := l.known()
	if err != nil {
		return err
	}
	to := l.orders(st)
	switch o.Do {
	case "fail", "heal", "impair":
		return setLink(ctx, to, st, w, o)
	case "storm", "slow", "normal":
		return behave(ctx, to, w, o)
	case "start":
		return to.Start(ctx)
	case "stop":
		return to.Stop(ctx)
	case "response": // while they run
		if err := valid("response", o.Response, l.choices.Responses); err != nil {
			return err
		}
		return to.Respond(ctx, o.Response)
	case "restart": // every switch, with empty buffers
		err := cmp.Or(valid("detector", o.Detector, l.choices.Detectors), valid("response", o.Response, l.choices.Responses))
		if err != nil {
			return err
		}
		return to.RestartSwitches(ctx, o.Detector, o.Response)
	}
	return valid("order", o.Do, Valid)
}

// valid is what is wrong with a part of an order that is to be one of choices.
func valid(part, is string, choices []string) error {
	if !slices.Contains(choices, is) {
		return senseless("%s %q: valid: %s", part, is, strings.Join(choices, ", "))
	}
	return nil
}

func setLink(ctx context.Context, to Orders, st *netnslab.State, w *wiring, o Order) error {
	names := lists.Map(w.links, func(link Link) string { return link.Name })
	i := slices.Index(names, o.Link)
	if i < 0 {
		return senseless("no link %q%s", o.Link, strictyaml.DidYouMean(o.Link, names))
	}
	switch at := st.Links[i]; o.Do {
	case "fail":
		return to.Fail(ctx, at)
	case "heal":
		return to.Heal(ctx, at)
	default:
		if _, err := o.Wire.Build(); err != nil {
			return senseless("%v", err)
		}
		return to.Impair(ctx, o.Wire, at)
	}
}

// behave makes a host misbehave, or behave.
func behave(ctx context.Context, to Orders, w *wiring, o Order) error {
	names := lists.Map(w.hosts, func(h config.Host) string { return h.Name })
	switch {
	case !slices.Contains(names, o.Host):
		return senseless("no host %q%s", o.Host, strictyaml.DidYouMean(o.Host, names))
	case o.Do == "storm":
		return to.Storm(ctx, o.Priority, o.Host)
	case o.Do == "slow":
		rate, err := unit.ParseRate(o.Rate)
		if err != nil {
			return senseless("%v", err)
		}
		return to.Slow(ctx, rate, o.Host)
	}
	return to.Normal(ctx, o.Host)
}
