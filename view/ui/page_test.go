package ui_test

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/detect/respond"
	"softswitch/internal/testbrowser"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/scenarios"
	"softswitch/sim"
	"softswitch/view/ui"
)

// TestPageDeadlock plays a simulated deadlock in a browser: it forms, is declared, and the
// page says and shows where it is and who its trigger is.
func TestPageDeadlock(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "fattree-on-loop.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(0)")
	tab.Await("document.body.dataset.status === 'ok'")
	tab.Run("go(states.findIndex((s) => s.declared && s.declared.trigger >= 0) + 3)")
	tab.Await("document.body.dataset.status === 'deadlock'")
	tab.Shot("sim-deadlock")
	for what, expr := range map[string]string{
		"a loop of four links":             "document.querySelectorAll('#lanes .lane.core').length === 4",
		"its order":                        "[...document.querySelectorAll('.step-text')].map((e) => e.textContent).join('') === '1234'",
		"pauses with their class in words": "[...document.querySelectorAll('[data-paused] text')].every((e) => e.textContent === '‖3')",
		"a link that is down":              "document.querySelectorAll('#lanes .lane.down').length === 4",
		"the trigger":                      "document.querySelector('[data-trigger]').dataset.trigger === 'agg0-0'",
		"the loop in words":                "/DEADLOCK of class 3.*(core0|core1).*wait for one another.*initial trigger is switch agg0-0, on the loop/.test($('words').textContent)",
		"a buffer above XOFF":              "document.querySelector('#nodes .fill.off') !== null",
	} {
		if !tab.Is(expr) {
			t.Errorf("the page does not show %s; it says: %s", what, tab.Text("#words"))
		}
	}
}

// TestPageResolved plays a deadlock that a response breaks.
func TestPageResolved(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "itsy-fig2.yaml", "itsy", "drop+trigger"), testbrowser.Look{Dark: true, ReducedMotion: true})
	tab.Await("states.length >= 600")
	tab.Run("go(states.findIndex((s) => s.deadlock && s.deadlock.over))")
	tab.Await("document.body.dataset.status === 'resolved'")
	tab.Shot("sim-resolved")
	tab.Run("go(states.length - 1)")
	if s := tab.Text("#entries"); !tab.Is("/the deadlock is over/.test($('entries').textContent)") {
		t.Errorf("the events do not tell that the deadlock is over: %s", s)
	}
}

// TestPageKeyboard uses the page without a mouse.
func TestPageKeyboard(t *testing.T) {
	t.Parallel()
	tab := testbrowser.Open(t, simulated(t, "fattree-on-loop.yaml", "itsy", "none"), testbrowser.Look{ReducedMotion: true})
	tab.Await("states.length >= 600")
	if tab.Is("playing") {
		t.Error("the page moves though its viewer wants no motion")
	}
	tab.Run("go(100)")
	tab.Press(" ")
	tab.Await("at > 102")
	tab.Press(" ")
	if tab.Is("playing") {
		t.Error("the space bar does not pause")
	}
	tab.Run("document.querySelector('.node[tabindex=\"0\"]').focus()")
	tab.Press(kb.ArrowRight)
	tab.Await("document.activeElement.dataset.node === 'core1'")
	tab.Press(kb.Enter)
	tab.Await("$('details').textContent.startsWith('switch core1')")
	tab.Run("$('scrub').focus()")
	tab.Run("go(100)")
	tab.Press(kb.ArrowRight)
	tab.Await("at === 101")
}

// simulated is the address of a page that shows a scenario.
func simulated(t *testing.T, file, detector, response string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	stream := new(ui.Stream)
	simulate(t, stream, file, detector, response)
	return serve(t, stream, nil).URL()
}

func simulate(t *testing.T, stream *ui.Stream, file, detector, response string) *verdict.Verdict {
	t.Helper()
	data, err := scenarios.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Parse(file, data, scenario.Known{Detectors: []string{"itsy", "itsypaper"}, Responses: respond.Names()[1:]})
	if err != nil {
		t.Fatal(err)
	}
	s.Detector, s.Response = detector, response
	plan, err := scenario.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ui.Simulate(plan, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New, "none": detect.NewNone}}, stream)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// serve serves a stream until the test ends.
func serve(t *testing.T, stream *ui.Stream, act func(context.Context, ui.Order) error) *ui.Server {
	t.Helper()
	srv, err := ui.Listen("127.0.0.1:0", stream, act)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return srv
}
