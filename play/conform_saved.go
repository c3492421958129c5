package play

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"softswitch/conform"
	"softswitch/internal/safefile"
)

// Files in the folder of records.
const (
	conformSavedProfile = "profile.yaml"
	conformSavedEnd     = ".record.json"
	conformCaptureEnd   = ".pcapng"
)

// saving is a Session's Judged that keeps the records of what failed or is undecided in opt.Dir, and calls
// opt.Judged. failed is the first error of writing.
func (opt *ConformOptions) saving(task *conform.Task) (judged func(conform.Outcome), failed func() error) {
	var err error
	if opt.Dir != "" {
		if err = safefile.MkdirAll(opt.Dir, 0o755); err == nil {
			err = safefile.WriteFile(filepath.Join(opt.Dir, conformSavedProfile), opt.Profile.Marshal(), 0o644)
		}
	}
	return func(o conform.Outcome) {
		if opt.Judged != nil {
			opt.Judged(o)
		}
		if opt.Dir == "" || err != nil || len(o.Trials) == 0 || o.Result != conform.Fail && o.Result != conform.Undecided {
			return
		}
		var data []byte
		if data, err = task.Save(o); err == nil {
			err = safefile.WriteFile(filepath.Join(opt.Dir, o.ID+conformSavedEnd), data, 0o644)
		}
		if err == nil {
			err = saveCapture(filepath.Join(opt.Dir, o.ID+conformCaptureEnd), task, &o)
		}
	}, func() error { return err }
}

// ConformJudge judges the records in a folder again.
func ConformJudge(dir string) (*conform.Report, error) {
	name := filepath.Join(dir, conformSavedProfile)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := conform.Load(name, data)
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var outcomes []conform.Outcome
	for _, c := range conform.Cases() {
		file := c.ID + conformSavedEnd
		if !slices.ContainsFunc(files, func(f os.DirEntry) bool { return f.Name() == file }) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil, err
		}
		o, err := conform.JudgeSaved(p, filepath.Join(dir, file), data)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, o)
	}
	if len(outcomes) == 0 {
		return nil, fmt.Errorf("%s: no records: softswitch conform run --dir writes CASE%s of what failed, or is undecided", strings.TrimSuffix(dir, "/"), conformSavedEnd)
	}
	return conform.ReportOf(p, outcomes), nil
}
