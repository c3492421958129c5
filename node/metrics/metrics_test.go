package metrics

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"

	"softswitch/host"
	"softswitch/host/roce"
	"softswitch/internal/control"
	"softswitch/node/observe"
	"softswitch/unit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for that must happen.
const patience = 20 * time.Second

// fabric is a sample that has something of every metric.
func fabric() Sample {
	j := observe.NewJournal([]string{"a"})
	p := observe.Port{Name: "a", Up: true, Messages: [2]uint64{8, 9}, Drops: map[string]uint64{"ttl_expired": 2, "headroom_full": 1}, Odd: map[string]uint64{"mac_table_full": 3}}
	p.RxFrames[3], p.TxFrames[3], p.RxBytes[3], p.TxBytes[3] = 10, 11, 1000, 1100
	p.RxPause[3], p.RxResume[3], p.TxPause[3], p.TxResume[3], p.TxRefresh[3] = 5, 4, 3, 2, 1
	p.Paused[3], p.XOFF[3], p.Marked[3] = true, true, 14
	p.Pause[3] = observe.Pause{Count: 6, Time: 2 * unit.Second, Start: 3 * unit.Second}
	p.Queue[3] = observe.Queue{Bytes: 700, Watermark: 800}
	p.Starved[3] = 1500 * unit.Millisecond
	p.Group[3] = observe.Group{Bytes: 500, Headroom: 100, Watermark: 900, HeadroomWatermark: 200}
	p.RxFrames[0], p.Link.Drops, p.Link.Truncated, p.Link.Offloaded, p.Link.Busy = 7, 1, 3, 5, 2
	p.PausesInVain[3], p.RxUnheeded[3], p.UnheededLost[3] = 91, 92, 93
	history := j.History()
	history.Deadlocks, history.Rerouted = 3, 4
	history.InForce = []observe.Place{{Port: "a", Priority: 3}}
	history.Actions["drop"], history.Refusals["port down"], history.LinkDowns["a"] = 5, 6, 7
	history.Detection = observe.Histogram{Sum: 5.5}
	history.Detection.Counts[2], history.Detection.Counts[10] = 1, 1
	w := &observe.Watchdog{Queues: []observe.WatchdogQueue{{Port: "a", Priority: 3}}}
	w.Queues[0].Detected, w.Queues[0].Restored, w.Queues[0].Stormed = 2, 1, true
	h := observe.Host{Name: "h1", Sent: []host.Sent{{Name: "f", Frames: 12}}, Received: []host.Received{{Number: 4, Frames: 13, Bytes: 1300, Lost: 2}}}
	h.Counters.RxPause[3], h.Counters.Overflow, h.Link.Truncated = 9, 3, 4
	h.Counters.RC = host.BadPackets{Malformed: 1, ICRC: 2, UnknownQP: 3}
	for i := range uint64(2) {
		h.Sent = append(h.Sent, host.Sent{Name: fmt.Sprint("rc", i), Messages: &host.Messages{
			Done: 20 + i, TimeSum: unit.Time(i+1) * unit.Second, CNPs: 30 + i, RequesterCounters: roce.RequesterCounters{Again: 40 + i, Naks: 50 + i, Timeouts: 60 + i},
		}})
		h.Received = append(h.Received, host.Received{Number: uint32(5 + i), Packets: &roce.Received{}, Marked: 70 + i, CNPs: 80 + i})
	}
	return Sample{
		Switches: []observe.Sample{{
			Switch: observe.Switch{
				Name: "s1", Detector: "itsy", Response: "drop", DetectorBytes: 42, SharedBytes: 43, LosslessLost: 44, Lossless: []int{3, 4},
				Live: observe.Live{At: 4 * unit.Second, EventsLost: 45, Lateness: unit.Millisecond}, Ports: []observe.Port{p},
			},
			Version: "v1.2", History: history, Watchdog: w,
		}},
		Hosts: []observe.Host{h},
		Down:  []Node{{"s2", "switch"}},
	}
}

// scrape is the text that a Prometheus gets of a sample.
func scrape(t *testing.T, s Sample) string {
	t.Helper()
	w := httptest.NewRecorder()
	Handler("", func() Sample { return s }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestValues(t *testing.T) {
	text := scrape(t, fabric())
	for _, want := range []string{
		`softswitch_up{kind="switch",node="s1"} 1`,
		`softswitch_up{kind="switch",node="s2"} 0`,
		`softswitch_up{kind="host",node="h1"} 1`,
		`softswitch_switch_info{detector="itsy",response="drop",switch="s1",version="v1.2"} 1`,
		`softswitch_queue_deadlocked{port="a",priority="3",switch="s1"} 1`,
		`softswitch_queue_deadlocked{port="a",priority="4",switch="s1"} 0`,
		`softswitch_pfc_frames_total{direction="rx",kind="pause",port="a",priority="3",switch="s1"} 5`,
		`softswitch_pfc_frames_total{direction="tx",kind="refresh",port="a",priority="3",switch="s1"} 1`,
		`softswitch_pfc_pause_seconds_total{port="a",priority="3",switch="s1"} 3`, // 2 s, and 1 s of the pause in force
		`softswitch_ecn_marked_packets_total{port="a",priority="3",switch="s1"} 14`,
		`softswitch_pfc_pauses_total{port="a",priority="3",switch="s1"} 6`,
		`softswitch_queue_paused{port="a",priority="3",switch="s1"} 1`,
		`softswitch_queue_bytes{port="a",priority="3",switch="s1"} 700`,
		`softswitch_queue_starved_seconds{port="a",priority="3",switch="s1"} 1.5`,
		`softswitch_priority_group_bytes{area="shared",port="a",priority="3",switch="s1"} 400`,
		`softswitch_priority_group_bytes{area="headroom",port="a",priority="3",switch="s1"} 100`,
		`softswitch_packets_total{direction="rx",port="a",priority="0",switch="s1"} 7`,
		`softswitch_dropped_packets_total{port="a",reason="ttl_expired",switch="s1"} 2`,
		`softswitch_deadlocks_declared_total{switch="s1"} 3`,
		`softswitch_deadlock_declaration_seconds_bucket{switch="s1",le="0.001"} 1`,
		`softswitch_deadlock_declaration_seconds_bucket{switch="s1",le="3"} 1`,
		`softswitch_deadlock_declaration_seconds_bucket{switch="s1",le="+Inf"} 2`,
		`softswitch_deadlock_declaration_seconds_sum{switch="s1"} 5.5`,
		`softswitch_actions_total{action="drop",switch="s1"} 5`,
		`softswitch_pfcwd_storms_total{port="a",priority="3",state="restored",switch="s1"} 1`,
		`softswitch_host_loss_packets_total{host="h1",where="fabric"} 2`,
		`softswitch_host_loss_packets_total{host="h1",where="host"} 3`,
		`softswitch_host_messages_total{host="h1"} 41`,
		`softswitch_host_message_seconds_total{host="h1"} 3`,
		`softswitch_host_retransmitted_packets_total{host="h1"} 81`,
		`softswitch_host_naks_total{host="h1"} 101`,
		`softswitch_host_timeouts_total{host="h1"} 121`,
		`softswitch_host_cnp_packets_total{direction="rx",host="h1"} 61`,
		`softswitch_host_cnp_packets_total{direction="tx",host="h1"} 161`,
		`softswitch_host_ecn_marked_packets_total{host="h1"} 141`,
		`softswitch_host_bad_packets_total{host="h1",reason="malformed"} 1`,
		`softswitch_host_bad_packets_total{host="h1",reason="icrc"} 2`,
		`softswitch_host_bad_packets_total{host="h1",reason="unknown_qp"} 3`,
		`softswitch_lateness_seconds{node="s1"} 0.001`,
		`softswitch_pauses_in_vain_total{port="a",priority="3",switch="s1"} 91`,
		`softswitch_unheeded_packets_total{port="a",priority="3",switch="s1"} 92`,
		`softswitch_unheeded_lost_packets_total{port="a",priority="3",switch="s1"} 93`,
		`softswitch_link_truncated_packets_total{node="s1",port="a"} 3`,
		`softswitch_link_offloaded_packets_total{node="s1",port="a"} 5`,
		`softswitch_link_truncated_packets_total{node="h1",port=""} 4`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if strings.Contains(text, `priority="5"`) {
		t.Error("a priority that is neither lossless nor used is told")
	}
}

// A host that only receives connections tells of them, and one with UDP flows alone does not.
func TestConnections(t *testing.T) {
	receives, bad, udp := observe.Host{Name: "receives"}, observe.Host{Name: "bad"}, observe.Host{Name: "udp"}
	receives.Received = []host.Received{{Packets: &roce.Received{}}}
	bad.Counters.RC.ICRC = 1
	udp.Sent, udp.Received = []host.Sent{{Name: "f", Frames: 1}}, []host.Received{{Frames: 1}}
	text := scrape(t, Sample{Hosts: []observe.Host{receives, bad, udp}})
	for _, name := range []string{"messages_total", "naks_total", "ecn_marked_packets_total"} {
		for host, want := range map[string]bool{"receives": true, "bad": true, "udp": false} {
			if line := fmt.Sprintf("softswitch_host_%s{host=%q} 0\n", name, host); strings.Contains(text, line) != want {
				t.Errorf("is there a line %q: %t", line, !want)
			}
		}
	}
}

// A lab's metrics have its name, all of them.
func TestLabLabel(t *testing.T) {
	w := httptest.NewRecorder()
	Handler("ss", fabric).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, `lab="ss"`) {
			t.Errorf("no lab: %s", line)
		}
	}
	if text := w.Body.String(); !strings.Contains(text, `softswitch_up{kind="switch",lab="ss",node="s1"} 1`) {
		t.Errorf("no softswitch_up of the lab: %s", text)
	}
}

// Every metric is there, has the name, help and type that Prometheus advises, and no
// other is.
func TestNames(t *testing.T) {
	text := scrape(t, fabric())
	for _, m := range all {
		if !strings.Contains(text, "# TYPE "+m.name+" ") {
			t.Errorf("the sample has nothing of %s", m.name)
		}
	}
	found := regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(text, -1)
	if len(found) != len(all) {
		t.Errorf("%d metrics, want the %d that are defined", len(found), len(all))
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Every metric and label that the dashboard asks for exists.
func TestDashboard(t *testing.T) {
	data, err := os.ReadFile("../../docs/grafana/softswitch.json")
	if err != nil {
		t.Fatal(err)
	}
	var board any
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	var exprs []string
	walk(board, func(key, value string) {
		if key == "expr" || key == "query" && strings.HasPrefix(value, "label_values(") {
			exprs = append(exprs, value)
		}
	})
	if len(exprs) < 20 {
		t.Fatalf("only %d expressions", len(exprs))
	}
	for _, e := range exprs {
		if faults := checkExpr(e); len(faults) > 0 {
			t.Errorf("%s: %s", e, strings.Join(faults, "; "))
		}
	}
	// The alarm rings.
	for bad, want := range map[string]string{
		"sum(softswitch_pauses)":                               `no metric "softswitch_pauses"`,
		`softswitch_queue_bytes{queue="3"}`:                    `no label "queue" of softswitch_queue_bytes`,
		"sum by (where) (softswitch_queue_bytes)":              `no label "where" of softswitch_queue_bytes`,
		"label_values(softswitch_up, switch)":                  `no label "switch" of softswitch_up`,
		"rate(softswitch_deadlocks_declared_total_bucket[1m])": `no metric "softswitch_deadlocks_declared_total_bucket"`,
	} {
		if faults := checkExpr(bad); !slices.Contains(faults, want) {
			t.Errorf("%s: faults %q, want %q", bad, faults, want)
		}
	}
}

// Every metric and label that the rules for alerts ask for exists.
func TestAlerts(t *testing.T) {
	data, err := os.ReadFile("../../docs/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules := regexp.MustCompile(`(?m)^ +expr: (.*)$`).FindAllStringSubmatch(string(data), -1)
	if len(rules) < 5 || len(rules) != strings.Count(string(data), "- alert: ") {
		t.Fatalf("%d expressions of %d alerts", len(rules), strings.Count(string(data), "- alert: "))
	}
	for _, r := range rules {
		if faults := checkExpr(r[1]); len(faults) > 0 {
			t.Errorf("%s: %s", r[1], strings.Join(faults, "; "))
		}
	}
}

// Prometheus takes the rules for alerts, and they fire and resolve as their test says;
// with a rule that never fires it does not.
func TestPromtool(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skipf("%v: apt-get install prometheus", err)
	}
	const dir = "../../docs/prometheus/"
	for _, args := range [][]string{{"check", "rules", dir + "alerts.yaml"}, {"test", "rules", dir + "alerts_test.yaml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	bad := t.TempDir()
	for _, name := range []string{"alerts.yaml", "alerts_test.yaml"} {
		text, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		never := strings.Replace(string(text), "softswitch_queue_deadlocked == 1", "softswitch_queue_deadlocked == 2", 1)
		if err := os.WriteFile(filepath.Join(bad, name), []byte(never), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("promtool", "test", "rules", filepath.Join(bad, "alerts_test.yaml")).CombinedOutput(); err == nil {
		t.Errorf("a rule that never fires passes:\n%s", out)
	}
}

// Every metric that the documentation names exists.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/show.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`(softswitch_[a-z_]+)").FindAllSubmatch(text, -1)
	if len(names) < 20 {
		t.Fatalf("only %d names", len(names))
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(m *metric) bool { return m.name == string(n[1]) }) {
			t.Errorf("no metric %s", n[1])
		}
	}
}

// walk calls fn for every string of a JSON value that has a key.
func walk(v any, fn func(key, value string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if s, ok := value.(string); ok {
				fn(key, s)
			}
			walk(value, fn)
		}
	case []any:
		for _, value := range v {
			walk(value, fn)
		}
	}
}

var (
	metricRule = regexp.MustCompile(`softswitch_\w+`)
	labelRule  = regexp.MustCompile(`(\w+)\s*=~?"`)
	byRule     = regexp.MustCompile(`by \(([^)]*)\)|label_values\(\w+, (\w+)\)`)
	listRule   = regexp.MustCompile(`variableLabels: \{([^}]*)\}`)
)

// checkExpr lists what an expression asks for that does not exist. All its labels have
// to be those of all its metrics.
func checkExpr(expr string) (faults []string) {
	var want []string
	for _, l := range labelRule.FindAllStringSubmatch(expr, -1) {
		want = append(want, l[1])
	}
	for _, b := range byRule.FindAllStringSubmatch(expr, -1) {
		want = append(want, strings.FieldsFunc(b[1]+","+b[2], func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	for _, name := range metricRule.FindAllString(expr, -1) {
		i := slices.IndexFunc(all, func(m *metric) bool {
			return m.name == name || m == detection && slices.Contains([]string{"_bucket", "_sum", "_count"}, strings.TrimPrefix(name, m.name))
		})
		if i < 0 {
			faults = append(faults, fmt.Sprintf("no metric %q", name))
			continue
		}
		has := append(strings.Split(listRule.FindStringSubmatch(all[i].desc.String())[1], ","), "le", labLabel)
		for _, l := range want {
			if !slices.Contains(has, l) {
				faults = append(faults, fmt.Sprintf("no label %q of %s", l, name))
			}
		}
	}
	return faults
}

// served is a server of metrics.
type served struct {
	*testing.T
	url  string
	stop func()
	done chan error
}

func serve(t *testing.T, take func() Sample) *served {
	t.Helper()
	ln, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &served{t, "http://" + ln.Addr().String() + "/metrics", stop, make(chan error, 1)}
	go func() { s.done <- Serve(ctx, ln, Handler("", take)) }()
	t.Cleanup(func() {
		stop()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

func (s *served) wantEnd() {
	s.Helper()
	select {
	case err := <-s.done:
		if err != nil {
			s.Errorf("Serve: %v", err)
		}
	case <-time.After(patience):
		s.Fatal("Serve does not end")
	}
}

func (s *served) get() (text string, err error) {
	r, err := http.Get(s.url)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

// What listens without a host is reached from this machine only.
func TestLoopback(t *testing.T) {
	for _, addr := range []string{":0", "0", "127.0.0.1:0"} {
		ln, err := Listen(addr)
		if err != nil {
			t.Fatal(err)
		}
		if a := ln.Addr().(*net.TCPAddr); !a.IP.IsLoopback() {
			t.Errorf("%s listens at %v", addr, a)
		}
		ln.Close()
	}
	ln, err := Listen("0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if a := ln.Addr().(*net.TCPAddr); !a.IP.IsUnspecified() {
		t.Errorf("0.0.0.0:0 listens at %v", a)
	}
}

// A page of somebody else, in a browser on this machine, learns nothing: neither by a name that
// leads here nor by a request of its own. What is too long, or does not come, is not waited for.
func TestRefused(t *testing.T) {
	s := serve(t, fabric)
	addr := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/metrics")
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	const get = "GET /metrics HTTP/1.1\r\nConnection: close\r\n"
	for _, tt := range []struct{ name, request, want string }{
		{"an address", get + "Host: " + addr + "\r\n\r\n", "HTTP/1.1 200 "},
		{"localhost", get + "Host: localhost:" + port + "\r\n\r\n", "HTTP/1.1 200 "},
		{"a foreign name", get + "Host: evil.example:" + port + "\r\n\r\n", "HTTP/1.1 403 "},
		{"no name", "GET /metrics HTTP/1.0\r\n\r\n", "HTTP/1.0 403 "},
		{"a foreign origin", get + "Host: " + addr + "\r\nOrigin: http://evil.example\r\n\r\n", "HTTP/1.1 403 "},
		{"a long header", get + "Host: " + addr + "\r\nX: " + strings.Repeat("x", 30<<10) + "\r\n\r\n", "HTTP/1.1 431 "},
	} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		go io.WriteString(c, tt.request) // the server may hang up before it has read all
		got, _ := io.ReadAll(c)          // and reset the connection
		c.Close()
		if !strings.HasPrefix(string(got), tt.want) || strings.HasPrefix(tt.want, "HTTP/1.1 4") && strings.Contains(string(got), "softswitch_") {
			t.Errorf("%s: %.200q, want %q", tt.name, got, tt.want)
		}
	}
	s.stop()
	s.wantEnd()
}

// The name that it was told to listen on is right.
func TestNamed(t *testing.T) {
	ln, err := Listen("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if ln.host != "localhost" {
		t.Errorf("it is served as %q", ln.host)
	}
}

func TestBadAddresses(t *testing.T) {
	ln, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for addr, want := range map[string]string{
		ln.Addr().String():  "another program listens there; choose another port",
		"127.0.0.1:http":    `port "http"; valid: host:port`,
		"127.0.0.1:65536":   `port "65536"; valid: host:port`,
		"nowhere.invalid:1": "nowhere.invalid",
	} {
		if l, err := Listen(addr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", addr, err, want)
			if err == nil {
				l.Close()
			}
		}
	}
}

// A server that is stopped while scrapes are under way ends, and each scrape has a whole
// answer or none.
func TestScrapeDuringShutdown(t *testing.T) {
	for range 20 {
		asked := make(chan struct{}, 1000)
		s := serve(t, func() Sample {
			select {
			case asked <- struct{}{}:
			default:
			}
			return fabric()
		})
		var scrapers sync.WaitGroup
		for range 4 {
			scrapers.Go(func() {
				for {
					text, err := s.get()
					if err != nil {
						return
					}
					if !strings.Contains(text, "softswitch_up") {
						t.Errorf("half an answer: %q", text)
					}
				}
			})
		}
		<-asked
		s.stop()
		s.wantEnd()
		scrapers.Wait()
	}
}

// A scrape that hangs does not keep the server from ending.
func TestShutdownWhileScrapeHangs(t *testing.T) {
	leave, entered := make(chan struct{}), make(chan struct{})
	s := serve(t, func() Sample {
		close(entered)
		<-leave
		return Sample{}
	})
	failed := make(chan error, 1)
	go func() {
		_, err := s.get()
		failed <- err
	}()
	<-entered
	s.stop()
	s.wantEnd()
	if err := <-failed; err == nil {
		t.Error("the scrape that hung was answered")
	}
	close(leave)
}

// pipeListener accepts one connection, whose other end is the client of a bubble.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.conns) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// onPipe asks a server for its metrics, of which a sample takes so long, in a bubble, and hands
// the client's end to then.
func onPipe(t *testing.T, takes time.Duration, then func(client net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		ln := &pipeListener{conns: make(chan net.Conn, 1)}
		ln.conns <- server
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- Serve(ctx, &Listener{ln, "localhost"}, Handler("", func() Sample {
				time.Sleep(takes)
				return fabric()
			}))
		}()
		if _, err := io.WriteString(client, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		then(client)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// An answer that takes longer to make than it may take to be sent comes all the same.
func TestLateAnswer(t *testing.T) {
	onPipe(t, writeMax+time.Second, func(client net.Conn) {
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(text), "softswitch_up") {
			t.Errorf("%s, %d octets (%v)", resp.Status, len(text), err)
		}
	})
}

// A client that takes nothing of its answer is hung up on.
func TestAnswerThatNobodyReads(t *testing.T) {
	onPipe(t, 0, func(client net.Conn) {
		time.Sleep(writeMax + time.Second)
		if n, err := client.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("%d octets after %v (%v), want the end", n, writeMax+time.Second, err)
		}
	})
}

// A thousand clients that connect and say nothing are refused nothing, and the server's
// end does not wait for them.
func TestThousandSilentClients(t *testing.T) {
	s := serve(t, fabric)
	addr := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/metrics")
	for range 1000 {
		c, err := net.DialTimeout("tcp", addr, patience)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	s.stop()
	s.wantEnd()
}

// More scrapes at once than are served are told so.
func TestScrapesAreBounded(t *testing.T) {
	leave := make(chan struct{})
	s := serve(t, func() Sample {
		<-leave
		return fabric()
	})
	codes := make(chan int, scrapesMax+1)
	for range scrapesMax + 1 {
		go func() {
			r, err := http.Get(s.url)
			if err != nil {
				t.Error(err)
				codes <- 0
				return
			}
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
			codes <- r.StatusCode
		}()
	}
	if code := <-codes; code != http.StatusServiceUnavailable {
		t.Errorf("one scrape too many: status %d, want 503", code)
	}
	close(leave)
	for range scrapesMax {
		if code := <-codes; code != http.StatusOK {
			t.Errorf("status %d, want 200", code)
		}
	}
}

// However often it is asked, scrapes take a quarter of the time, and the next one does not wait
// for a client that reads slowly.
func TestScrapesRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes, n = 2 * time.Millisecond, 100
		h := Handler("", func() Sample {
			time.Sleep(takes) // of the bubble's time
			return Sample{}
		})
		ask := func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/metrics", nil)) }
		begun := time.Now()
		var clients sync.WaitGroup
		for range 2 {
			clients.Go(func() {
				for range n / 2 {
					ask()
				}
			})
		}
		clients.Wait()
		if got, want := time.Since(begun), n*takes+(n-1)*control.Rest(takes); got != want {
			t.Errorf("%d scrapes took %v, want %v", n, got, want)
		}
		slow, read := &slowly{ResponseRecorder: httptest.NewRecorder(), begun: make(chan struct{})}, make(chan struct{})
		go func() {
			defer close(read)
			h.ServeHTTP(slow, httptest.NewRequest("GET", "/metrics", nil))
		}()
		<-slow.begun
		begun = time.Now()
		ask()
		if got, want := time.Since(begun), control.Rest(takes)+takes; got != want {
			t.Errorf("beside a client that reads slowly a scrape took %v, want %v", got, want)
		}
		<-read
	})
}

// slowly takes an hour to read its answer.
type slowly struct {
	*httptest.ResponseRecorder
	begun chan struct{}
}

func (s *slowly) Write(b []byte) (int, error) {
	close(s.begun)
	time.Sleep(time.Hour)
	return s.ResponseRecorder.Write(b)
}

// A connection is for one request, be it for nothing that there is.
func TestOneRequest(t *testing.T) {
	s := serve(t, fabric)
	c, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go io.WriteString(c, strings.Repeat("GET /nosuch HTTP/1.1\r\nHost: localhost\r\n\r\n", 100))
	got, _ := io.ReadAll(c) // the connection may be reset
	if n := strings.Count(string(got), "HTTP/1.1 404"); n != 1 {
		t.Errorf("%d answers, want one: %.300q", n, got)
	}
	s.stop()
	s.wantEnd()
}

// Nothing else is served than metrics and a page that leads there.
func TestPaths(t *testing.T) {
	h := Handler("", fabric)
	for _, tt := range []struct {
		method, path string
		code         int
	}{{"GET", "/metrics", 200}, {"GET", "/", 200}, {"GET", "/x", 404}, {"POST", "/metrics", 405}} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.code {
			t.Errorf("%s %s: status %d, want %d", tt.method, tt.path, w.Code, tt.code)
		}
	}
}
