package conform

import (
	"fmt"
	"io"
	"strings"

	"softswitch/internal/ether"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// Description is a case in words, with its first script.
type Description struct {
	*Case
	Script *Script `json:"script,omitempty"`

	task *Task
}

// Describe describes a case as it is played with a task.
func (c *Case) Describe(t *Task) *Description {
	d := &Description{Case: c, task: t}
	if s := c.Next(t, nil); s != nil {
		d.Script = s.finish()
	}
	return d
}

// WriteText writes what is sent, what passes, and how to see it by hand.
func (d *Description) WriteText(w io.Writer) error {
	var b strings.Builder
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%-8s %s\n", name, text)
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", d.ID, d.Title)
	row("clause", d.Clause)
	row("theirs", d.Theirs)
	row("ports", fmt.Sprint(d.Ports))
	row("needs", strings.Join(d.Needs, ", "))
	row("passes", d.Bound)
	row("by hand", d.Hand)
	if d.Script != nil {
		d.Script.write(&b, d.task)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// write writes a script in words, in the order of its times.
func (s *Script) write(b *strings.Builder, t *Task) {
	port := func(i int) string { return t.Profile.Ports[i].Name }
	fmt.Fprintf(b, "script   %s, %v and at most %v more\n", s.Title, s.End, s.Drain)
	for _, f := range s.Streams {
		lengths := fmt.Sprint(f.Lengths)
		if n := len(f.Lengths); n > 8 {
			lengths = fmt.Sprintf("%d to %d", f.Lengths[0], f.Lengths[n-1])
		}
		fmt.Fprintf(b, "  %v to %v  stream %s: %s to %s, priority %d, frames of %s bytes, %v", f.Start, f.Stop, f.Name, port(f.From), port(f.To), f.Priority, lengths, f.Rate)
		switch {
		case f.Obey == Ignores:
			b.WriteString(", whatever the DUT pauses")
		case f.Obey == Late:
			fmt.Fprintf(b, ", obeys %v late", f.Late)
		}
		b.WriteByte('\n')
	}
	for _, f := range s.Trains {
		fmt.Fprintf(b, "  %v", f.Start)
		if f.Stop > 0 {
			fmt.Fprintf(b, " to %v", f.Stop)
		}
		fmt.Fprintf(b, "  train %s: into %s", f.Name, port(f.Port))
		switch {
		case f.At != nil:
			fmt.Fprintf(b, ", at %s", unit.Count(len(f.At), "time"))
		case f.Count != 1:
			fmt.Fprintf(b, ", each %v", f.Every)
		}
		for i, frame := range f.Frames {
			if i == 3 {
				fmt.Fprintf(b, "; and %s in turn", unit.Count(len(f.Frames)-i, "other frame"))
				break
			}
			fmt.Fprintf(b, "; %s", frame)
		}
		if f.Last != nil {
			fmt.Fprintf(b, "; at last %s", f.Last)
		}
		b.WriteByte('\n')
	}
	for _, r := range s.Receivers {
		fmt.Fprintf(b, "  %v to %v  receiver %s: at %s, priorities %v, pauses from %d bytes on, down to %d\n", r.Start, r.Stop, r.Name, port(r.Port), r.Set, r.XOFF, r.XON)
	}
	for _, a := range s.Acts {
		fmt.Fprintf(b, "  %v  %s, %s\n", a.At, a.Do, port(a.Port))
	}
	for _, p := range s.Phases {
		fmt.Fprintf(b, "  %v to %v  phase %s\n", p.From, p.To, p.Name)
	}
}

// String is what a control frame is, and its bytes up to the padding.
func (f Frame) String() string {
	text := fmt.Sprintf("%s to %v, % x", unit.Count(len(f), "byte"), ether.Dst(f), []byte(f[12:min(len(f), pfcframe.PadOffset)]))
	if p, _, err := pfcframe.Parse(f); err == nil {
		text = "PFC"
		for set := p.Enable; set != 0; set &= set - 1 {
			text += fmt.Sprintf(" %d=%d", set.First(), p.Quanta[set.First()])
		}
	}
	return text
}
