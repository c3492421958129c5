package fuzz

import (
	"testing"

	"softswitch/detect"
	"softswitch/internal/testkit"
)

// A case that fails is made smaller, still fails, and stays a scenario.
func TestShrink(t *testing.T) {
	fails := func(c *Case) bool {
		o := c.Play("none", detect.NewNone)
		return o.Failure() == FalseNegative
	}
	shrunk := 0
	for i := 0; shrunk < testkit.Sized(1, 3); i++ {
		c := New(6, i, Usual)
		if !fails(c) {
			continue
		}
		shrunk++
		before := string(c.Text("none", ""))
		tries := 0
		small := Shrink(t.Context(), c, 150, func(c *Case) bool { tries++; return fails(c) })
		if string(c.Text("none", "")) != before {
			t.Errorf("%s: the case itself was changed", c.Name())
		}
		if !fails(small) {
			t.Errorf("%s: it no longer fails:\n%s", c.Name(), small.Text("none", ""))
		}
		if tries > 150 {
			t.Errorf("%s: asked %d times", c.Name(), tries)
		}
		if len(small.Flows) >= len(c.Flows) || len(small.Text("none", "")) >= len(before)/2 {
			t.Errorf("%s has not become much smaller:\n%s", c.Name(), small.Text("none", ""))
		}
	}
}

// With a failure that needs one flow and one event, all else goes; a flow's host
// cannot go without it.
func TestShrinkFindsTheCause(t *testing.T) {
	c := New(6, 4, Expiry)
	for i := 5; len(c.Flows) < 3 || len(c.Events) < 3; i++ {
		c = New(6, i, Expiry)
	}
	flow, event := c.Flows[1], c.Events[2]
	same := func(c *Case) bool {
		found := 0
		for _, f := range c.Flows {
			if f.From == flow.From && f.To == flow.To && f.Priority == flow.Priority {
				found |= 1
			}
		}
		for _, e := range c.Events {
			if e.Do == event.Do && e.Node == event.Node && e.Link == event.Link {
				found |= 2
			}
		}
		_, _, _, err := c.world("none", detect.NewNone)
		return found == 3 && err == nil
	}
	small := Shrink(t.Context(), c, 10_000, same)
	if len(small.Flows) != 1 || len(small.Events) != 1 || len(small.Dead) != 0 || len(small.Routes) != 0 {
		t.Errorf("%s", small.Text("none", ""))
	}
	if len(small.Hosts) < 1 || len(small.Hosts) > 3 {
		t.Errorf("hosts left: %v", small.Hosts)
	}
	if small := Shrink(t.Context(), c, 0, same); len(small.Flows) != len(c.Flows) {
		t.Error("it was changed without a try")
	}
}
