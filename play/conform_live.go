package play

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/conform"
	"softswitch/internal/progress"
	"softswitch/internal/timer"
	"softswitch/internal/version"
	"softswitch/live"
	netnslab "softswitch/netns-lab"
	"softswitch/unit"
)

// Times of a live test.
const (
	conformGrain     = 200 * unit.Microsecond // of the tester's deadlines
	conformBefore    = 2 * unit.Second        // of the calibration
	conformAfter     = unit.Second
	conformTry       = 500 * unit.Millisecond // of one of the rates that are tried before it
	conformSlowest   = 16                     // of the rate of a stream, what is tried at last
	conformDeaf      = 300 * unit.Millisecond // for which nothing comes from a DUT that may have died
	conformLook      = 2 * time.Millisecond   // between two looks whether a trial is over
	conformCarrier   = 5 * unit.Second        // for a carrier to come back
	conformRing      = 16 << 20               // bytes of a receive ring
	conformUncertain = 20 * unit.Microsecond  // of a stamp, on its own: two clocks are read one after the other
)

// ConformLive tests a DUT through the interfaces of a profile.
func ConformLive(ctx context.Context, opt ConformOptions, out io.Writer) (*conform.Report, error) {
	if opt.Wrap != nil {
		return nil, errors.New("conform: a defect is planted in virtual time")
	}
	task := &conform.Task{Profile: opt.Profile, Seed: opt.Seed, Soak: opt.Soak, Live: true, Uncertain: conformUncertain, Grain: conformGrain}
	machine, tiny, err := conformInterfaces(opt.Profile)
	if err != nil {
		return nil, err
	}
	task.Tiny = tiny
	notRealtime := live.Realtime()
	if notRealtime != nil {
		machine = append(machine, fmt.Sprintf("no %v: the tester waits for a processor like everybody else", notRealtime))
	} else {
		machine = append(machine, "the tester has real-time priority")
	}
	w, err := openConform(task, opt.Commands)
	if err != nil {
		return nil, err
	}
	defer w.close()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // between trials: see play

	before, err := w.calibrate(ctx, out)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "the tester can send %v\n", before)
	session := conform.NewSession(task, opt.Cases)
	judged, failed := opt.saving(task)
	session.Judged, session.Draw = judged, opt.Draw
	work := progress.New(ctx, out, "cases", int64(session.Total()))
	defer work.Close()
	cut, err := w.session(ctx, session, func() error { return work.Set(int64(session.Played())) })
	if err != nil {
		return nil, err
	}
	var after *conform.Calibration
	if cut == "" {
		c, err := w.measureAgain(ctx, before)
		if err != nil {
			return nil, err
		}
		if after = &c; conform.Slower(before, c) {
			session.Distrust(fmt.Sprintf("the tester is slower than at the beginning: nothing came for %v, and for %v before; what it timed proves nothing", c.Silence, before.Silence), func(o *conform.Outcome) bool { return o.Timed && !o.Controlled })
		}
	}
	if why := eaten(task, w.counted, pauseCounters(opt.Profile)); why != "" {
		session.Distrust(why, func(o *conform.Outcome) bool { return o.ID[:1] == "T" || o.ID[:1] == "C" })
	}
	r := session.Report()
	r.Machine, r.Before, r.After, r.Cut = machine, &before, after, cut
	if s := w.stolen(); s > 1 {
		r.Machine = append(r.Machine, fmt.Sprintf("other machines took %.1f %% of the processors (steal time)", s))
	}
	return r, failed()
}

// conformInterfaces looks at the interfaces of a profile: what they are, in words, and whether all of them
// carry frames of less than 60 bytes.
func conformInterfaces(p *conform.Profile) (words []string, tiny bool, err error) {
	var faults []error
	var uname unix.Utsname
	unix.Uname(&uname)
	words, tiny = []string{fmt.Sprintf("softswitch %s, Linux %s", version.Text(), unix.ByteSliceToString(uname.Release[:]))}, true
	for _, q := range p.Ports {
		if q.Interface == "" {
			faults = append(faults, fmt.Errorf("port %s: interface: missing: name the one that leads to the DUT", q.Name))
			continue
		}
		l, err := netlink.LinkByName(q.Interface)
		switch {
		case err != nil:
			faults = append(faults, fmt.Errorf("port %s: interface %q: %w; this network namespace has %s", q.Name, q.Interface, err, strings.Join(interfaceNames(), ", ")))
			continue
		case l.Attrs().Flags&net.FlagUp == 0:
			faults = append(faults, fmt.Errorf("port %s: interface %s is down: raise it with `ip link set dev %s up`", q.Name, q.Interface, q.Interface))
		case l.Attrs().RawFlags&unix.IFF_LOWER_UP == 0:
			faults = append(faults, fmt.Errorf("port %s: interface %s has no carrier: the DUT, or its port, is down", q.Name, q.Interface))
		case l.Attrs().MTU < p.MTU:
			faults = append(faults, fmt.Errorf("port %s: interface %s has an MTU of %d, and frames for one of %d are to pass: raise it with `ip link set dev %s mtu %d`", q.Name, q.Interface, l.Attrs().MTU, p.MTU, q.Interface, p.MTU))
		}
		kind := l.Type()
		if kind == "device" {
			kind = "a NIC"
			tiny = false
		}
		words = append(words, fmt.Sprintf("port %s: %s, %s, %v, stamps of the kernel", q.Name, q.Interface, kind, q.Speed))
	}
	return words, tiny, errors.Join(faults...)
}

func interfaceNames() (names []string) {
	all, err := net.Interfaces()
	if err != nil {
		return []string{err.Error()}
	}
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names
}

// conformNode is a tester on interfaces.
type conformNode struct {
	task    *conform.Task
	tester  *conform.Tester
	node    *live.Node
	stop    context.CancelFunc
	stalls  *stallWatch
	ended   chan error
	cpu     procfs.CPUStat // at the beginning
	counted [][]statistic  // of pauses, by the drivers of the interfaces, at the beginning
	// commands says that commands of the profile may run.
	commands bool
}

func openConform(task *conform.Task, commands bool) (*conformNode, error) {
	w := &conformNode{task: task, commands: commands, counted: pauseCounters(task.Profile), tester: conform.NewTester(conform.TesterConfig{Task: task, Batch: live.Batch}), ended: make(chan error, 1)}
	w.cpu, _ = cpuTimes()
	opt := live.Options{Machine: w.tester}
	for _, q := range task.Profile.Ports {
		opt.Ports = append(opt.Ports, live.Port{Name: q.Interface, KeepMAC: true, RingBytes: conformRing, MTU: task.Profile.MTU})
	}
	var err error
	if w.node, err = live.New(opt); err != nil {
		return nil, err
	}
	if err := w.node.Open(); err != nil {
		return nil, err
	}
	if w.stalls, err = watchStalls(); err != nil {
		w.node.Close()
		return nil, err
	}
	var ctx context.Context
	ctx, w.stop = context.WithCancel(context.Background())
	go func() { w.ended <- w.node.Run(ctx) }()
	return w, nil
}

func (w *conformNode) close() {
	w.stop()
	<-w.ended
	w.stalls.close()
}

// session plays all cases. cut is why it ended before that.
func (w *conformNode) session(ctx context.Context, s *conform.Session, show func() error) (cut string, err error) {
	for script := s.Next(); script != nil; script = s.Next() {
		if err := show(); err != nil {
			return "", err
		}
		if cut := w.carriers(ctx); cut != "" {
			return cut, ctx.Err()
		}
		r, err := w.play(ctx, script)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
			s.Fault(err)
		default:
			s.Add(r)
			if cut, err := w.dead(ctx, r); cut != "" || err != nil {
				return cut, err
			}
		}
	}
	return "", nil
}

// dead is why no more cases are played, if in the last trial nothing came any more: where nothing comes
// without pauses, too, the DUT has died.
func (w *conformNode) dead(ctx context.Context, r *conform.Record) (why string, err error) {
	if !r.Deaf(conformDeaf) {
		return "", nil
	}
	c, err := w.measure(ctx, w.task.Rate(0), conformDeaf)
	if err != nil || c.Lost < c.Sent {
		return "", err
	}
	return fmt.Sprintf("the DUT forwards nothing any more, not without pauses either: of %s none came; it has died, or hangs", unit.Count(c.Sent, "frame")), nil
}

// carriers waits until all links are up; it says which one does not come.
func (w *conformNode) carriers(ctx context.Context) string {
	for end := timer.Now() + conformCarrier; ; {
		down := ""
		for _, q := range w.task.Profile.Ports {
			if l, err := netlink.LinkByName(q.Interface); err != nil {
				down = fmt.Sprintf("port %s: interface %s is gone: %v", q.Name, q.Interface, err)
			} else if l.Attrs().RawFlags&unix.IFF_LOWER_UP == 0 {
				down = fmt.Sprintf("port %s: interface %s has had no carrier for %v: the DUT has died, or its port is down", q.Name, q.Interface, conformCarrier)
			}
		}
		if down == "" || timer.Now() > end {
			return down
		}
		if err := timer.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err.Error()
		}
	}
}

// lost is what the tester itself has lost, or the machine.
type lost struct{ ring, truncated, unsent, softnet uint64 }

func (w *conformNode) lost() (l lost, err error) {
	for _, s := range w.node.AllStats() {
		l.ring += s.Drops
		l.truncated += s.Truncated
		l.unsent += s.Lost
	}
	l.softnet, err = netnslab.Softnet()
	return l, err
}

// since is why a trial proves nothing, if so much was lost before it.
func (l lost) since(was lost, flaps bool) string {
	switch {
	case l.ring > was.ring:
		return fmt.Sprintf("the tester lost %s: it was too slow to read them", unit.Count(l.ring-was.ring, "frame"))
	case l.truncated > was.truncated:
		return fmt.Sprintf("%s came that were longer than any that was sent", unit.Count(l.truncated-was.truncated, "frame"))
	case l.unsent > was.unsent && !flaps:
		return fmt.Sprintf("%s could not be sent", unit.Count(l.unsent-was.unsent, "frame"))
	case l.softnet > was.softnet:
		return fmt.Sprintf("this machine's kernel dropped %s (net.core.netdev_max_backlog)", unit.Count(l.softnet-was.softnet, "frame"))
	}
	return ""
}

// play plays a script.
func (w *conformNode) play(ctx context.Context, s *conform.Script) (r *conform.Record, err error) {
	runtime.GC()
	w.stalls.take(0)
	was, err := w.lost()
	if err != nil {
		return nil, err
	}
	var began unit.Time
	w.node.Do(func(now unit.Time) {
		began = now
		w.tester.Begin(now, s)
	})
	readings, err := w.deeds(ctx, began, s)
	if err == nil {
		err = w.await(ctx, began+s.End)
	}
	over := false
	for err == nil && !over {
		if w.node.Do(func(now unit.Time) { over = w.tester.Over(now) }); !over {
			err = timer.Sleep(ctx, conformLook)
		}
	}
	var wrong error
	w.node.Do(func(now unit.Time) { r, wrong = w.tester.Finish(now) })
	if err = errors.Join(err, wrong); err != nil {
		return nil, err
	}
	is, err := w.lost()
	if err != nil {
		return nil, err
	}
	flaps := slices.ContainsFunc(s.Acts, func(a conform.Act) bool { return a.Do == conform.LinkDown })
	r.Readings, r.Stalls = readings, w.stalls.take(began)
	r.Void = is.since(was, flaps)
	for _, l := range r.Links {
		if !l.Up && !flaps {
			r.Void = fmt.Sprintf("the carrier of port %s was gone after %v", w.task.Profile.Ports[l.Port].Name, l.At.Hi)
		}
	}
	return r, nil
}

// await waits for a point of the clock.
func (w *conformNode) await(ctx context.Context, at unit.Time) error {
	return timer.Sleep(ctx, time.Duration(max(0, at-timer.Now())))
}

// deeds does what a script wants of the world.
func (w *conformNode) deeds(ctx context.Context, began unit.Time, s *conform.Script) (readings []conform.Reading, err error) {
	for _, a := range slices.SortedStableFunc(slices.Values(s.Acts), func(x, y conform.Act) int { return int(x.At - y.At) }) {
		if err := w.await(ctx, began+a.At); err != nil {
			return nil, err
		}
		q := w.task.Profile.Ports[a.Port]
		switch a.Do {
		case conform.LinkDown, conform.LinkUp:
			l, err := netlink.LinkByName(q.Interface)
			if err == nil && a.Do == conform.LinkDown {
				err = netlink.LinkSetDown(l)
			} else if err == nil {
				err = netlink.LinkSetUp(l)
			}
			if err != nil {
				return nil, fmt.Errorf("port %s: %s: %w", q.Name, a.Do, err)
			}
		case conform.ReadCounters:
			from := timer.Now() - began
			now, err := readConformCounters(ctx, w.task.Profile, w.commands)
			if err != nil {
				return nil, err
			}
			readings = append(readings, readAt(now, conform.Span{Lo: from, Hi: timer.Now() - began})...)
		}
	}
	return readings, nil
}

// calibrate finds the fastest rate at which the tester loses nothing, and measures it.
func (w *conformNode) calibrate(ctx context.Context, out io.Writer) (c conform.Calibration, err error) {
	if cut := w.carriers(ctx); cut != "" {
		return c, fmt.Errorf("conform: %s", cut)
	}
	for rate := w.task.Rate(0); ; rate /= 2 {
		if c, err = w.measure(ctx, rate, conformTry); err != nil {
			return c, err
		}
		if c.Lost == c.Sent {
			return c, fmt.Errorf("conform: of %s that were sent through the DUT none came: does it forward, and are its ports up?", unit.Count(c.Sent, "frame"))
		}
		if c.Lost == 0 || rate <= w.task.Speed(0)/10/conformSlowest {
			break
		}
		w.task.Safe = rate / 2
		fmt.Fprintf(out, "%v\n", c)
	}
	return w.measure(ctx, w.task.Rate(0), conformBefore)
}

// measureAgain measures what was measured before. A moment in which the machine stood still does not count:
// it is the best of three.
func (w *conformNode) measureAgain(ctx context.Context, before conform.Calibration) (best conform.Calibration, err error) {
	for range 3 {
		c, err := w.measure(ctx, w.task.Rate(0), conformAfter)
		if err != nil {
			return c, err
		}
		if best.Sent == 0 || c.Silence < best.Silence {
			best = c
		}
		if !conform.Slower(before, best) {
			break
		}
	}
	return best, nil
}

// measure plays a calibration.
func (w *conformNode) measure(ctx context.Context, rate unit.Rate, d unit.Time) (c conform.Calibration, err error) {
	s := w.task.Calibrate(rate, d)
	r, err := w.play(ctx, s)
	if err != nil {
		return c, err
	}
	r.Script = s
	return conform.Calibrated(r, rate), nil
}

// stolen is how many percent of the processors' time other machines took since the beginning.
func (w *conformNode) stolen() (percent float64) {
	now, err := cpuTimes()
	if err != nil {
		return 0
	}
	all := func(c procfs.CPUStat) float64 {
		return c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
	}
	if passed := all(now) - all(w.cpu); passed > 0 {
		percent = 100 * (now.Steal - w.cpu.Steal) / passed
	}
	return percent
}

func cpuTimes() (c procfs.CPUStat, err error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return c, err
	}
	s, err := proc.Stat()
	return s.CPUTotal, err
}
