package replay

import (
	"encoding/json"
	"fmt"

	"softswitch/host"
	"softswitch/node/config"
	"softswitch/unit"
)

// Request is a request to a host while it ran.
type Request struct {
	// Do is "start" (Args: when its flows and acts start, {"at": 0} for now), "stop" or
	// "act" (Args: a config.Act).
	Do   string          `json:"do"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Start is the arguments of "start".
type Start struct {
	At unit.Time `json:"at"` // 0 for now
}

// Apply carries out r on h, whose configuration is cfg. If it returns an error nothing
// has changed.
func (r Request) Apply(h *host.Host, cfg *config.Host, now unit.Time) error {
	switch r.Do {
	case "start":
		var a Start
		if err := json.Unmarshal(r.Args, &a); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		if a.At == 0 {
			a.At = now
		}
		h.Start(a.At)
	case "stop":
		h.Stop()
	case "act":
		a, err := ReadAct(r.Args, cfg)
		if err != nil {
			return err
		}
		h.Do(now, a.Build())
	default:
		return fmt.Errorf("unknown request %q; valid: start, stop, act", r.Do)
	}
	return nil
}

// ReadAct reads and checks the arguments of "act" to a host with this configuration.
func ReadAct(args json.RawMessage, cfg *config.Host) (a config.Act, err error) {
	if err := json.Unmarshal(args, &a); err != nil {
		return a, fmt.Errorf("act: %w", err)
	}
	return a, a.Check("act", cfg)
}
