package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"softswitch/dataplane"
	"softswitch/internal/safefile"
	"softswitch/link/auth"
	"softswitch/live"
	"softswitch/node/config"
	"softswitch/unit"
)

// KeysVariable is the environment variable that has the content of a file of keys, where the
// configuration names no file.
const KeysVariable = "SOFTSWITCH_KEYS"

// keysMax bounds a file of keys, in bytes: some ten thousand links.
const keysMax = 1 << 20

// setKeys gives the ports of c that authenticate their far end their keys, and a first counter,
// which is above those of all lives before, unless the clock went back since.
func setKeys(c *dataplane.Config, cfg config.Switch, at Place) (first uint64, err error) {
	var keys auth.Keys
	first = uint64(time.Now().UnixNano())
	for i := range c.Ports {
		a := c.Ports[i].Auth
		if a == nil {
			continue
		}
		if keys == nil {
			if keys, err = LoadKeys(at.path(cfg.Live.Keys)); err != nil {
				return 0, fmt.Errorf("port %s: auth %s: %w", c.Ports[i].Name, a.Mode, err)
			}
		}
		if a.Keys = keys.Of(a.Link); a.Keys == nil {
			return 0, fmt.Errorf("port %s: auth %s: there is no key for link %s: add a line for it, or for all links, %q", c.Ports[i].Name, a.Mode, a.Link, auth.AllLinks)
		}
		a.First = first
	}
	return first, nil
}

// LoadKeys reads a file of keys, or without a path the environment variable KeysVariable. It
// refuses a file that another user may read or change. No error shows a key.
func LoadKeys(path string) (auth.Keys, error) {
	if path == "" {
		text := os.Getenv(KeysVariable)
		if text == "" {
			return nil, fmt.Errorf("no keys: live.keys names no file, and %s is not set", KeysVariable)
		}
		return auth.ParseKeys(KeysVariable, []byte(text))
	}
	f, err := safefile.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe holds up nobody
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("keys %s: it is no regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("keys %s: others may read or change it (mode %04o); make it `chmod 600 %[1]s`", path, info.Mode().Perm())
	case owner != os.Geteuid() && owner != 0:
		return nil, fmt.Errorf("keys %s: it belongs to user %d, who could change it; valid: %d, who runs this, or root", path, owner, os.Geteuid())
	case info.Size() > keysMax:
		return nil, fmt.Errorf("keys %s: %d bytes; valid: up to %d", path, info.Size(), keysMax)
	}
	text, err := io.ReadAll(io.LimitReader(f, keysMax))
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	return auth.ParseKeys(path, text)
}

// keys reads the file of keys again. If a key of a link is missing, all stay as they are.
func (s *switchNode) keys(n *live.Node, _ json.RawMessage) (any, error) {
	if s.fixed != "" {
		return nil, errors.New("keys: " + s.fixed)
	}
	keys, err := s.loadKeys()
	if err != nil {
		return nil, err
	}
	of := map[unit.Port][]auth.Key{}
	for i, p := range s.sw.Config().Ports {
		if p.Auth == nil || p.Auth.Mode == auth.Off {
			continue
		}
		if of[unit.Port(i)] = keys.Of(p.Auth.Link); of[unit.Port(i)] == nil {
			return nil, fmt.Errorf("port %s: there is no key for link %s any more", p.Name, p.Auth.Link)
		}
	}
	n.Do(func(unit.Time) {
		for p, k := range of {
			s.sw.SetKeys(p, k)
		}
	})
	return len(of), nil
}
