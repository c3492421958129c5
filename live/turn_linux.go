package live

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// turnFrames is how many frames a goroutine reads before it allows others to run: about a
// millisecond of a port that is always busy.
const turnFrames = 8 * Batch

// turn makes a goroutine that never waits take turns with others. On one processor the Go
// runtime looks for links to read and deadlines that have passed only when nothing is left
// to run, else every 10 ms. A turn waits for something that is there already, an eventfd:
// so the runtime looks, and runs all that it finds.
type turn struct {
	file *os.File
	conn syscall.RawConn
	step func(fd uintptr) bool // turn.next, bound once: binding allocates

	begun bool
	value [8]byte
}

func newTurn() (*turn, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("live: eventfd: %w", err)
	}
	t := &turn{file: os.NewFile(uintptr(fd), "eventfd")}
	t.step = t.next
	if t.conn, err = t.file.SyscallConn(); err != nil {
		t.file.Close()
		return nil, fmt.Errorf("live: eventfd: %w", err)
	}
	return t, nil
}

// pass allows others that can run to do so. It costs about a microsecond.
func (t *turn) pass() {
	t.begun = false
	t.conn.Read(t.step) // an error is of the end of the node
}

// next writes the eventfd at first, and is called again when the runtime has found that.
func (t *turn) next(fd uintptr) bool {
	call := uintptr(unix.SYS_READ)
	done := t.begun
	if !done {
		t.begun, call = true, unix.SYS_WRITE
		t.value = [8]byte{0: 1, 7: 1} // not 0, in either order of bytes
	}
	unix.RawSyscall(call, fd, uintptr(unsafe.Pointer(&t.value[0])), uintptr(len(t.value)))
	return done
}

func (t *turn) close() { t.file.Close() }
