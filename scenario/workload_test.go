package scenario

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"softswitch/unit"
)

// TestWorkload: messages become flows, with what is written of all of them, beside the
// others.
func TestWorkload(t *testing.T) {
	const text = `
name: x
topology: {fattree: {k: 4}, rate: 10Gbit/s}
dead: [h0-0-0]
nics: [h0-0-1]
flows: [{name: A, from: h1-0-0, to: h1-0-1}]
workload:
  - {name: web, pattern: random, sizes: storage, load: 0.4, start: 1ms, stop: 3ms, seed: 7, priority: 4, frame: 1200}
  - {name: sum, pattern: ring-allreduce, hosts: [h1-0-0, h2-0-0, h3-0-0], size: 3000, chunks: 2, transport: rc, rc: {message: 100}}
duration: 5ms
`
	p := compile(t, "x.yaml", text)
	checkPlan(t, p)
	name := func(i int) string { return p.Fabric.Nodes[i].Name }
	var sum []string
	web := 0
	for i, f := range p.Scenario.Flows {
		switch {
		case strings.HasPrefix(f.Name, "web-"):
			web++
			if f.Name != fmt.Sprintf("web-%d", web) || f.Size == 0 || f.Priority != 4 || f.Frame != 1200 || f.Stop != 0 ||
				f.Start < unit.Millisecond || f.Start >= 3*unit.Millisecond || f.Start < p.Scenario.Flows[i-1].Start {
				t.Errorf("flow %d is %+v", i, f)
			}
			for _, h := range []int{f.From, f.To} {
				if name(h) == "h0-0-0" || name(h) == "h0-0-1" {
					t.Errorf("%s goes from %s to %s", f.Name, name(f.From), name(f.To))
				}
			}
		case strings.HasPrefix(f.Name, "sum-"):
			sum = append(sum, fmt.Sprintf("%s>%s:%d", name(f.From), name(f.To), f.Size))
			if f.RC == nil || f.RC.Message != 100 || f.Start != 0 {
				t.Errorf("%s is %+v", f.Name, f)
			}
		}
	}
	// 14 hosts at 0.4 of 10 Gbit/s for 2 ms, by the mean of 40,870 bytes.
	if web < 300 || web > 380 {
		t.Errorf("%d messages of web, want about 342", web)
	}
	if got, want := strings.Join(sum, " "), "h1-0-0>h2-0-0:2000 h1-0-0>h2-0-0:2000 h2-0-0>h3-0-0:2000 h2-0-0>h3-0-0:2000 h3-0-0>h1-0-0:2000 h3-0-0>h1-0-0:2000"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again := compile(t, "x.yaml", text); !reflect.DeepEqual(p, again) {
		t.Error("compiled twice, it differs")
	}
	s, err := p.Scenario.Slow(10)
	if err != nil {
		t.Fatal(err)
	}
	if f, g := p.Scenario.Flows[1], s.Flows[1]; g.Start != 10*f.Start || g.Size != f.Size {
		t.Errorf("ten times slower, %+v becomes %+v", f, g)
	}
}

// TestNoMessages: a workload of which nothing comes is told.
func TestNoMessages(t *testing.T) {
	s, err := Parse("x.yaml", []byte("name: x\ntopology: {fattree: {k: 4}, rate: 1Mbit/s}\nworkload: {name: web, pattern: random, sizes: websearch, load: 0.1}\nduration: 1us\n"), known)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Warnings, "\n"); !strings.Contains(got, "x.yaml:3: workload: no message begins") {
		t.Errorf("warnings: %q", got)
	}
}

// BenchmarkWorkload draws and compiles 10,000 messages on 128 hosts.
func BenchmarkWorkload(b *testing.B) {
	const text = "name: x\ntopology: {fattree: {k: 8}, rate: 100Gbit/s}\nworkload: {name: web, pattern: random, size: 100000, load: 0.625}\nduration: 1ms\n"
	for b.Loop() {
		p := compile(b, "x", text)
		b.ReportMetric(float64(len(p.Flows)), "flows")
	}
}
