package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"softswitch/internal/lists"
	"softswitch/internal/timer"
	"softswitch/link"
)

// ForwardOptions are the settings of Forward.
type ForwardOptions struct {
	Program  string        // the softswitch to measure
	Frames   []int         // lengths of frames in bytes, without FCS: MinFrame to MaxFrame
	Rounds   int           // at least 1
	Duration time.Duration // of a turn's measurement, longer than zero
	Progress io.Writer     // receives a line per turn
}

// ForwardResult is what Forward measured.
type ForwardResult struct {
	Bench     string   `json:"bench"` // "forward"
	Rounds    int      `json:"rounds"`
	Seconds   float64  `json:"seconds"` // of a turn
	DUTCPU    int      `json:"dut_cpu"`
	SenderCPU int      `json:"sender_cpu"`
	Frames    []Size   `json:"frames"`
	Absent    []Absent `json:"absent"`
}

// Size is the result at one length of frames.
type Size struct {
	Bytes  int     `json:"bytes"`
	DUTs   []DUT   `json:"duts"`
	Ratios []Ratio `json:"ratios"`
}

// DUT is the result of one device under test, in frames per second.
type DUT struct {
	Name      string `json:"name"`
	Delivered Spread `json:"delivered_fps"`
	Offered   Spread `json:"offered_fps"`
	CPU       Spread `json:"cpu"` // see Turn.CPU
	// PerCPU is Delivered per second of the device's own processor time.
	PerCPU Spread `json:"delivered_per_cpu_s"`
	// SenderLimited says that the device forwarded everything offered: it may be faster
	// than Delivered.
	SenderLimited bool `json:"sender_limited"`
	// Starved says that the device was offered more than it forwarded, but did not get
	// its processor for the whole time: other programs use the machine, and the device
	// is faster than Delivered.
	Starved bool   `json:"starved"`
	Turns   []Turn `json:"turns"` // by round
}

// Turn is one measurement of one device, in frames per second.
type Turn struct {
	Offered   float64 `json:"offered_fps"`
	Delivered float64 `json:"delivered_fps"`
	// CPU is the share of the turn for which the device's processes ran, 0 to 1.
	CPU float64 `json:"cpu"`
}

// perCPU returns the rate that the device would forward with its processor for the whole time.
func (t Turn) perCPU() float64 { return t.Delivered / t.CPU }

// Ratio is how many times as fast as another device the softswitch is, round by
// round.
type Ratio struct {
	Over string `json:"over"`
	// Delivered compares the frames that arrived.
	Delivered Spread `json:"delivered"`
	// PerCPU compares the frames that arrived in a second of each device's own
	// processor time: the same as Delivered on an idle machine, and the better
	// figure where devices were starved.
	PerCPU Spread `json:"per_cpu"`
}

// Absent is a device that was not measured.
type Absent struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// allForwarded is the share of the offered frames above which the sender counts as the
// limit: the counters are not read at the same instant.
const allForwarded = 0.98

// wholeCPU is the share of a processor above which a device counts as having had it to
// itself. The kernel's own work on it takes the rest.
const wholeCPU = 0.93

// Forward measures the devices in turn, round after round. It needs root and two
// processors. Another device that is not installed, or that fails, is reported as
// absent; a failure of a device of this repository is an error.
func Forward(ctx context.Context, opt ForwardOptions) (*ForwardResult, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	softswitch, err := filepath.Abs(opt.Program) // devices start in their own folder
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(softswitch); err != nil {
		return nil, fmt.Errorf("forward: --softswitch: %w; `make` builds it", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f := forward{opt: opt, absent: []Absent{}} // [] in JSON, not null
	if f.dutCPU, f.senderCPU, err = twoCPUs(); err != nil {
		return nil, fmt.Errorf("forward: %w", err)
	}
	f.duts = duts(softswitch, self)
	for _, d := range f.duts {
		if err := d.find(); err != nil {
			f.leaveOut(d, err)
		}
	}
	for _, n := range opt.Frames {
		if err := f.measure(ctx, n); err != nil {
			return nil, fmt.Errorf("forward: %w", err)
		}
	}
	return f.result(), nil
}

func (o *ForwardOptions) check() error {
	var errs []error
	if len(o.Frames) == 0 {
		errs = append(errs, errors.New("forward: no frame length; give at least one"))
	}
	for _, n := range o.Frames {
		if n < MinFrame || n > MaxFrame {
			errs = append(errs, fmt.Errorf("forward: a frame of %d bytes; valid: %d to %d", n, MinFrame, MaxFrame))
		}
	}
	if o.Rounds < 1 {
		errs = append(errs, fmt.Errorf("forward: %d rounds; valid: 1 and more", o.Rounds))
	}
	if o.Duration <= 0 {
		errs = append(errs, fmt.Errorf("forward: %v a turn; valid: more than 0", o.Duration))
	}
	return errors.Join(errs...)
}

// forward is a measurement in progress.
type forward struct {
	opt               ForwardOptions
	dutCPU, senderCPU int
	duts              []dut
	absent            []Absent
	turns             []map[string][]Turn // by index in opt.Frames, by device
}

// leaveOut continues without a device.
func (f *forward) leaveOut(d dut, why error) {
	f.absent = append(f.absent, Absent{d.name, why.Error()})
	fmt.Fprintf(f.opt.Progress, "without %s: %v\n", d.name, why)
}

func (f *forward) isAbsent(d dut) bool {
	return slices.ContainsFunc(f.absent, func(a Absent) bool { return a.Name == d.name })
}

// measure runs all rounds at one length.
func (f *forward) measure(ctx context.Context, bytes int) error {
	turns := map[string][]Turn{}
	f.turns = append(f.turns, turns)
	for round := 1; round <= f.opt.Rounds; round++ {
		for _, d := range f.duts {
			if f.isAbsent(d) {
				continue
			}
			t, err := f.turn(ctx, d, bytes)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil && d.ours:
				return fmt.Errorf("%s at %d bytes: %w", d.name, bytes, err)
			case err != nil:
				f.leaveOut(d, err)
				continue
			}
			turns[d.name] = append(turns[d.name], t)
			fmt.Fprintf(f.opt.Progress, "%4d B  round %d/%d  %-10s  %.3f Mpps of %.3f offered, on %.0f%% of a processor\n",
				bytes, round, f.opt.Rounds, d.name, t.Delivered/1e6, t.Offered/1e6, 100*t.CPU)
		}
	}
	return nil
}

// warmUp is how long a device runs before it is measured.
const warmUp = 300 * time.Millisecond

// turn measures one device once, in its own bed.
func (f *forward) turn(ctx context.Context, d dut, bytes int) (t Turn, err error) {
	b, err := newBed()
	if err != nil {
		return t, err
	}
	defer b.close()
	dir, err := os.MkdirTemp("", "softswitch-bench-")
	if err != nil {
		return t, err
	}
	defer os.RemoveAll(dir)
	children, err := d.start(b, f.dutCPU, dir)
	defer stopAll(children)
	if err != nil {
		return t, err
	}
	frame := loadFrame(bytes)
	s := startSender(b.source, f.senderCPU, frame)
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := awaitForwarding(ctx, b, frame, children); err != nil {
		return t, err
	}
	if err := timer.Sleep(ctx, warmUp); err != nil {
		return t, err
	}
	if t, err = count(ctx, b, children, f.opt.Duration); err != nil {
		return t, err
	}
	if err := errors.Join(deaths(children)...); err != nil {
		return t, err
	}
	if t.Delivered <= 0 || t.CPU <= 0 { // no ratio can be taken
		return t, fmt.Errorf("in %v it forwarded nothing: the machine is too busy, or the turn too short", f.opt.Duration)
	}
	return t, nil
}

func stopAll(children []*child) {
	for _, c := range children {
		c.stop()
	}
}

// deaths returns the errors of processes that have ended.
func deaths(children []*child) []error {
	return lists.Map(children, (*child).died)
}

// startTimeout is the maximum time until a device forwards.
const startTimeout = 15 * time.Second

// goodFrames is the number of frames compared before a device is measured.
const goodFrames = 100

// awaitForwarding waits until frames of the load arrive at the sink, compares some, and announces the
// port of the sink to the device. It closes its packet socket before it returns.
func awaitForwarding(ctx context.Context, b *bed, frame []byte, children []*child) error {
	var sink *link.Packet
	err := within(b.sink.ns, anyCPU, func() (err error) {
		sink, err = link.Open("dst", link.Options{RingBytes: 1 << 20})
		return err
	})
	if err != nil {
		return err
	}
	defer sink.Close()
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	context.AfterFunc(ctx, func() { sink.Close() })
	for _, c := range children { // a device that has ended forwards nothing
		go func() {
			select {
			case <-c.ended:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	err = compare(sink, frame)
	if err == nil {
		// Bridges and relays both accept it.
		_, err = sink.Write([][]byte{announcement()})
	}
	if !errors.Is(err, net.ErrClosed) {
		return err
	}
	if err := errors.Join(deaths(children)...); err != nil {
		return err
	}
	return fmt.Errorf("no frame was forwarded: %w", context.Cause(ctx))
}

// compare reads frames from the sink until enough are right or one is wrong.
func compare(sink link.Link, frame []byte) error {
	bufs := buffers(64)
	for good := 0; good < goodFrames; {
		n, err := sink.Read(bufs)
		if err != nil {
			return err
		}
		for _, got := range bufs[:n] {
			err := checkFrame(frame, got)
			if errors.Is(err, errOther) {
				continue
			}
			if err != nil {
				return err
			}
			good++
		}
	}
	return nil
}

// count measures offered and delivered frames for about d.
func count(ctx context.Context, b *bed, children []*child, d time.Duration) (t Turn, err error) {
	began, err := readCounters(b, children)
	if err != nil {
		return t, err
	}
	if err := timer.Sleep(ctx, d); err != nil {
		return t, err
	}
	ended, err := readCounters(b, children)
	if err != nil {
		return t, err
	}
	took := ended.at.Sub(began.at)
	return Turn{
		Offered:   float64(ended.offered-began.offered) / took.Seconds(),
		Delivered: float64(ended.delivered-began.delivered) / took.Seconds(),
		CPU:       float64(ended.cpu-began.cpu) / float64(took),
	}, nil
}

// counters holds the counters of a bed and a device at one time.
type counters struct {
	at                 time.Time
	offered, delivered uint64
	cpu                time.Duration
}

func readCounters(b *bed, children []*child) (c counters, err error) {
	c.at = time.Now()
	if c.offered, err = b.offered(); err != nil {
		return c, err
	}
	if c.delivered, err = b.delivered(); err != nil {
		return c, err
	}
	for _, p := range children {
		used, err := p.cpuTime()
		if err != nil {
			return c, errors.Join(err, p.died())
		}
		c.cpu += used
	}
	return c, nil
}

// result sums up the turns.
func (f *forward) result() *ForwardResult {
	r := &ForwardResult{
		Bench: "forward", Rounds: f.opt.Rounds, Seconds: f.opt.Duration.Seconds(),
		DUTCPU: f.dutCPU, SenderCPU: f.senderCPU, Absent: f.absent,
	}
	for i, bytes := range f.opt.Frames {
		size := Size{Bytes: bytes}
		for _, d := range f.duts {
			if turns := f.turns[i][d.name]; len(turns) == f.opt.Rounds {
				size.DUTs = append(size.DUTs, sumUp(d.name, turns))
			}
		}
		size.Ratios = ratios(size.DUTs)
		r.Frames = append(r.Frames, size)
	}
	return r
}

func sumUp(name string, turns []Turn) DUT {
	d := DUT{Name: name, Turns: turns}
	for _, f := range []struct {
		into   *Spread
		figure func(Turn) float64
	}{
		{&d.Offered, func(t Turn) float64 { return t.Offered }},
		{&d.Delivered, func(t Turn) float64 { return t.Delivered }},
		{&d.CPU, func(t Turn) float64 { return t.CPU }},
		{&d.PerCPU, Turn.perCPU},
	} {
		*f.into = spread(lists.Map(turns, f.figure))
	}
	d.SenderLimited = d.Delivered.Median >= allForwarded*d.Offered.Median
	d.Starved = !d.SenderLimited && d.CPU.Median < wholeCPU
	return d
}

// ratios compares the first device, ours, with each other one, round by round.
func ratios(duts []DUT) []Ratio {
	var rs []Ratio
	for _, other := range duts[1:] {
		var delivered, perCPU []float64
		for round, t := range other.Turns {
			ours := duts[0].Turns[round]
			delivered, perCPU = append(delivered, ours.Delivered/t.Delivered), append(perCPU, ours.perCPU()/t.perCPU())
		}
		rs = append(rs, Ratio{Over: other.Name, Delivered: spread(delivered), PerCPU: spread(perCPU)})
	}
	return rs
}
