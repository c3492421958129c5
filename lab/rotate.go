package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"softswitch/internal/safefile"
	"softswitch/linkauth"
	netnslab "softswitch/netns-lab"
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
	files, new := map[string]linkauth.Keys{}, map[string]linkauth.Key{}
	for _, n := range nodes {
		path := filepath.Join(n.Dir, keysName)
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue // none of its links is authenticated
		}
		if err != nil {
			return 0, err
		}
		if files[path], err = linkauth.ParseKeys(path, text); err != nil {
			return 0, err
		}
		for link := range files[path] {
			if _, ok := new[link]; !ok {
				var k linkauth.Key
				rand.Read(k[:])
				new[link] = k
			}
		}
	}
	if len(new) == 0 {
		return 0, errors.New("none of its links is authenticated: deploy it with `--set auth=strict`")
	}
	for _, step := range []struct {
		does string
		keys func(old, new linkauth.Key) []linkauth.Key
	}{
		{"believe the new keys too", func(old, new linkauth.Key) []linkauth.Key { return []linkauth.Key{old, new} }},
		{"sign with them", func(old, new linkauth.Key) []linkauth.Key { return []linkauth.Key{new, old} }},
		{"believe them alone", func(_, new linkauth.Key) []linkauth.Key { return []linkauth.Key{new} }},
	} {
		for path, old := range files {
			keys := linkauth.Keys{}
			for link, k := range old {
				keys[link] = step.keys(k[0], new[link])
			}
			if err := replaceSecret(path, keys.File()); err != nil {
				return 0, fmt.Errorf("to %s: %w", step.does, err)
			}
		}
		if err := ask(ctx, Endpoints(nodes), "keys", nil); err != nil {
			return 0, fmt.Errorf("to %s: %w", step.does, err)
		}
	}
	return len(new), nil
}

// replaceSecret replaces a file that nobody but its owner may read.
func replaceSecret(path string, text []byte) error {
	next := path + ".next"
	if err := safefile.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}
