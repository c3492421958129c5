package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"softswitch/internal/safefile"
)

// socketMode is the mode of a socket: who may connect.
const socketMode = 0o600

// ListenUnix creates the socket path, and its folder. The folder has to be one in which no other
// user can put something in the socket's place. It replaces a socket file of this user's, or
// root's, on which nobody listens any more; if somebody listens, that is an error.
func ListenUnix(path string) (net.Listener, error) {
	ln, err := listenUnix(path)
	if err != nil {
		return nil, fmt.Errorf("control socket %s: %w", path, err)
	}
	return ln, nil
}

func listenUnix(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := safefile.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := safefile.CheckDir(dir); err != nil {
		return nil, err
	}
	if err := makeRoom(path); err != nil {
		return nil, err
	}
	ln, err := bind(path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil { // it has it: a change of the file, when somebody listens
		ln.Close()
		return nil, err
	}
	return ln, nil
}

// bind makes the socket. Its file gets the mode that the socket has by then, less the umask:
// there is no moment at which others may connect.
func bind(path string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		controlled := c.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), socketMode) })
		return errors.Join(controlled, os.NewSyscallError("fchmod", err))
	}}
	return config.Listen(context.Background(), "unix", path)
}

// makeRoom removes a socket that nobody listens on any more.
func makeRoom(path string) error {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case fi.Mode()&os.ModeSocket == 0:
		return errors.New("a file is there that is no socket")
	}
	if owner := fi.Sys().(*syscall.Stat_t).Uid; !safefile.Believed(owner) {
		return fmt.Errorf("a socket of user %d is there; remove it, or choose a folder in which only you can write", owner)
	}
	c, err := net.Dial("unix", path)
	switch {
	case err == nil:
		c.Close()
		return errors.New("another process listens there")
	case errors.Is(err, syscall.EAGAIN): // its queue of clients is full
		return errors.New("another process listens there, and is busy")
	case errors.Is(err, syscall.ECONNREFUSED):
		return os.Remove(path)
	}
	return err
}

// Dial connects to a process of this user, or of root, that listens on the socket path.
func Dial(ctx context.Context, path string) (*net.UnixConn, error) {
	dialer := net.Dialer{Timeout: dialMax}
	c, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	conn := c.(*net.UnixConn)
	who, err := Peer(conn)
	if err == nil && !safefile.Believed(who.Uid) {
		err = fmt.Errorf("%s: process %d of user %d listens there, which this user does not believe; ask as that user, or look who made the socket", path, who.Pid, who.Uid)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// Peer is the process at the other end of a connection to a socket: the one that listened. Its
// Pid is 0 if it is in another PID namespace.
func Peer(c *net.UnixConn) (who *unix.Ucred, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	controlled := raw.Control(func(fd uintptr) { who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return who, errors.Join(controlled, os.NewSyscallError("getsockopt", err))
}
