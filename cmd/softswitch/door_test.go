package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"softswitch/internal/control"
	"softswitch/internal/timer"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/node/observe"
	"softswitch/scenario/load"
	"softswitch/unit"
	"softswitch/view/ui"
)

// actors are the nodes of an attached lab, without nodes: sockets that note what they are told.
type actors struct {
	*testing.T
	st    *netnslab.State
	ahead map[string]unit.Time // by node: of its clock

	mu       sync.Mutex
	told     []string        // guarded by mu: "s1 stop null"
	up       map[string]bool // guarded by mu: by "node:interface", as the node knows it
	unheard  map[string]int  // guarded by mu: so many answers until it knows that this has changed
	restarts map[string]int  // guarded by mu
}

// parallel has two links between its switches.
const parallel = `name: parallel
description: Two switches with two links.
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s1--s2, s2--h2]
  rate: 100Mbit/s
flows:
  - {name: A, from: h1, to: h2, rate: line}
  - {name: B, from: h2, to: h1, rate: line}
duration: 10s
`

func newActors(t *testing.T) *actors {
	t.Setenv(netnslab.RunDirVariable, t.TempDir())
	plan, err := load.Plan("parallel.yaml", []byte(parallel), load.Instead{})
	if err != nil {
		t.Fatal(err)
	}
	a := &actors{
		T: t, st: &netnslab.State{Version: 1, Name: "acted", Token: "ours", Complete: true},
		ahead: map[string]unit.Time{}, up: map[string]bool{}, unheard: map[string]int{}, restarts: map[string]int{},
	}
	desc := lab.Describe(plan, lab.Options{Name: a.st.Name, Program: "/bin/softswitch"})
	for _, l := range desc.Links {
		a.st.Links = append(a.st.Links, netnslab.LinkState{A: l.A, B: l.B})
		a.up[l.A.String()], a.up[l.B.String()] = true, true
	}
	for i, n := range desc.Nodes {
		dir := filepath.Join(netnslab.Dir(a.st.Name), n.Name)
		a.st.Nodes = append(a.st.Nodes, netnslab.NodeState{Name: n.Name, Kind: n.Kind, Dir: dir, Via: []string{"beside"}})
		a.ahead[n.Name] = unit.Time(i+1) * 3600 * unit.Second
		a.write(filepath.Join(dir, "config.yaml"), n.Files[0].Data)
		a.serve(filepath.Join(dir, lab.ControlName), func(req control.Request) (any, error) { return a.answer(n.Name, req) })
		a.serve(filepath.Join(dir, netnslab.AgentSocket), func(req control.Request) (any, error) { return nil, a.act(n.Name, req) })
	}
	text, err := json.Marshal(a.st)
	if err != nil {
		t.Fatal(err)
	}
	a.write(filepath.Join(netnslab.Dir(a.st.Name), "state.json"), text)
	return a
}

func (a *actors) write(path string, text []byte) {
	a.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		a.Fatal(err)
	}
}

func (a *actors) serve(path string, handle func(control.Request) (any, error)) {
	a.Helper()
	srv, err := control.Listen(path)
	if err != nil {
		a.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(handle)
	}()
	a.Cleanup(func() {
		srv.Close()
		<-done
	})
}

// answer is that of a node's own socket.
func (a *actors) answer(node string, req control.Request) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	args := string(req.Args)
	switch req.Do {
	case "stats":
		return a.stats(node), nil
	case "restart":
		a.restarts[node]++
	case "start":
		var at struct{ At unit.Time }
		if err := json.Unmarshal(req.Args, &at); err != nil {
			return nil, err
		}
		args = "now"
		if ago := timer.Now() + a.ahead[node] - at.At; max(ago, -ago) > 60*unit.Second {
			args = fmt.Sprintf("%d s from now, by its clock", -ago/unit.Second)
		}
	}
	a.told = append(a.told, fmt.Sprintf("%s %s %s", node, req.Do, args))
	return nil, nil
}

// stats is what a switch says of itself: of its links what it has noticed. Preconditions: a.mu is held.
func (a *actors) stats(node string) observe.Switch {
	s := observe.Switch{Name: node, Live: observe.Live{At: timer.Now() + a.ahead[node], Clock: node, Restarts: a.restarts[node]}}
	for _, l := range a.st.Links {
		for _, e := range []netnslab.End{l.A, l.B} {
			if e.Node != node {
				continue
			}
			at := e.String()
			if a.unheard[at]--; a.unheard[at] == 0 {
				a.up[at] = !a.up[at]
			}
			s.Ports = append(s.Ports, observe.Port{Name: e.Iface, Up: a.up[at]})
		}
	}
	return s
}

// act is what an agent beside a node does. The node hears of its link some answers later.
func (a *actors) act(node string, req control.Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if req.Do == "link" {
		var to netnslab.SetLink
		if err := json.Unmarshal(req.Args, &to); err != nil {
			return err
		}
		a.unheard[netnslab.End{Node: node, Iface: to.Iface}.String()] = 5
	}
	a.told = append(a.told, fmt.Sprintf("%s %s %s", node, req.Do, req.Args))
	return nil
}

// takes is what nodes were told since it was asked last, in the order of words. Switches that have not
// noticed that a link changed are among it.
func (a *actors) takes() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	told := a.told
	for at, answers := range a.unheard {
		if answers > 0 && strings.HasPrefix(at, "s") {
			told = append(told, at+" has not noticed")
		}
	}
	a.told, a.unheard = nil, map[string]int{}
	slices.Sort(told)
	return told
}

// orders are the ways by which something is ordered, and the method of lab.Orders that does it. An
// order that a page, or no command, has is without the other.
var orders = []struct {
	method  string
	page    ui.Order
	command string
	told    []string // all that nodes are told; %d is an interface of the second link
}{
	{"Fail", ui.Order{Do: "fail", Link: "s1--s2#2"}, "fail s1:IF1 s2", []string{`s1 link {"iface":"IF1","up":false}`, `s2 link {"iface":"IF2","up":false}`}},
	{"Heal", ui.Order{Do: "heal", Link: "s1--s2#2"}, "heal s2:IF2 s1", []string{`s1 link {"iface":"IF1","up":true}`, `s2 link {"iface":"IF2","up":true}`}},
	{
		"Impair",
		ui.Order{Do: "impair", Link: "s1--s2#2", Wire: config.Wire{Loss: "1%"}},
		"impair s1:IF1 s2:IF2 --loss 1%",
		[]string{`s1 impair {"port":"IF1","wire":{"loss":"1%"}}`, `s2 impair {"port":"IF2","wire":{"loss":"1%"}}`},
	},
	{"Storm", ui.Order{Do: "storm", Host: "h2", Priority: 3}, "storm h2", []string{`h2 act {"At":0,"Do":"storm","Rate":0,"Priority":3}`}},
	{
		"BoundStorms",
		ui.Order{},
		"storm h2 --budget off",
		[]string{`h2 act {"At":0,"Do":"storm","Rate":0,"Priority":3}`, `s1 storm_budget {"budget_ns":0}`, `s2 storm_budget {"budget_ns":0}`},
	},
	{"Slow", ui.Order{Do: "slow", Host: "h2", Rate: "20Mbit/s"}, "slow h2 20Mbit/s", []string{`h2 act {"At":0,"Do":"slow","Rate":20000000,"Priority":0}`}},
	{"Normal", ui.Order{Do: "normal", Host: "h2"}, "normal h2", []string{`h2 act {"At":0,"Do":"normal","Rate":0,"Priority":0}`}},
	{"Start", ui.Order{Do: "start"}, "start", []string{"h1 start now", "h2 start now"}},
	{"Stop", ui.Order{Do: "stop"}, "stop", []string{"h1 stop ", "h2 stop "}},
	{
		"Respond",
		ui.Order{Do: "response", Response: "drop"},
		"response drop",
		[]string{
			`s1 response {"response":"drop","standing":false}`, `s1 response {"response":"drop","standing":true}`,
			`s2 response {"response":"drop","standing":false}`, `s2 response {"response":"drop","standing":true}`,
		},
	},
	{
		"RestartSwitches",
		ui.Order{Do: "restart", Detector: "itsy", Response: "drop"},
		"",
		[]string{`s1 restart {"detector":"itsy","response":"drop"}`, `s2 restart {"detector":"itsy","response":"drop"}`},
	},
	{"Kill", ui.Order{}, "kill s2", []string{`s2 signal {"signal":"SIGKILL"}`}},
	{"Restart", ui.Order{}, "restart s2", nil}, // refused: somebody else built it
}

// ofScenarios are methods that events of a scenario alone order.
var ofScenarios = []string{"Continue", "Forge", "Freeze", "Lose", "Tape"}

// TestOrdersGoThroughTheDoor: whatever a page orders, and the command that is called so, tells the same
// nodes the same: of links between two nodes those that are named, at both ends; hosts when to start, by
// their clocks; and it is done when the switches have noticed. No page is open.
func TestOrdersGoThroughTheDoor(t *testing.T) {
	a := newActors(t)
	page := ui.NewLab(a.st.Name, ui.Choices{Detectors: []string{"itsy"}, Responses: []string{"drop"}}, new(ui.Stream), func(st *netnslab.State) ui.Orders { return lab.OrdersTo(st) })
	second := a.st.Links[2]
	if second.A.Node != "s1" || second.B.Node != "s2" {
		t.Fatalf("the third link is %v", second)
	}
	ends := strings.NewReplacer("IF1", second.A.Iface, "IF2", second.B.Iface)
	var byPage, byCommand []string
	methods := slices.Clone(ofScenarios)
	for _, o := range orders {
		methods = append(methods, o.method)
		var want []string
		for _, line := range o.told {
			want = append(want, ends.Replace(line))
		}
		if o.page.Do != "" {
			byPage = append(byPage, o.page.Do)
			if err := page.Act(t.Context(), o.page); err != nil {
				t.Errorf("page %s: %v", o.page.Do, err)
			}
			if got := a.takes(); !slices.Equal(got, want) {
				t.Errorf("page %s:\n%q, want\n%q", o.page.Do, got, want)
			}
		}
		if words := strings.Fields(ends.Replace(o.command)); len(words) > 0 {
			byCommand = append(byCommand, words[0])
			if o.page.Do == "fail" || o.page.Do == "heal" {
				a.setUp(second, o.page.Do == "fail")
			}
			c := root()
			c.SetArgs(append([]string{"lab", "--name", a.st.Name}, words...))
			if err := c.ExecuteContext(t.Context()); (err != nil) != (len(want) == 0) {
				t.Errorf("lab %s: %v", o.command, err)
			}
			if got := a.takes(); !slices.Equal(got, want) {
				t.Errorf("lab %s:\n%q, want\n%q", o.command, got, want)
			}
		}
	}
	if want := slices.Sorted(slices.Values(ui.Valid)); !slices.Equal(slices.Sorted(slices.Values(byPage)), want) {
		t.Errorf("orders of the page: %q are played, there are %q", byPage, want)
	}
	if want := labOrders(); !slices.Equal(slices.Compact(slices.Sorted(slices.Values(byCommand))), want) {
		t.Errorf("commands of lab that order: %q are played, there are %q", byCommand, want)
	}
	var all []string
	for i := range reflect.TypeFor[lab.Orders]().NumMethod() {
		all = append(all, reflect.TypeFor[lab.Orders]().Method(i).Name)
	}
	if slices.Sort(methods); !slices.Equal(methods, all) {
		t.Errorf("lab.Orders has %q; what is said of here is %q", all, methods)
	}
}

// setUp says what the ends of a link know of it.
func (a *actors) setUp(l netnslab.LinkState, up bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.up[l.A.String()], a.up[l.B.String()] = up, up
}

// labOrders are the commands of lab that change one that is up, in the order of words.
func labOrders() (names []string) {
	c, _, err := root().Find([]string{"lab"})
	if err != nil {
		panic(err)
	}
	for _, sub := range c.Commands() {
		if orders := sub.GroupID == "traffic" || sub.GroupID == "failures"; orders && sub.Name() != "attack" { // which sends frames of its own
			names = append(names, sub.Name())
		}
	}
	slices.Sort(names)
	return names
}
