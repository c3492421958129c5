// Package testbrowser drives a headless Chromium for tests of pages: open an address, wait
// for something to be true in it, click, look, and keep screenshots in build/screenshots.
//
// What it does not do: it is for tests alone, and skips where -short is given, or where
// there is no Chromium, and says how to get it.
package testbrowser

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// names are what Chromium's program is called.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

// limit bounds each step, for what hangs: several times what the longest takes on a busy machine,
// on which a browser was seen to take a minute to start.
const limit = 4 * time.Minute

// pollEvery is how often Await looks.
const pollEvery = 50 * time.Millisecond

// Look is how a page is looked at.
type Look struct {
	Dark, ReducedMotion bool
	Grey                bool // without colour
	Width, Height       int  // of the window, in pixels; 0: 1600 and 1000
}

// Tab is a page that is open. Its methods end the test if they fail.
type Tab struct {
	t   testing.TB
	ctx context.Context
}

// Logf is the test's.
func (b *Tab) Logf(format string, args ...any) { b.t.Helper(); b.t.Logf(format, args...) }

// browser is the one in which tests that go on at the same time open their pages: it takes
// longer to start than most of them take.
var browser struct {
	sync.Mutex
	tabs int // that are open
	ctx  context.Context
	stop func()
}

// start has the browser run until end.
func start(t testing.TB) (ctx context.Context, end func()) {
	t.Helper()
	b := &browser
	b.Lock()
	defer b.Unlock()
	if b.tabs == 0 {
		path := find(t)
		temp, err := os.MkdirTemp("", "testbrowser") // it leaves a folder in TMPDIR when it ends
		if err != nil {
			t.Fatal(err)
		}
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true), chromedp.Env("TMPDIR="+temp))
		all, stopAll := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, stop := chromedp.NewContext(all)
		if err := chromedp.Do(ctx); err != nil { // starts it
			stopAll()
			os.RemoveAll(temp)
			t.Fatalf("Chromium: %v", err)
		}
		b.ctx, b.stop = ctx, func() {
			stop()
			stopAll()
			if err := os.RemoveAll(temp); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	b.tabs++
	return b.ctx, func() {
		b.Lock()
		defer b.Unlock()
		if b.tabs--; b.tabs == 0 {
			b.stop()
		}
	}
}

// Open opens a page in a browser, with nothing that another page has left there. The test
// fails if the page's scripts do.
func Open(t testing.TB, url string, look Look) *Tab {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	width, height := cmp.Or(look.Width, 1600), cmp.Or(look.Height, 1000)
	all, end := start(t)
	t.Cleanup(end)
	ctx, stop := chromedp.NewContext(all, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil { // opens the tab, which ends with this context
		t.Fatalf("Chromium: %v", err)
	}
	if err := chromedp.Listen(ctx, func(e any) {
		if e, ok := e.(*runtime.EventExceptionThrown); ok {
			t.Errorf("a script of the page failed: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
		}
	}); err != nil {
		t.Fatalf("Chromium: %v", err)
	}
	tab := &Tab{t, ctx}
	tab.do(chromedp.Func(func(ctx context.Context, to *chromedp.Target) error {
		_, err := cdp.Call(ctx, to, emulation.SetEmulatedMedia, look.media())
		if err != nil || !look.Grey {
			return err
		}
		_, err = cdp.Call(ctx, to, emulation.SetEmulatedVisionDeficiency, emulation.SetEmulatedVisionDeficiencyParams{Type: "achromatopsia"})
		return err
	}), chromedp.EmulateViewport(int64(width), int64(height)), chromedp.Navigate(url))
	return tab
}

func (l Look) media() emulation.SetEmulatedMediaParams {
	scheme, motion := "light", "no-preference"
	if l.Dark {
		scheme = "dark"
	}
	if l.ReducedMotion {
		motion = "reduce"
	}
	return emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
	}}
}

// Need skips a test that opens a page later where there is no browser.
func Need(t testing.TB) {
	t.Helper()
	find(t)
}

func find(t testing.TB) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("no Chromium (%v): install it with `apt-get install -y chromium`", names)
	return ""
}

func (b *Tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, limit)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// value runs an action that has a value.
func value[T any](b *Tab, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, limit)
	defer stop()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// Await waits until a JavaScript expression is true.
func (b *Tab) Await(expr string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, limit)
	defer stop()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool]("!!("+expr+")", chromedp.WithPollingInterval(pollEvery), chromedp.WithPollingTimeout(0)))
	if err != nil {
		b.Shot("failed-" + b.t.Name())
		b.t.Fatalf("%s has not come to be: %v; the page says: %s", expr, err, b.Text("body"))
	}
}

// Run runs JavaScript.
func (b *Tab) Run(statement string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](statement + "; undefined"))
}

// Is reports whether a JavaScript expression is true.
func (b *Tab) Is(expr string) bool {
	b.t.Helper()
	return value(b, chromedp.Evaluate[bool]("!!("+expr+")"))
}

// Value is the value of a JavaScript expression, which is a string.
func (b *Tab) Value(expr string) string {
	b.t.Helper()
	return value(b, chromedp.Evaluate[string](expr))
}

// Click clicks on the middle of the first element of a selector, as a mouse does.
func (b *Tab) Click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Press presses keys of package kb, where the focus is.
func (b *Tab) Press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// Text is the text of the first element of a selector; "" if there is none.
func (b *Tab) Text(selector string) string {
	b.t.Helper()
	return value(b, chromedp.Evaluate[string](fmt.Sprintf("(document.querySelector(%q) || {}).innerText || ''", selector)))
}

// Shot keeps a screenshot as build/screenshots/NAME.png of the module.
func (b *Tab) Shot(name string) {
	b.t.Helper()
	png := value(b, chromedp.CaptureScreenshot())
	dir := filepath.Join(root(b.t), "build", "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.Base(name)+".png")
	if err := os.WriteFile(path, png, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("screenshot: %s", path)
}

// root is the module's folder, above the one that the test runs in.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the test's folder")
	return ""
}
