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
		return World{Name: name, Parallel: runtime.GOMAXPROCS(0), Play: playSim}, true
	case "live":
		return World{Name: name, Parallel: 1, Play: func(ctx context.Context, p *scenario.Plan, _ uint64) (*verdict.Verdict, error) {
			return playLive(ctx, p, play)
		}}, true
	}
	return w, false
}

// playSim plays a plan in virtual time.
func playSim(ctx context.Context, p *scenario.Plan, seed uint64) (*verdict.Verdict, error) {
	known := catalog.Factories()
	dog := simWatchdog(p.Scenario)
	known[watchdog.Name] = dog.Factory()
	dog.Action = watchdog.Forward
	known[watchdog.NameForward] = dog.Factory()
	w, err := sim.New(p, sim.Options{Seed: seed, Detectors: known, Watch: func(unit.Time) error { return ctx.Err() }})
	if err != nil {
		return nil, NotApplicable("cannot be simulated: " + err.Error())
	}
	return w.Run()
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

// WatchdogNote is how the watchdog's times follow the scenario.
const WatchdogNote = `A watchdog's times of 200 ms are longer than most simulated scenarios. In a
simulation its detection and poll times are a tenth of the scenario's duration, and
its restoration time is the same but no shorter than a pause, each of them at most
200 ms. Live they are 200 ms.`

// simWatchdog is the watchdog for a simulation of s, with action drop.
func simWatchdog(s *scenario.Scenario) watchdog.Config {
	var pause unit.Time
	for _, l := range s.Links {
		pause = max(pause, l.Rate.QuantaTime(uint16(s.PFC.Quanta)))
	}
	c := watchdog.Default()
	c.Detection, c.Poll = min(c.Detection, s.Duration/10), min(c.Poll, s.Duration/10)
	c.Restoration = min(c.Restoration, max(pause, s.Duration/10))
	return c
}
