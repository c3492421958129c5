package play

import (
	"context"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"softswitch/conform"
	"softswitch/conform/mutant"
	"softswitch/dataplane"
	"softswitch/internal/testkit"
	"softswitch/link/pcapng"
	"softswitch/unit"
)

// playAll plays all cases in virtual time, with a planted defect unless it is nil.
func playAll(t *testing.T, judged func(*conform.Task, conform.Outcome), wrap func(dataplane.Machine) dataplane.Machine) *conform.Report {
	t.Helper()
	opt := ConformOptions{Profile: ConformSelf(), Seed: testkit.Seed(t), Wrap: wrap}
	task := &conform.Task{Profile: opt.Profile, Seed: opt.Seed, Tiny: true}
	session := conform.NewSession(task, conform.Cases())
	session.Draw = true
	session.Judged = func(o conform.Outcome) { judged(task, o) }
	w, err := newConformWorld(task, opt, func(unit.Time) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	for script := session.Next(); script != nil; script = session.Next() {
		r, err := w.play(script)
		if err != nil {
			t.Fatal(err)
		}
		session.Add(r)
	}
	return session.Report()
}

// oddSource is a defect that a case fails for, and the rest does not.
func oddSource(m dataplane.Machine) dataplane.Machine {
	all := mutant.Defects()
	return mutant.New(m, all[slices.IndexFunc(all, func(d mutant.Defect) bool { return d.Number == 31 })])
}

// What was kept of a case comes to the same verdict when it is judged again, whatever the verdict is.
func TestConformJudgeAll(t *testing.T) {
	failed := 0
	playAll(t, func(task *conform.Task, o conform.Outcome) {
		if len(o.Trials) == 0 {
			return
		}
		data, err := task.Save(o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := conform.Load("profile.yaml", task.Profile.Marshal())
		if err != nil {
			t.Fatal(err)
		}
		again, err := conform.JudgeSaved(p, o.ID, data)
		if err != nil || !reflect.DeepEqual(again.Verdict, o.Verdict) {
			t.Errorf("%s: %v\nagain %+v\n  was %+v", o.ID, err, again.Verdict, o.Verdict)
		}
		if o.Result == conform.Fail {
			failed++
		}
	}, oddSource)
	if failed == 0 {
		t.Error("no case failed: that verdicts differ would not be seen")
	}
}

// The page of a run has each case, with a drawing, and is well-formed.
func TestConformPage(t *testing.T) {
	r := playAll(t, func(*conform.Task, conform.Outcome) {}, oddSource)
	var page strings.Builder
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Cases {
		if n := strings.Count(page.String(), `<details id="`+o.ID+`"`); n != 1 {
			t.Errorf("%s is %d times on the page", o.ID, n)
		}
		if len(o.Played) > 0 && len(o.Played[0].Streams)+len(o.Played[0].Trains) == 0 {
			t.Errorf("%s: trial %+v", o.ID, o.Played[0])
		}
	}
	played := 0
	for _, o := range r.Cases {
		if len(o.Played) > 0 {
			played++
		}
	}
	if n := strings.Count(page.String(), "<svg "); n < played {
		t.Errorf("%d drawings of %d cases", n, played)
	}
	for rest := page.String(); ; {
		i := strings.Index(rest, "<svg ")
		if i < 0 {
			break
		}
		end := i + strings.Index(rest[i:], "</svg>") + len("</svg>")
		if err := xml.Unmarshal([]byte(rest[i:end]), new(struct{})); err != nil {
			t.Fatalf("%v\n%s", err, rest[i:end])
		}
		rest = rest[end:]
	}
}

// The capture of a case that failed has every frame of its records, in the order of time, and tshark reads it.
func TestConformCapture(t *testing.T) {
	dir := t.TempDir()
	const failed = "T03" // by oddSource
	var frames []conform.Captured
	_, err := ConformSim(context.Background(), ConformOptions{
		Profile: ConformSelf(), Cases: []*conform.Case{conform.Find(failed)}, Dir: dir, Wrap: oddSource,
		Judged: func(o conform.Outcome) {
			for _, r := range o.Trials {
				frames = append(frames, r.Captured(&conform.Task{Profile: ConformSelf()})...)
			}
		},
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, failed+conformCaptureEnd)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, last, comments := 0, int64(0), 0
	err = pcapng.Read(f, func(block any) {
		p, ok := block.(pcapng.Packet)
		if !ok {
			return
		}
		if p.Time < last {
			t.Errorf("frame %d at %d, after %d", n, p.Time, last)
		}
		if n < len(frames) && (string(p.Data) != string(frames[n].Frame) || p.Interface != frames[n].Port) {
			t.Errorf("frame %d is not the one of the record", n)
		}
		if p.Comment != "" {
			comments++
		}
		n, last = n+1, p.Time
	})
	if err != nil || n != len(frames) || n < 100 || comments < 10 {
		t.Fatalf("%d frames, %d in the records, %d with comments: %v", n, len(frames), comments, err)
	}
	testkit.Need(t, "tshark")
	if bad := testkit.Tshark(t, file, "-Y", "_ws.malformed && eth.type == 0x8808"); len(bad) > 0 {
		t.Errorf("tshark: a control frame is malformed: %s", bad[0])
	}
	if first := testkit.Tshark(t, file, "-Y", `frame.comment contains ": its first frame"`); len(first) == 0 {
		t.Error("tshark finds no comment on the first frame of the storm")
	}
}
