package compare

import (
	"context"
	"runtime"

	"softswitch/detect/catalog"
	"softswitch/detect/watchdog"
	"softswitch/lab"
	"softswitch/oracle/verdict"
	"softswitch/scenario"
	"softswitch/sim"
	"softswitch/unit"
)

// NewWorld is the world of a name, "sim" or "live"; live, a plan is played by play.
func NewWorld(name string, play func(context.Context, *scenario.Plan) (*verdict.Verdict, error)) (w World, ok bool) {
	switch name {
	case "sim":
		return World{Name: name, Parallel: runtime.GOMAXPROCS(0), Play: playSim, Truth: simTruth}, true
	case "live":
		return World{
			Name: name, Parallel: 1,
			Play: func(ctx context.Context, p *scenario.Plan, seed uint64) (*Played, error) {
				v, err := playLive(ctx, p.Drawn(seed), play)
				return &Played{Verdict: v}, err
			},
			Truth: func(ctx context.Context, s *scenario.Scenario, _ uint64) (*Truth, error) { return liveTruth(ctx, s) },
		}, true
	}
	return w, false
}

// playSim plays a plan in virtual time.
func playSim(ctx context.Context, p *scenario.Plan, seed uint64) (*Played, error) {
	opt := simOptions(ctx, p.Scenario, seed)
	drops, count := counter(p)
	opt.Dropped = count
	w, err := sim.New(p, opt)
	if err != nil {
		return nil, NotApplicable("cannot be simulated: " + err.Error())
	}
	v, err := w.Run()
	return &Played{Verdict: v, Drops: drops}, err
}

// simOptions are how s is simulated.
func simOptions(ctx context.Context, s *scenario.Scenario, seed uint64) sim.Options {
	known := catalog.Factories()
	dog, juniper, dldr := simTimers(s)
	known[watchdog.Name], known[watchdog.NameJuniper], known[watchdog.DLDRName] = dog.Factory(), juniper.Factory(), dldr.Factory()
	dog.Action = watchdog.Forward
	known[watchdog.NameForward] = dog.Factory()
	dog.Action = watchdog.Drop
	for name, asic := range map[string]watchdog.ASIC{
		watchdog.NameBroadcom: watchdog.Broadcom, watchdog.NameMellanox: watchdog.Mellanox, watchdog.NameMellanox2023: watchdog.Mellanox2023,
	} {
		dog.ASIC = asic
		known[name] = dog.Factory()
	}
	return sim.Options{Seed: seed, Detectors: known, Watch: func(unit.Time) error { return ctx.Err() }}
}

// playLive plays a plan on namespaces, by play; a run that is not valid again, a few
// times.
func playLive(ctx context.Context, p *scenario.Plan, play func(context.Context, *scenario.Plan) (*verdict.Verdict, error)) (v *verdict.Verdict, err error) {
	if err := lab.Refuse(p.Scenario); err != nil {
		return nil, NotApplicable("cannot be played live: " + err.Error())
	}
	const tries = 3
	for range tries {
		v, err = play(ctx, p)
		if err != nil || v.Invalid == "" {
			break
		}
	}
	return v, err
}

// WatchdogNote is how the times of the watchdogs and of SAI's timers follow the scenario.
const WatchdogNote = `The times of 200 ms by which the watchdogs and SAI's timers go are longer than most
simulated scenarios. In a simulation the detection time is a tenth of the scenario's
duration, and the restoration time (Juniper's and SAI's recovery) is the same but no
shorter than a pause, each of them at most 200 ms. SONiC's watchdogs poll once in a
detection time and Juniper's twice. Live all times are the defaults. A scenario with a key
watchdog has its own for SONiC's, in both.`

// simTimers are the detectors that use such times, for a simulation of s; the watchdogs
// with action drop.
func simTimers(s *scenario.Scenario) (dog, juniper watchdog.Config, dldr watchdog.DLDRConfig) {
	var pause unit.Time
	for _, l := range s.Links {
		pause = max(pause, l.Rate.QuantaTime(uint16(s.PFC.Quanta)))
	}
	dog, juniper, dldr = watchdog.Default(), watchdog.Juniper(), watchdog.DefaultDLDR()
	detection, restoration := s.Duration/10, max(pause, s.Duration/10)
	dog.Detection, dog.Poll, dog.Restoration = min(dog.Detection, detection), min(dog.Poll, detection), min(dog.Restoration, restoration)
	juniper.Detection, juniper.Poll, juniper.Restoration = min(juniper.Detection, detection), min(juniper.Poll, detection/2), min(juniper.Restoration, restoration)
	dldr.Detection, dldr.Recovery = min(dldr.Detection, detection), min(dldr.Recovery, restoration)
	return dog, juniper, dldr
}
