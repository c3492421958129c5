package play

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"softswitch/conform"
	"softswitch/internal/safefile"
	"softswitch/internal/version"
	"softswitch/link/decode"
	"softswitch/link/pcapng"
	"softswitch/unit"
)

// captureMost is how many bytes of frames a capture of a case has at most: the last ones.
const captureMost = 64 << 20

// betweenTrials is how far the trials of a case are from each other in a capture.
const betweenTrials = unit.Second

// saveCapture writes a capture of all ports of the tester in a case into a file, built from its records.
func saveCapture(name string, t *conform.Task, o *conform.Outcome) error {
	f, err := safefile.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err = writeCapture(w, t, o); err == nil {
		err = w.Flush()
	}
	return errors.Join(err, f.Close())
}

// writeCapture writes the frames of all trials, with comments on those that matter. Times are from the
// beginning of the first trial.
func writeCapture(w io.Writer, t *conform.Task, o *conform.Outcome) error {
	about := []string{fmt.Sprintf("%s: %s: %s: %s", o.ID, o.Title, o.Result, o.Reason)}
	for _, x := range o.Checks {
		if x.Result != conform.Pass {
			about = append(about, fmt.Sprintf("%s: %s: %s (%s)", x.Result, x.What, x.Measured, x.Bound))
		}
	}
	out, err := pcapng.NewWriter(w, "softswitch conform "+version.Text(), strings.Join(about, "\n"))
	if err != nil {
		return err
	}
	for _, p := range t.Profile.Ports {
		if _, err := out.AddInterface(pcapng.Interface{Name: p.Name, Description: strings.TrimSpace(p.Interface + " " + p.DUT)}); err != nil {
			return err
		}
	}
	var packets []pcapng.Packet
	var bytes int
	var began unit.Time
	for i, r := range o.Trials {
		for n, f := range r.Captured(t) {
			p := pcapng.Packet{Interface: f.Port, Time: int64(began + max(0, f.When())), Direction: pcapng.Inbound, Data: f.Frame}
			if f.Out {
				p.Direction = pcapng.Outbound
			}
			var words []string
			if n == 0 {
				words = append(words, fmt.Sprintf("trial %d: %s", i+1, r.Script.Title))
			}
			for _, s := range []string{f.Comment, decode.Comment(f.Frame)} {
				if s != "" {
					words = append(words, s)
				}
			}
			p.Comment = strings.Join(words, "\n")
			packets, bytes = append(packets, p), bytes+len(f.Frame)
		}
		began += r.End + betweenTrials
	}
	first := 0
	for ; bytes > captureMost; first++ {
		bytes -= len(packets[first].Data)
	}
	for _, p := range packets[first:] {
		if err := out.WritePacket(p); err != nil {
			return err
		}
	}
	return out.Flush()
}
