package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	netnslab "softswitch/netns-lab"
)

// Files of a guest's serial line: where it is reached, and all that came out of it.
const consoleSocket = "console.sock"

var consoleLog = filepath.Base(netnslab.ConsoleLog)

// Leave is the octet, of Ctrl-], that ends Console.
const Leave = 0x1d

// Console joins in and out with the serial line of the guest of a host, until Leave comes from in, the
// guest ends or ctx ends. One at a time has the line; another waits for it to leave.
func Console(ctx context.Context, host netnslab.NodeState, in io.Reader, out io.Writer) error {
	dir, err := os.Open(filepath.Join(host.Dir, folder))
	if err != nil {
		return fmt.Errorf("guest %s: %w", host.Name, errNone)
	}
	defer dir.Close()
	// By a descriptor, because the path of a socket is limited to 107 characters.
	conn, err := net.Dial("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), consoleSocket))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		err = errNone
	}
	if err != nil {
		return fmt.Errorf("guest %s: console: %w", host.Name, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	go func() {
		defer conn.Close()
		for buf := make([]byte, 1024); ; {
			n, err := in.Read(buf)
			typed, _, leave := bytes.Cut(buf[:n], []byte{Leave})
			if _, sent := conn.Write(typed); leave || err != nil || sent != nil {
				return
			}
		}
	}()
	if _, err := io.Copy(out, conn); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("guest %s: console: %w", host.Name, err)
	}
	return nil
}
