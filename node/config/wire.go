package config

import (
	"fmt"

	"softswitch/internal/strictyaml"
	"softswitch/link/impair"
	"softswitch/unit"
)

// WireDelayMax is the longest delay and jitter of a live wire.
const WireDelayMax = 10 * unit.Second

// WireRequest is the arguments of a request to a live node about the wire from a port.
type WireRequest struct {
	Port string `json:"port"` // its interface
	// Wire is what the wire does from now on, of impair.
	Wire Wire `json:"wire,omitzero"`
	// Nth control frame from now on gets lost, of lose.
	Nth int `json:"nth,omitempty"`
	// Frame appears on the wire, of forge.
	Frame []byte `json:"frame,omitempty"`
	// Flip is the bit that is inverted of the Nth last frame, of taped.
	Flip int `json:"flip,omitempty"`
}

// CaptureRequest is the arguments of the request to a live node for a capture.
type CaptureRequest struct {
	Offset int64 `json:"offset"` // link.CaptureOptions.Offset
}

// Build turns the configuration into what the wire does. The error names the key and the
// valid values.
func (w Wire) Build() (f impair.Faults, err error) {
	for _, t := range []struct {
		key, text string
		to        *unit.Time
	}{{"delay", w.Delay, &f.Delay}, {"jitter", w.Jitter, &f.Jitter}} {
		if *t.to, err = wireTime(t.key, t.text); err != nil {
			return f, err
		}
	}
	for _, s := range []struct {
		key, text string
		to        *int
	}{{"control_loss", w.ControlLoss, &f.ControlLoss}, {"loss", w.Loss, &f.Loss}, {"duplicate", w.Duplicate, &f.Duplicate}, {"reorder", w.Reorder, &f.Reorder}} {
		if s.text == "" {
			continue
		}
		var share Share
		if err = share.UnmarshalText([]byte(s.text)); err != nil {
			return f, fmt.Errorf("%s: %w", s.key, err)
		}
		*s.to = int(share)
	}
	const tenths = impair.Whole / impair.PerMille
	if f.ControlLoss%tenths != 0 {
		return f, fmt.Errorf("control_loss: %q: control frames are counted by the thousand; write at most one digit after the point", w.ControlLoss)
	}
	f.ControlLoss /= tenths
	if f.Reorder > 0 && f.Delay == 0 {
		return f, fmt.Errorf("reorder: %s of the frames take twice the delay, which is 0; give the wire a delay", w.Reorder)
	}
	return f, nil
}

// wireTime reads a delay; "" is none.
func wireTime(key, text string) (unit.Time, error) {
	if text == "" {
		return 0, nil
	}
	t, err := unit.ParseTime(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	if t != 0 && t < impair.Resolution || t > WireDelayMax {
		return 0, fmt.Errorf("%s: %q: a live wire keeps time to %s; valid: 0s, or %s to %s", key, text, impair.Resolution, impair.Resolution, WireDelayMax)
	}
	return t, nil
}

// WireOf is the configuration of a wire that does this; Build turns it back.
func WireOf(f impair.Faults) Wire {
	var w Wire
	if f.Delay > 0 {
		w.Delay = f.Delay.String()
	}
	if f.Jitter > 0 {
		w.Jitter = f.Jitter.String()
	}
	for _, s := range []struct {
		n  int
		to *string
	}{{f.ControlLoss * (impair.Whole / impair.PerMille), &w.ControlLoss}, {f.Loss, &w.Loss}, {f.Duplicate, &w.Duplicate}, {f.Reorder, &w.Reorder}} {
		if s.n > 0 {
			*s.to = Share(s.n).String()
		}
	}
	return w
}

func checkWire(d *strictyaml.Doc, path string, w *Wire) {
	if w != nil {
		_, err := w.Build()
		d.Fault(path, err)
	}
}
