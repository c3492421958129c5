package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"softswitch/internal/safefile"
	"softswitch/link/auth"
	netnslab "softswitch/netns-lab"
	"softswitch/node/client"
)

// RotateKeys gives all authenticated links of a lab new keys while it runs, in three steps: all
// switches believe the new key too, all sign with it, all believe it alone. So no frame is
// refused. It returns how many links there are. The error says at which step it ended; the
// links work as they are, and another call goes on from there.
func RotateKeys(ctx context.Context, st *netnslab.State) (links int, err error) {
	if st.Attached() {
		return 0, errors.New("the files of keys of this lab are where its nodes are: change them there, then `softswitch auth reload`")
	}
	nodes, err := PickSwitches(st, nil)
	if err != nil {
		return 0, err
	}
	files := map[string]auth.Keys{}
	pairs, next := map[string][]auth.Key{}, map[string]auth.Key{} // by link: of a rotation that was cut short
	for _, n := range nodes {
		path := filepath.Join(n.Dir, keysName)
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // none of its links is authenticated
		}
		if err != nil {
			return 0, err
		}
		if files[path], err = auth.ParseKeys(path, text); err != nil {
			return 0, err
		}
		for link, keys := range files[path] {
			if len(keys) > 1 && pairs[link] == nil {
				pairs[link] = keys
			}
			if _, ok := next[link]; !ok {
				next[link] = newKey()
			}
		}
	}
	if len(next) == 0 {
		return 0, errors.New("none of its links is authenticated: deploy it with `--set auth=strict`")
	}
	step := func(does string, of func(link string, now []auth.Key) []auth.Key) error {
		for path, keys := range files {
			for link, now := range keys {
				keys[link] = of(link, now)
			}
			if err := safefile.Replace(path, keys.File(), 0o600); err != nil {
				return fmt.Errorf("to %s: %w", does, err)
			}
		}
		if err := tell(ctx, Endpoints(nodes), client.Keys); err != nil {
			return fmt.Errorf("to %s: %w", does, err)
		}
		return nil
	}
	// One that was cut short is ended first: the two ends of a link may have its keys in another order.
	both := func(link string, now []auth.Key) []auth.Key {
		if pairs[link] != nil {
			return pairs[link]
		}
		return now
	}
	first := func(_ string, now []auth.Key) []auth.Key { return now[:1] }
	if len(pairs) > 0 {
		for _, of := range []func(string, []auth.Key) []auth.Key{both, first} {
			if err := step("end the last rotation", of); err != nil {
				return 0, err
			}
		}
	}
	for _, s := range []struct {
		does string
		of   func(link string, now []auth.Key) []auth.Key
	}{
		{"believe the new keys too", func(link string, now []auth.Key) []auth.Key { return []auth.Key{now[0], next[link]} }},
		{"sign with them", func(_ string, now []auth.Key) []auth.Key { return []auth.Key{now[1], now[0]} }},
		{"believe them alone", first},
	} {
		if err := step(s.does, s.of); err != nil {
			return 0, err
		}
	}
	return len(next), nil
}
