package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	netnslab "softswitch/netns-lab"
)

// backlog is the host's setting that labs raise while they are up, whoever made them. The record
// says what it was before the first of them, and which labs rely on it.
type backlog struct{ setting, home string }

var theBacklog = backlog{"/proc/sys/net/core/netdev_max_backlog", netnslab.DefaultRunDir}

// backlogOwners is the record, as other programs read it.
type backlogOwners struct {
	Boot string
	Was  int
	Labs []string
}

// read reads the setting, and the record if there is one, while no lab changes them.
func (k backlog) read() (now int, owners *backlogOwners, err error) {
	unlock, err := k.lock()
	if err != nil {
		return 0, nil, err
	}
	defer unlock()
	text, err := os.ReadFile(k.setting)
	if err != nil {
		return 0, nil, err
	}
	if now, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		return 0, nil, err
	}
	text, err = os.ReadFile(filepath.Join(k.home, "backlog.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return now, nil, nil
	}
	boot, errBoot := os.ReadFile("/proc/sys/kernel/random/boot_id")
	owners = &backlogOwners{}
	if err := errors.Join(err, errBoot, json.Unmarshal(text, owners)); err != nil {
		return 0, nil, err
	}
	if owners.Boot != strings.TrimSpace(string(boot)) {
		return now, nil, nil
	}
	return now, owners, nil
}

// lock keeps labs from changing the record, if there was ever a lab.
func (k backlog) lock() (unlock func(), err error) {
	f, err := os.Open(filepath.Join(k.home, "backlog.lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH)
	}
	return func() { f.Close() }, err
}

// before is what the setting is when no lab is up.
func (k backlog) before() (int, error) {
	now, owners, err := k.read()
	if owners != nil {
		now = owners.Was
	}
	return now, err
}

// leaked says what of the setting a lab has left behind, whose directory that was: it may be raised
// for others as long as one of them is up, and then it is as before.
func (k backlog) leaked(before int, dir string) error {
	now, owners, err := k.read()
	switch {
	case err != nil:
		return err
	case owners == nil && now != before:
		return fmt.Errorf("net.core.netdev_max_backlog is %d without a lab that relies on it, was %d", now, before)
	case owners == nil:
		return nil
	case slices.Contains(owners.Labs, dir):
		return fmt.Errorf("net.core.netdev_max_backlog is %d, and %s is said to rely on it", now, dir)
	case !slices.ContainsFunc(owners.Labs, hasLab):
		return fmt.Errorf("net.core.netdev_max_backlog is %d, was %d, and none of %v is a lab", now, before, owners.Labs)
	}
	return nil
}

// hasLab: a lab's record is in the directory.
func hasLab(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "state.json"))
	return err == nil
}

// TestLeakedBacklog: what a lab leaves of the host's setting is found, and what other labs rely on is
// not taken for it.
func TestLeakedBacklog(t *testing.T) {
	const before, raised = 1000, 100_000
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	mine, other, gone := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "state.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		now   int
		boot  string
		labs  []string
		leaks bool
	}{
		{"as before", before, "", nil, false},
		{"raised, and nobody relies on it", raised, "", nil, true},
		{"raised for another lab", raised, string(boot), []string{other}, false},
		{"raised for one that is gone and another lab", raised, string(boot), []string{gone, other}, false},
		{"raised for one that is gone", raised, string(boot), []string{gone}, true},
		{"raised for the lab that should be gone", raised, string(boot), []string{mine, other}, true},
		{"raised, by the record of an earlier boot", raised, "another", []string{other}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			k := backlog{filepath.Join(home, "setting"), home}
			err := os.WriteFile(k.setting, fmt.Appendln(nil, c.now), 0o600)
			if c.boot != "" {
				text, errText := json.Marshal(backlogOwners{strings.TrimSpace(c.boot), before, c.labs})
				err = errors.Join(err, errText, os.WriteFile(filepath.Join(home, "backlog.json"), text, 0o600), os.WriteFile(filepath.Join(home, "backlog.lock"), nil, 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := k.leaked(before, mine); (err != nil) != c.leaks {
				t.Errorf("%v; want a leak: %v", err, c.leaks)
			}
			if was, err := k.before(); c.boot == string(boot) && was != before || err != nil {
				t.Errorf("it was %d, %v; want %d", was, err, before)
			}
		})
	}
}
