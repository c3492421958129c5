package rdmademo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"softswitch/internal/control"
	"softswitch/internal/progress"
	"softswitch/internal/timer"
	"softswitch/lab"
	"softswitch/lab/guest"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/play"
	"softswitch/scenario/load"
	"softswitch/scenarios"
	"softswitch/unit"
	"softswitch/view/show"
	"softswitch/view/ui"
)

// What each program sends.
const (
	messages = 200
	program  = "ib_write_bw"
	priority = 3
)

// options are those of the programs at both ends: GID 1 is the IPv4 one, traffic class 104 is DSCP 26,
// and an answer may take 4.096 us x 2^20, 4.3 s: at the usual 67 ms what waits behind a pause is sent again.
var options = []string{"-x", "1", "--tclass=104", "-s", "65536", "-n", fmt.Sprint(messages), "-u", "20"}

// onConsole is a script that runs its arguments, and tells on the guest's console what it runs and how that
// ended.
const onConsole = `echo "run: $*" >/dev/ttyS0; "$@"; status=$?; echo "$1: exit status $status" >/dev/ttyS0; exit $status`

// command is what a guest runs: the program with the options and these arguments.
func command(more ...string) []string {
	return slices.Concat([]string{"sh", "-c", onConsole, "sh", program}, options, more)
}

// After drainTime what is not in the loop has left a locked fabric; in stuckTime nothing is to move.
const (
	drainTime = 500 * time.Millisecond
	stuckTime = 3 * time.Second
	// hungTime without a lossless frame, and without a declaration or after the cure, is the end of the
	// demonstration: what has not ended by then hangs.
	hungTime = 60 * time.Second
)

// Options are the settings of a demonstration.
type Options struct {
	Name   string // of the lab
	Page   bool   // shows it in a browser, until ctx ends
	Listen string // address of the page
}

// Demo is a lab of three guests, and the result. Its JSON is that of Result.
type Demo struct {
	progress io.Writer
	*play.NICLab
	Result Result
}

// MarshalJSON encodes Result.
func (d *Demo) MarshalJSON() ([]byte, error) { return json.Marshal(d.Result) }

// Result is the result of a demonstration.
type Result struct {
	OK       bool      `json:"ok"`
	Reasons  []string  `json:"reasons"` // why it went wrong
	Hung     bool      `json:"hung"`    // the programs were ended, as nothing moved and nothing was to change that
	Invalid  string    `json:"invalid"` // why the run proves nothing
	Programs []Program `json:"programs"`
	// Declarer is the switch that declared the deadlock first, and StuckTime for how long it lasted.
	Declarer  string    `json:"declarer"`
	StuckTime unit.Time `json:"stuck_time_ns"`
	// Moved is how many lossless frames left the switches while it was watched, for some seconds.
	Moved uint64 `json:"moved"`
	// Dropped is how many frames the cure dropped.
	Dropped uint64 `json:"cure_dropped"`
	Fabric  uint64 `json:"lost_in_fabric"`
}

// Program is a program that sends, and its peer.
type Program struct {
	From string `json:"from_host"`
	To   string `json:"to_host"`
	// Status and PeerStatus are the exit statuses at both ends, -1 of one that has not ended by itself.
	Status     int `json:"exit_status"`
	PeerStatus int `json:"peer_exit_status"`
	// Said is the last line of what it said.
	Said string `json:"said"`
}

// Play builds a lab, boots its guests, runs the programs and removes the lab.
func Play(ctx context.Context, opt Options, out io.Writer) (_ *Demo, err error) {
	if err := errors.Join(netnslab.Allowed(), guest.Check()); err != nil {
		return nil, err
	}
	ctx, out = progress.WhileWatched(ctx, out)
	plan, err := load.Plan("scenarios/nic/rdma-ring.yaml", scenarios.RDMARing, load.Instead{Detector: "itsy"})
	if err != nil {
		return nil, err
	}
	d := &Demo{progress: out}
	var page *ui.Page
	if opt.Page {
		if page, err = play.OpenPage(ctx, opt.Name, opt.Listen, out); err != nil {
			return nil, err
		}
		defer page.Close()
	}
	if d.NICLab, err = play.UpNICs(ctx, plan, opt.Name, out); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.State.Remove(out)) }()
	if err := guest.Start(ctx, d.State, d.Hosts, out); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	if opt.Page {
		fmt.Fprintln(out, "the page shows the consoles of the guests under the drawing")
		if err := page.AwaitViewer(ctx, out); err != nil {
			return nil, err
		}
	}
	if err := d.run(ctx); err != nil {
		return nil, cmp.Or(context.Cause(ctx), err) // of a program that was ended it says nothing new
	}
	if opt.Page {
		page.AwaitEnd(ctx, out)
	}
	return d, nil
}

// run runs the programs, waits for the deadlock, watches it, and has it cured.
func (d *Demo) run(whole context.Context) error {
	ctx, stop := context.WithCancel(whole)
	defer stop()
	programs := make([]Program, len(d.Hosts))
	d.Result.Programs = programs
	var servers, clients errgroup.Group
	early, left := context.WithCancelCause(ctx) // until a server ends
	defer left(nil)
	for i := range d.Hosts {
		peer := (i + len(d.Hosts) - 1) % len(d.Hosts)
		programs[i] = Program{From: d.Hosts[i].Name, To: d.Hosts[peer].Name, Status: -1, PeerStatus: -1}
		servers.Go(func() error {
			status, err := guest.Exec(ctx, d.State, d.Hosts[peer], command(), io.Discard)
			if err == nil {
				programs[i].PeerStatus = status
			}
			left(cmp.Or(err, fmt.Errorf("%s in %s ended with exit status %d before anybody connected", program, d.Hosts[peer].Name, status)))
			return err
		})
	}
	for _, h := range d.Hosts {
		// 4853 is the port of perftest, 18515, and 0A a socket that listens.
		if _, err := guest.Exec(early, d.State, h, []string{"sh", "-c", "until grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6; do usleep 50000; done"}, io.Discard); err != nil {
			return err
		}
	}
	fmt.Fprintf(d.progress, "in the guests %s writes from h1 to h3, from h2 to h1 and from h3 to h2: %s of 64 KiB each, in priority %d\n", program, unit.Count(messages, "message"), priority)
	for i := range programs {
		p := &programs[i]
		to := d.Plan.Hosts[(i+len(d.Hosts)-1)%len(d.Hosts)].Address.IP.String()
		clients.Go(func() error {
			var said bytes.Buffer
			status, err := guest.Exec(ctx, d.State, d.Hosts[i], command(to), &said)
			if err == nil {
				p.Status = status
			}
			lines := strings.Split(strings.TrimRight(said.String(), "-\n"), "\n")
			p.Said = lines[len(lines)-1]
			return err
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(clients.Wait(), servers.Wait()) }()
	locked, err := d.lock(ctx, ended)
	if locked {
		err = d.cure(ctx, ended)
	}
	if errors.Is(err, errHung) {
		d.Result.Hung = true
		stop()
		<-ended // what it says is that they were ended
		err = nil
	}
	return errors.Join(err, d.judge(whole))
}

// errHung is that nothing has moved for hungTime.
var errHung = errors.New("the programs hang")

// lock waits until a switch declares a deadlock, and reports whether one did before the programs ended.
func (d *Demo) lock(ctx context.Context, ended <-chan error) (locked bool, err error) {
	err = d.until(ctx, ended, func() (bool, error) {
		all, err := control.AskByName(ctx, d.Switches, client.Deadlocks)
		for _, e := range d.Switches {
			if all[e.Name].Declared > 0 {
				d.Result.Declarer, locked = e.Name, true
			}
		}
		return locked, err
	})
	return locked, err
}

// until waits until done reports true or the programs have ended. It returns errHung if neither comes and no
// lossless frame moves.
func (d *Demo) until(ctx context.Context, ended <-chan error, done func() (bool, error)) error {
	moved, since := uint64(0), time.Now()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		switch now, err := d.moved(ctx); {
		case err != nil:
			return err
		case now != moved:
			moved, since = now, time.Now()
		case time.Since(since) > hungTime:
			return errHung
		}
		select {
		case err := <-ended:
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// cure watches the deadlock, has the switches cure it, and waits for the programs to end.
func (d *Demo) cure(ctx context.Context, ended <-chan error) error {
	fmt.Fprintf(d.progress, "%s declares a deadlock; no link is down and no program has said a word\n", d.Result.Declarer)
	if err := timer.Sleep(ctx, drainTime); err != nil {
		return err
	}
	before, err := d.moved(ctx)
	if err != nil {
		return err
	}
	if err := timer.Sleep(ctx, stuckTime); err != nil {
		return err
	}
	after, err := d.moved(ctx)
	if err != nil {
		return err
	}
	select {
	case err := <-ended:
		return errors.Join(err, errors.New("the programs ended in a fabric that was declared to be locked"))
	default:
	}
	d.Result.Moved = after - before
	fmt.Fprintf(d.progress, "in %v %s left a switch: the programs hang\nthe switches begin to cure it\n", stuckTime, unit.Count(d.Result.Moved, "lossless frame"))
	if err := lab.OrdersTo(d.State).Respond(ctx, "cure"); err != nil {
		return err
	}
	return d.until(ctx, ended, func() (bool, error) { return false, nil })
}

// moved is how many lossless frames the switches have sent.
func (d *Demo) moved(ctx context.Context) (frames uint64, err error) {
	_, stats, err := control.AskAll(ctx, d.Switches, client.Stats[observe.Switch])
	for _, s := range stats {
		for i := range s.Ports {
			frames += s.Ports[i].TxFrames[priority]
		}
	}
	return frames, err
}

// judge asks all nodes, and decides whether it went as it should.
func (d *Demo) judge(ctx context.Context) error {
	if err := d.Ask(ctx); err != nil {
		return err
	}
	all, err := control.AskByName(ctx, d.Switches, client.Deadlocks)
	if err != nil {
		return err
	}
	r := &d.Result
	r.Fabric = d.Lost()
	for i := range d.Stats {
		for j := range d.Stats[i].Ports {
			p := &d.Stats[i].Ports[j]
			r.Dropped += p.TxDropped[priority] + p.RxDropped[priority]
		}
	}
	lasts := false
	for _, deadlocks := range all {
		for _, f := range deadlocks.Findings {
			lasts = lasts || f.Over == 0
			r.StuckTime = max(r.StuckTime, f.Over-f.At)
		}
	}
	r.conclude(lasts)
	if r.Fabric > 0 {
		r.Invalid = d.TooBusy()
	}
	return nil
}

// conclude says what went wrong.
func (r *Result) conclude(lasts bool) {
	r.Reasons = []string{}
	unless := func(ok bool, format string, args ...any) {
		if !ok {
			r.Reasons = append(r.Reasons, fmt.Sprintf(format, args...))
		}
	}
	what := "ended"
	if r.Hung {
		what = fmt.Sprintf("hang, as nothing moved for %v,", hungTime)
		unless(r.Declarer == "", "after the cure the programs %s and were ended", what)
	}
	unless(r.Declarer != "", "the ring did not lock: the programs %s and no switch declared a deadlock", what)
	unless(r.Moved == 0, "while it was locked, %s left the switches", unit.Count(r.Moved, "lossless frame"))
	unless(!lasts, "a deadlock lasts")
	unless(r.Fabric == 0, "lost in the fabric, beside what the cure dropped: %s", unit.Count(r.Fabric, "frame"))
	for _, p := range r.Programs {
		unless(p.Status == 0 && p.PeerStatus == 0, "%s from %s to %s: exit status %d, and %d at the far end; it said last: %s", program, p.From, p.To, p.Status, p.PeerStatus, p.Said)
	}
	r.OK = len(r.Reasons) == 0
}

// WriteText writes the result for people.
func (d *Demo) WriteText(w io.Writer) error {
	r := &d.Result
	if err := show.NICs(w, d.NICs, d.Switches, d.Stats); err != nil {
		return err
	}
	if r.Declarer == "" {
		fmt.Fprintln(w, "\ndeadlock: none was declared")
	} else {
		fmt.Fprintf(w, "\ndeadlock: declared by %s, over after %s ms; the cure dropped %s\n", r.Declarer, show.Milliseconds(r.StuckTime), unit.Count(r.Dropped, "frame"))
	}
	fmt.Fprintf(w, "programs: %s of 64 KiB each, which are %s packets\n", unit.Count(messages, "message"), show.Thousands(uint64(messages*64)))
	for _, p := range r.Programs {
		fmt.Fprintf(w, "          %s from %s to %s: exit status %d, and %d at the far end\n", program, p.From, p.To, p.Status, p.PeerStatus)
	}
	for _, why := range r.Reasons {
		fmt.Fprintln(w, "NOT AS EXPECTED:", why)
	}
	if r.Invalid != "" {
		fmt.Fprintln(w, "run not valid:", r.Invalid)
	}
	return nil
}
