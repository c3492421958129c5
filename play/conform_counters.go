package play

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"softswitch/conform"
	"softswitch/internal/control"
	"softswitch/node/client"
	"softswitch/node/observe"
	"softswitch/unit"
)

// errCommand says that a profile's command was not run.
var errCommand = errors.New("counters: the profile's command runs only with --run-commands")

// readConformCounters reads the counters of a live DUT as its profile says.
func readConformCounters(ctx context.Context, p *conform.Profile, commands bool) ([]conform.Reading, error) {
	switch c := p.Counters; {
	case c == nil:
		return nil, errors.New("counters: the profile does not say where to read them")
	case c.Read == "softswitch":
		s, err := client.Stats[observe.Switch](control.Endpoint{Name: p.Name, Path: c.Socket})
		if err != nil {
			return nil, fmt.Errorf("counters: %w", err)
		}
		return countersOf(p, &s)
	case !commands:
		return nil, errCommand
	default:
		out, err := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...).Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return nil, fmt.Errorf("counters: %s: %w: %s", strings.Join(c.Command, " "), err, bytes.TrimSpace(exit.Stderr))
			}
			return nil, fmt.Errorf("counters: %s: %w", strings.Join(c.Command, " "), err)
		}
		return parsePFCCounters(p, string(out))
	}
}

// countersOf is a softswitch's counters, of the profile's ports.
func countersOf(p *conform.Profile, s *observe.Switch) (all []conform.Reading, err error) {
	for i, q := range p.Ports {
		k := slices.IndexFunc(s.Ports, func(port observe.Port) bool { return port.Name == dutPort(q) })
		if k < 0 {
			return nil, fmt.Errorf("counters: switch %s has no port %q, which the profile's port %s leads to (dut)", s.Name, dutPort(q), q.Name)
		}
		c := &s.Ports[k]
		r := conform.Reading{Port: i}
		for pr := range unit.Priorities {
			add(&r, conform.RxPFC, pr, c.RxPause[pr]+c.RxResume[pr])
			add(&r, conform.TxPFC, pr, c.TxPause[pr]+c.TxRefresh[pr]+c.TxResume[pr])
			add(&r, conform.RxData, pr, c.RxFrames[pr])
			add(&r, conform.TxData, pr, c.TxFrames[pr])
		}
		dropped := uint64(0)
		for _, n := range c.Drops {
			dropped += n
		}
		r.Names, r.Values = append(r.Names, conform.Dropped), append(r.Values, dropped)
		all = append(all, r)
	}
	return all, nil
}

// dutPort is what a port of the DUT is called there.
func dutPort(q conform.Port) string { return cmp.Or(q.DUT, q.Name) }

func add(r *conform.Reading, name string, priority int, n uint64) {
	r.Names, r.Values = append(r.Names, fmt.Sprintf("%s %d", name, priority)), append(r.Values, n)
}

// parsePFCCounters reads what SONiC's show pfc counters prints: a table of what came, and one of what left,
// each with a line a port.
func parsePFCCounters(p *conform.Profile, text string) (all []conform.Reading, err error) {
	for i := range p.Ports {
		all = append(all, conform.Reading{Port: i})
	}
	name := ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) > 2 && words[0] == "Port" && words[1] == "Rx":
			name = conform.RxPFC
			continue
		case len(words) > 2 && words[0] == "Port" && words[1] == "Tx":
			name = conform.TxPFC
			continue
		case len(words) != 1+unit.Priorities || name == "":
			continue
		}
		i := slices.IndexFunc(p.Ports, func(q conform.Port) bool { return dutPort(q) == words[0] })
		if i < 0 {
			continue
		}
		for k, word := range words[1:] {
			n, err := strconv.ParseUint(strings.ReplaceAll(word, ",", ""), 10, 64)
			if err != nil {
				return nil, fmt.Errorf("counters: port %s, %s %d: %q is no number", words[0], name, k, word)
			}
			add(&all[i], name, k, n)
		}
	}
	for i := range all {
		if len(all[i].Names) != 2*unit.Priorities {
			return nil, fmt.Errorf("counters: the command's output has no counters of port %q, which the profile's port %s leads to (dut)", dutPort(p.Ports[i]), p.Ports[i].Name)
		}
	}
	return all, nil
}

// readAt is readings of a time.
func readAt(all []conform.Reading, at conform.Span) []conform.Reading {
	for i := range all {
		all[i].At = at
	}
	return all
}
