package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/link/auth"
	"softswitch/node/config"
)

const (
	keyDigits = "2b7e151628aed2a6abf7158809cf4f3c"
	keyLine   = "s1--s2 " + keyDigits + "\n"
)

// keysFile makes a file of keys.
func keysFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadKeys(t *testing.T) {
	k, err := LoadKeys(keysFile(t, keyLine, 0o600))
	if err != nil || len(k.Of("s1--s2")) != 1 {
		t.Errorf("%v, %v", k, err)
	}
	if _, err := LoadKeys(keysFile(t, keyLine, 0o400)); err != nil {
		t.Errorf("a file that nobody may write: %v", err)
	}
	t.Setenv(KeysVariable, keyLine)
	if k, err := LoadKeys(""); err != nil || k.Of("s1--s2") == nil {
		t.Errorf("of the environment: %v, %v", k, err)
	}
}

// A file that another could read, change or replace is refused, whatever is in it.
func TestLoadKeysRefuses(t *testing.T) {
	dir := t.TempDir()
	linked := filepath.Join(dir, "link")
	if err := os.Symlink(keysFile(t, keyLine, 0o600), linked); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKeys(linked); err != nil { // as secrets of Kubernetes are mounted
		t.Errorf("a link of one's own: %v", err)
	}
	fifo := filepath.Join(dir, "fifo")
	mkfifo(t, fifo)
	others := keysFile(t, keyLine, 0o600)
	if os.Geteuid() == 0 {
		for _, path := range []string{others, linked} {
			if err := os.Lchown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct{ path, want string }{
		{keysFile(t, keyLine, 0o640), "others may read or change it (mode 0640)"},
		{keysFile(t, keyLine, 0o602), "others may read or change it (mode 0602)"},
		{linked, "user 65534"},
		{fifo, "it is no regular file"},
		{dir, "is a directory"},
		{filepath.Join(dir, "none"), "no such file"},
		{others, "it belongs to user 65534"},
		{keysFile(t, strings.Repeat("#", keysMax+1), 0o600), "valid: up to 1048576"},
		{keysFile(t, "s1--s2 "+keyDigits[1:], 0o600), "key 1 has 31 digits"},
		{"", "SOFTSWITCH_KEYS is not set"},
	} {
		if (tc.path == others || tc.path == linked) && os.Geteuid() != 0 {
			continue
		}
		_, err := LoadKeys(tc.path)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.path, err, tc.want)
		}
		if err != nil && strings.Contains(err.Error(), keyDigits[1:]) {
			t.Errorf("the error shows a key: %v", err)
		}
	}
}

func TestSetKeys(t *testing.T) {
	cfg := config.Switch{Name: "s1", ID: 1, Ports: []config.Port{{Name: "a"}, {Name: "b", Auth: auth.Strict, Link: "s1--s2"}}}
	cfg.Fill()
	build := func() dataplane.Config { return cfg.Build(nil, 64, 0) }
	cfg.Live.Keys = "keys"
	at := Place{Dir: filepath.Dir(keysFile(t, keyLine, 0o600))}
	c := build()
	first, err := setKeys(&c, cfg, at)
	if err != nil || len(c.Ports[1].Auth.Keys) != 1 || c.Ports[1].Auth.First != first || c.Ports[0].Auth != nil {
		t.Errorf("%+v, %v", c.Ports, err)
	}
	again := build()
	if later, err := setKeys(&again, cfg, at); err != nil || later <= first {
		t.Errorf("the counter of the next life begins at %d, before it %d, %v", later, first, err)
	}
	cfg.Ports[1].Link = "s1--s3"
	c = build()
	if _, err := setKeys(&c, cfg, at); err == nil || !strings.Contains(err.Error(), "port b: auth strict: there is no key for link s1--s3") {
		t.Errorf("a link without keys: %v", err)
	}
	cfg.Live.Keys = ""
	if _, err := setKeys(&c, cfg, at); err == nil || !strings.Contains(err.Error(), "port b: auth strict: no keys: live.keys names no file") {
		t.Errorf("without a file: %v", err)
	}
}
