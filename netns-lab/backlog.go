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

	"golang.org/x/sys/unix"

	"softswitch/internal/safefile"
)

// backlogPath is the host's setting, and backlogHome the directory in which all labs of
// the machine, whatever their run directories, record it; tests replace them.
var (
	backlogPath = "/proc/sys/net/core/netdev_max_backlog"
	backlogHome = DefaultRunDir
)

// backlogRecord, in the file backlog.json of backlogHome, is the host's setting before
// the first lab, the values that labs have set since, and the directories of the labs
// that rely on it.
type backlogRecord struct {
	Boot string   `json:"boot"`
	Was  int      `json:"was"`
	Set  []int    `json:"set"`
	Labs []string `json:"labs"`
}

func backlogRecordPath() string { return filepath.Join(backlogHome, "backlog.json") }

// lockBacklog locks the record. The lock file stays; nobody else can open it, or put another in
// its place.
func lockBacklog() (unlock func(), err error) {
	if err = safefile.MkdirAll(backlogHome, 0o755); err == nil {
		err = safefile.CheckDir(backlogHome)
	}
	var f *os.File
	if err == nil {
		f, err = safefile.OpenFile(filepath.Join(backlogHome, "backlog.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("netnslab: %w", err)
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("netnslab: lock %s: %w", f.Name(), err)
	}
	return func() { f.Close() }, nil
}

func readBacklog() (int, error) {
	text, err := os.ReadFile(backlogPath)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// raiseTo raises the host's backlog to least, if it is lower, for the lab of that
// directory. It first records the old value, and that the lab relies on the new one. If
// the setting cannot be read or changed (a container), the lab is made all the same and
// the reason goes to progress.
func raiseTo(least int, dir, boot string, progress io.Writer) error {
	now, err := readBacklog()
	if err != nil {
		fmt.Fprintf(progress, "warning: bursts may be lost: cannot read the backlog of the host: %v\n", err)
		return nil
	}
	if err := unix.Access(backlogPath, unix.W_OK); err != nil {
		if now < least {
			fmt.Fprintf(progress, "warning: bursts may be lost: backlog stays at %d frames: %v\n", now, err)
		}
		return nil
	}
	unlock, err := lockBacklog()
	if err != nil {
		return err
	}
	defer unlock()
	return raiseLocked(least, dir, boot, progress)
}

func raiseLocked(least int, dir, boot string, progress io.Writer) error {
	now, err := readBacklog()
	if err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	rec, err := loadBacklog(boot)
	if errors.Is(err, fs.ErrNotExist) {
		if now >= least {
			return nil // someone other than a lab set it
		}
		rec, err = backlogRecord{Boot: boot, Was: now}, nil
	}
	if err != nil {
		return err
	}
	if now < least {
		rec.Set = append(rec.Set, least)
	}
	rec.Labs = append(rec.Labs, dir)
	if err := rec.save(); err != nil {
		return err
	}
	if now >= least {
		return nil
	}
	checkpoint()
	if err := os.WriteFile(backlogPath, []byte(strconv.Itoa(least)), 0); err != nil {
		fmt.Fprintf(progress, "warning: bursts may be lost: backlog stays at %d frames: %v\n", now, err)
	}
	return nil
}

func (rec backlogRecord) save() error {
	text, err := json.Marshal(rec)
	if err == nil {
		err = safefile.Replace(backlogRecordPath(), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	return nil
}

// loadBacklog reads the record. It ignores one of an earlier boot.
func loadBacklog(boot string) (rec backlogRecord, err error) {
	text, err := safefile.Read(backlogRecordPath(), stateMax)
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

// restoreBacklog restores the host's backlog after the lab of that directory is gone,
// unless another lab of this boot relies on it or someone else has changed it since.
func restoreBacklog(dir, boot string, progress io.Writer) error {
	if _, err := os.Stat(backlogRecordPath()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := lockBacklog()
	if err != nil {
		return err
	}
	defer unlock()
	rec, err := loadBacklog(boot)
	if err == nil {
		rec.Labs = slices.DeleteFunc(rec.Labs, func(other string) bool { return other == dir || !relies(other, boot) })
		if len(rec.Labs) > 0 {
			return rec.save()
		}
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

// relies reports whether the directory has a lab of this boot; one whose state cannot
// be read counts.
func relies(dir, boot string) bool {
	st, err := LoadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return st.Boot == boot
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
