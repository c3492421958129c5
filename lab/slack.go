package lab

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
	"softswitch/unit"
)

// ScaleSwitch is ScaleHeadroom for a switch that runs in this process, of which s is filled in and
// checked. It says on progress what it took. The warnings tell of ports at which lossless frames can be lost
// all the same.
func ScaleSwitch(s config.Switch, progress io.Writer) (config.Switch, []string, error) {
	paced := slices.ContainsFunc(s.Ports, func(p config.Port) bool { return p.Rate > 0 && len(s.PFC.LosslessAt(p)) > 0 })
	if s.Buffer.Slack != nil || !paced {
		return s, shortOfSlack(&s, 0), nil
	}
	late, err := netnslab.OwnLateness(lookFor)
	if err != nil {
		return s, nil, fmt.Errorf("how late this process is: %w", err)
	}
	most := 0
	for i, p := range s.Ports {
		if p.Rate > 0 && len(s.PFC.LosslessAt(p)) > 0 {
			most = max(most, bytesWhileLate(p.Rate, 2*s.DelayOf(p), late)-s.XOFFOf(i))
		}
	}
	most = min(most, slackMax/s.Groups())
	s.Buffer.Slack = &most
	fmt.Fprintf(progress, "%s: this process wakes up to %v late: %d bytes of slack for each priority group, in addition to its headroom\n", s.Name, time.Duration(late).Round(time.Microsecond), most)
	return s, shortOfSlack(&s, late), nil
}

// shortOfSlack tells of ports of s that can lose lossless frames while this process and the far end are
// late: as late as they may become on a machine that was so late, or, with 0, as every process is.
func shortOfSlack(s *config.Switch, lateness unit.Time) (warnings []string) {
	var unpaced []string
	for i, p := range s.Ports {
		if len(s.PFC.LosslessAt(p)) == 0 {
			continue
		}
		if p.Rate == 0 {
			unpaced = append(unpaced, p.Name)
			continue
		}
		has := s.XOFFOf(i)
		if s.Buffer.Slack != nil {
			has += *s.Buffer.Slack
		}
		needs := bytesIn(p.Rate, 2*s.DelayOf(p)+late)
		if lateness > 0 {
			needs = bytesWhileLate(p.Rate, 2*s.DelayOf(p), lateness)
		}
		if has < needs {
			warnings = append(warnings, fmt.Sprintf("port %s: headroom and slack of %d bytes last %s at %s, and pauses can be late by more: lossless frames can be lost; it needs %d", p.Name, has, p.Rate.FrameTime(has), p.Rate, needs))
		}
	}
	if len(unpaced) > 0 {
		warnings = append(warnings, fmt.Sprintf("no rate is said of %s: no headroom is enough for what comes until a pause is heeded, and lossless frames can be lost; a file can say a rate for each port", strings.Join(unpaced, ", ")))
	}
	return warnings
}
