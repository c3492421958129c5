package netnslab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// backlogPath is the host's setting; tests put a file of their own in its place.
var backlogPath = "/proc/sys/net/core/netdev_max_backlog"

// backlogRecord, in the file backlog.json of the run directory, is how the host's
// setting was before the first lab, and the values that labs gave it since.
type backlogRecord struct {
	Boot string `json:"boot"`
	Was  int    `json:"was"`
	Set  []int  `json:"set"`
}

func backlogRecordPath() string { return filepath.Join(RunDir(), "backlog.json") }

func readBacklog() (int, error) {
	text, err := os.ReadFile(backlogPath)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// raiseTo raises the host's backlog to least, if it is lower, and records what it
// was first. Where the setting cannot be seen or changed (a container), the lab is
// made all the same and the reason goes to progress.
func raiseTo(least int, boot string, progress io.Writer) error {
	now, err := readBacklog()
	if err != nil {
		fmt.Fprintf(progress, "warning: bursts may be lost: cannot read the backlog of the host: %v\n", err)
		return nil
	}
	if now >= least {
		return nil
	}
	rec, err := loadBacklog(boot)
	if errors.Is(err, fs.ErrNotExist) {
		rec, err = backlogRecord{Boot: boot, Was: now}, nil
	}
	if err != nil {
		return err
	}
	rec.Set = append(rec.Set, least)
	text, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	if err := replaceFile(backlogRecordPath(), text); err != nil {
		return err
	}
	checkpoint()
	if err := os.WriteFile(backlogPath, []byte(strconv.Itoa(least)), 0); err != nil {
		fmt.Fprintf(progress, "warning: bursts may be lost: backlog stays at %d frames: %v\n", now, err)
	}
	return nil
}

// loadBacklog reads the record. One of an earlier boot counts as none.
func loadBacklog(boot string) (rec backlogRecord, err error) {
	text, err := os.ReadFile(backlogRecordPath())
	if err != nil {
		return rec, fmt.Errorf("netnslab: %w", err)
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, fmt.Errorf("netnslab: %s: %w", backlogRecordPath(), err)
	}
	if rec.Boot != boot {
		return rec, fmt.Errorf("netnslab: %s is of an earlier boot: %w", backlogRecordPath(), fs.ErrNotExist)
	}
	return rec, nil
}

// restoreBacklog puts the host's backlog back, unless another lab of this boot
// still has a state, or somebody else has changed the setting since.
func restoreBacklog(leaving, boot string, progress io.Writer) error {
	names, err := Labs()
	if err != nil {
		return err
	}
	for _, name := range names {
		if st, err := loadDir(Dir(name)); name != leaving && (err != nil || st.Boot == boot) {
			return nil
		}
	}
	rec, err := loadBacklog(boot)
	if err == nil {
		err = rec.restore(progress)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Remove(backlogRecordPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("netnslab: %w", err)
	}
	return nil
}

func (rec backlogRecord) restore(progress io.Writer) error {
	now, err := readBacklog()
	if err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	if !slices.Contains(rec.Set, now) {
		if now != rec.Was {
			fmt.Fprintf(progress, "netdev_max_backlog stays at %d: it was changed by others (%d before the lab)\n", now, rec.Was)
		}
		return nil
	}
	if err := os.WriteFile(backlogPath, []byte(strconv.Itoa(rec.Was)), 0); err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	return nil
}
