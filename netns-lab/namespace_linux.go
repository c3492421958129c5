package netnslab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"softswitch/internal/netspace"
	"softswitch/internal/safefile"
)

// NamespaceDir is where named network namespaces are, for `ip netns` as for us.
const NamespaceDir = "/run/netns"

// ErrNotOurs is the error for a namespace that is not, or is no longer, the one in the
// state.
var ErrNotOurs = errors.New("not the lab's namespace")

// identify returns what distinguishes the calling thread's namespace from all others of
// this boot. The cookie alone would do: unlike inodes, the kernel never reuses one. It
// is 0 on kernels without cookies (before 5.14).
func identify(ns netns.NsHandle) (inode, cookie uint64, err error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(ns), &stat); err != nil {
		return 0, 0, err
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(s)
	cookie, err = unix.GetsockoptUint64(s, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if errors.Is(err, unix.ENOPROTOOPT) {
		cookie, err = 0, nil
	}
	return stat.Ino, cookie, err
}

// newNamespace makes a namespace without a name, which ends with its handle or with this
// program. The caller closes the handle.
func newNamespace() (ns netns.NsHandle, inode, cookie uint64, err error) {
	ns, err = netspace.New(func(ns netns.NsHandle) (err error) {
		inode, cookie, err = identify(ns)
		return err
	})
	return ns, inode, cookie, err
}

// nameNamespace gives a namespace a name.
func nameNamespace(ns netns.NsHandle, name string) error {
	path := filepath.Join(NamespaceDir, name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
	if err != nil {
		return err
	}
	f.Close()
	checkpoint()
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", ns), path, "", unix.MS_BIND, ""); err != nil {
		return errors.Join(&fs.PathError{Op: "mount", Path: path, Err: err}, os.Remove(path))
	}
	return nil
}

// prepareNamespaceDir makes NamespaceDir a mount point that shares its mounts with its
// copies in other mount namespaces, as `ip netns add` does. Otherwise a namespace
// removed here would live on there.
func prepareNamespaceDir() error {
	if err := safefile.MkdirAll(NamespaceDir, 0o755); err != nil {
		return err
	}
	err := unix.Mount("", NamespaceDir, "", unix.MS_SHARED|unix.MS_REC, "")
	if errors.Is(err, unix.EINVAL) { // not a mount point yet
		if err := unix.Mount(NamespaceDir, NamespaceDir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return &fs.PathError{Op: "mount", Path: NamespaceDir, Err: err}
		}
		err = unix.Mount("", NamespaceDir, "", unix.MS_SHARED|unix.MS_REC, "")
	}
	if err != nil {
		return &fs.PathError{Op: "make shared", Path: NamespaceDir, Err: err}
	}
	return nil
}

// open returns a handle on the node's namespace, which the caller closes. The
// error is fs.ErrNotExist if no namespace has its name, and ErrNotOurs if another
// one has.
func (n *NodeState) open() (netns.NsHandle, error) {
	path := filepath.Join(NamespaceDir, n.Namespace)
	ns, err := netspace.Open(path)
	if err != nil {
		return ns, fmt.Errorf("netnslab: node %s: %w", n.Name, err)
	}
	if err := n.prove(ns); err != nil {
		ns.Close()
		return netns.None(), fmt.Errorf("netnslab: node %s: %s: %w", n.Name, path, err)
	}
	return ns, nil
}

// prove returns nil if ns is the namespace in the record.
func (n *NodeState) prove(ns netns.NsHandle) error {
	var kind unix.Statfs_t
	if err := unix.Fstatfs(int(ns), &kind); err != nil {
		return err
	}
	if kind.Type != unix.NSFS_MAGIC {
		return fmt.Errorf("%w: it is a plain file", ErrNotOurs)
	}
	var inode, cookie uint64
	err := netspace.Inside(ns, func() (err error) {
		inode, cookie, err = identify(ns)
		return err
	})
	if err != nil {
		return err
	}
	if inode != n.Inode || cookie != n.Cookie {
		return fmt.Errorf("%w: inode %d cookie %d, recorded are %d and %d", ErrNotOurs, inode, cookie, n.Inode, n.Cookie)
	}
	return nil
}

// removeNamespace removes the name of the node's namespace, which ends when no process
// is left in it. A missing namespace is no error. One that is not ours is left alone
// and is an error, ErrNotOurs; if the record is of an earlier boot, none is ours.
func (n *NodeState) removeNamespace(thisBoot bool) error {
	path := filepath.Join(NamespaceDir, n.Namespace)
	if n.Inode != 0 && isUnmounted(path) { // the name exists, but its namespace was never made, or ended with its boot
		return os.Remove(path)
	}
	if !thisBoot {
		if exists(path) {
			return fmt.Errorf("netnslab: node %s: %s: %w: the record is of an earlier boot", n.Name, path, ErrNotOurs)
		}
		return nil
	}
	ns, err := n.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ns.Close()
	return unname(path)
}

// isUnmounted reports whether path is the empty file that is a namespace's name before
// the namespace is mounted on it, and after a reboot.
func isUnmounted(path string) bool {
	info, err := os.Lstat(path)
	var kind unix.Statfs_t
	return err == nil && info.Mode().IsRegular() && info.Size() == 0 &&
		unix.Statfs(path, &kind) == nil && kind.Type != unix.NSFS_MAGIC && kind.Type != unix.PROC_SUPER_MAGIC
}
