package offload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"softswitch/internal/testkit"
)

// TestOffWhileTheStackMoves: what the kernel is handed stays where it is. Each
// pair is set from another depth of a young stack, so that the stack grows, and moves,
// at another instant of it.
func TestOffWhileTheStackMoves(t *testing.T) {
	pairs := 500
	if testing.Short() {
		pairs = 50
	}
	a, b := testkit.NewNamespace(t), testkit.NewNamespace(t)
	for depth := range pairs {
		a.Veth("a", b, "b")
		for _, end := range []struct {
			ns    *testkit.Namespace
			iface string
		}{{a, "a"}, {b, "b"}} {
			if err := end.ns.Do(func() error { return errors.Join(set(end.iface, 1), want(end.iface, 1)) }); err != nil {
				t.Fatalf("before: %v", err)
			}
			if err := inYoungStack(end.ns, depth, func() error { return Off(end.iface) }); err != nil {
				t.Fatalf("at depth %d: %v", depth, err)
			}
			if err := end.ns.Do(func() error { return want(end.iface, 0) }); err != nil {
				t.Fatalf("set at depth %d: %v", depth, err)
			}
		}
		a.Delete("a")
	}
}

// inYoungStack runs fn in the namespace, below so many frames of a new goroutine.
func inYoungStack(ns *testkit.Namespace, depth int, fn func() error) error {
	done := make(chan error)
	go func() {
		err := ns.Enter()
		if err == nil {
			err = atDepth(depth, fn)
		}
		done <- err
	}()
	return <-done
}

//go:noinline
func atDepth(depth int, fn func() error) error {
	if depth == 0 {
		return fn()
	}
	return atDepth(depth-1, fn)
}

// set switches every offload of an interface on (1) or off (0).
func set(iface string, to uint32) error {
	return legacy(iface, func(s int, f family) error { return f.do(s, iface, f.set, &to) })
}

// want checks that every offload of an interface is on (1) or off (0).
func want(iface string, want uint32) error {
	return legacy(iface, func(s int, f family) error {
		var got uint32
		err := f.do(s, iface, f.get, &got)
		if err == nil && got != want {
			err = fmt.Errorf("it is %d, want %d", got, want)
		}
		return err
	})
}

// family is what `ethtool -K` calls by a name, by the commands that came before
// features had names.
type family struct {
	name     string
	get, set uint32
}

// families, those first on which others build.
var families = []family{
	{"tx", unix.ETHTOOL_GTXCSUM, unix.ETHTOOL_STXCSUM},
	{"tso", unix.ETHTOOL_GTSO, unix.ETHTOOL_STSO},
	{"gso", unix.ETHTOOL_GGSO, unix.ETHTOOL_SGSO},
	{"gro", unix.ETHTOOL_GGRO, unix.ETHTOOL_SGRO},
}

func legacy(iface string, fn func(socket int, f family) error) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	for _, f := range families {
		if err := fn(s, f); err != nil {
			return fmt.Errorf("%s of %s: %w", f.name, iface, err)
		}
	}
	return nil
}

// do carries out a command on struct ethtool_value.
func (f family) do(socket int, iface string, command uint32, data *uint32) error {
	m := message(8, command)
	binary.NativeEndian.PutUint32(m[4:], *data)
	err := port{socket, iface}.ioctl(m)
	*data = binary.NativeEndian.Uint32(m[4:])
	return err
}

func TestOffNamesWhatItCouldNotSet(t *testing.T) {
	ns := testkit.NewNamespace(t)
	for _, iface := range []string{"nosuch0", "a-name-that-no-interface-can-have", ""} {
		err := ns.Do(func() error { return Off(iface) })
		if want := "switch off what " + iface + " offloads: "; !errors.Is(err, unix.ENODEV) || err.Error()[:len(want)] != want {
			t.Errorf("%q: error %v, want %q and no such device", iface, err, want)
		}
	}
}

// The peer's index is what a veth counts first.
func TestStatistics(t *testing.T) {
	a, b := testkit.NewNamespace(t), testkit.NewNamespace(t)
	a.Veth("a", b, "b")
	err := a.Do(func() error {
		names, values, err := Statistics("a")
		if err != nil {
			return err
		}
		if len(names) == 0 || len(names) != len(values) || names[0] != "peer_ifindex" || values[0] == 0 {
			return fmt.Errorf("names %q, values %d", names, values)
		}
		if names, _, err := Statistics("lo"); err != nil || len(names) > 0 {
			return fmt.Errorf("lo: %q, %v", names, err)
		}
		if _, _, err := Statistics("nosuch"); err == nil {
			return errors.New("an interface that is not there counts something")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
