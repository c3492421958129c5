package node

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"softswitch/dataplane"
	"softswitch/detect/itsy"
	"softswitch/link"
	"softswitch/live"
	"softswitch/node/config"
	"softswitch/node/metrics"
)

// pipedNode is a switch of two ports on pipes, which runs until ctx ends.
func pipedNode(t testing.TB, ctx context.Context) (n *live.Node, s *switchNode, ended chan error) {
	t.Helper()
	cfg := config.Switch{Name: "s1", ID: 1, Ports: []config.Port{{Name: "a"}, {Name: "b"}}}
	cfg.Fill()
	sw, err := dataplane.NewSwitch(cfg.Build(itsy.New, live.Batch, live.Granularity))
	if err != nil {
		t.Fatal(err)
	}
	s = newSwitchNode(sw, "")
	n, err = live.New(live.Options{
		Machine: sw, Ports: []live.Port{{Name: "a"}, {Name: "b"}}, Log: s.journal.Read,
		Open: func(live.Port) (link.Link, error) {
			l, _ := link.Pipe()
			return l, nil
		},
		Watch: func(ctx context.Context, names []string, update func(live.LinkState)) error {
			for _, name := range names {
				update(live.LinkState{Name: name, Index: 1, Running: true})
			}
			<-ctx.Done()
			return ctx.Err()
		},
	})
	if err == nil {
		err = n.Open()
	}
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return n, s, ended
}

// TestScrapeWhileNodeEnds scrapes a switch all the time while it ends: each scrape has
// a whole answer or none, and the switch ends.
func TestScrapeWhileNodeEnds(t *testing.T) {
	for range 10 {
		ctx, stop := context.WithCancel(context.Background())
		n, s, ended := pipedNode(t, ctx)
		ln, err := metrics.Listen(":0")
		if err != nil {
			t.Fatal(err)
		}
		served, asked := make(chan error, 1), make(chan struct{}, 1<<10)
		handler := metrics.Handler("", func() metrics.Sample { return s.metrics(n) })
		go func() { served <- metrics.Serve(ctx, ln, handler) }()
		var scrapers sync.WaitGroup
		for range 3 {
			scrapers.Go(func() {
				for scrapeOnce(t, "http://"+ln.Addr().String()+"/metrics") {
					select {
					case asked <- struct{}{}:
					default:
					}
				}
			})
		}
		<-asked
		stop()
		for what, done := range map[string]chan error{"the node": ended, "the server": served} {
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s does not end", what)
			}
		}
		scrapers.Wait()
		if text := s.metrics(n).Switches[0].Switch.Name; text != "s1" {
			t.Errorf("the node that has ended says it is %q", text)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// scrapeOnce is false if there was no answer.
func scrapeOnce(t *testing.T, url string) bool {
	r, err := http.Get(url)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	if r.StatusCode == http.StatusOK && !strings.Contains(string(text), `softswitch_up{kind="switch",node="s1"} 1`) {
		t.Errorf("half an answer: %s", text)
	}
	return true
}

// BenchmarkSample is what a scrape costs a switch of two ports, of which the switch is
// held for a part.
func BenchmarkSample(b *testing.B) {
	ctx, stop := context.WithCancel(context.Background())
	n, s, ended := pipedNode(b, ctx)
	for b.Loop() {
		s.metrics(n)
	}
	stop()
	<-ended
}

func BenchmarkSampleJSON(b *testing.B) {
	ctx, stop := context.WithCancel(context.Background())
	n, s, ended := pipedNode(b, ctx)
	for b.Loop() {
		v, _ := json.Marshal(s.take(n))
		b.SetBytes(int64(len(v)))
	}
	stop()
	<-ended
}
