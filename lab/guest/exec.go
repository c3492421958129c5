package guest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"softswitch/internal/safefile"
	netnslab "softswitch/netns-lab"
)

// Exec runs a command in the guest of a host and returns its exit status. What it prints, on both outputs,
// goes to out; its input is empty. It waits for a guest that boots. When ctx ends, the command is killed,
// and so is, at its end, what it started in its session.
//
// The error says that it could not be run: there is no guest, or it ended meanwhile, or too many commands
// run there.
func Exec(ctx context.Context, st *netnslab.State, host netnslab.NodeState, argv []string, out io.Writer) (int, error) {
	p, err := openPort(filepath.Join(host.Dir, folder))
	if err != nil {
		return 0, fmt.Errorf("guest %s: %w", host.Name, err)
	}
	defer p.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		switch err := st.Ended(ctx, host.Name, folder); {
		case err == nil:
			cancel(fmt.Errorf("guest %s: its machine ended%s", host.Name, lastWords(filepath.Join(host.Dir, folder))))
		case errors.Is(err, os.ErrProcessDone):
			cancel(fmt.Errorf("guest %s: %w", host.Name, errNone))
		}
	}()
	defer func() { cancel(nil); <-gone }()
	stop := context.AfterFunc(ctx, p.hangUp)
	defer stop()
	status, err := p.run(quoted(argv), out)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return status, err
}

// lastWords is the end of what a guest and its machine have said, if their lab is still there.
func lastWords(dir string) string {
	const most = 400
	var all strings.Builder
	for _, name := range []string{consoleLog, netnslab.LogName} {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		if text = bytes.TrimSpace(text[max(0, len(text)-most):]); len(text) > 0 {
			fmt.Fprintf(&all, "; the end of %s:\n%s", filepath.Join(dir, name), text)
		}
	}
	return all.String()
}

// quoted is a command as a line of sh.
func quoted(argv []string) string {
	var line strings.Builder
	for _, word := range argv {
		line.WriteString("'" + strings.ReplaceAll(word, "'", `'\''`) + "' ")
	}
	return line.String()
}

// encoded is a line of sh as a port takes it.
func encoded(line string) string { return base64.StdEncoding.EncodeToString([]byte(line)) }

// channel is the host's end of a virtio port: the pipes of QEMU, which nobody else uses meanwhile.
type channel struct{ in, out *os.File }

// errNone says that a host has no guest.
var errNone = errors.New("it is not up; see `softswitch lab vm start`")

// errBusy says that a guest runs as many commands as it can.
var errBusy = fmt.Errorf("%d commands run there already", ports)

// openPort opens a port that nobody uses. Pipes that are open for both directions do not wait for QEMU.
func openPort(dir string) (*channel, error) {
	for i := range ports {
		path := filepath.Join(dir, port(i))
		in, err := safefile.OpenFile(path+".in", os.O_RDWR|unix.O_NONBLOCK, 0)
		if errors.Is(err, os.ErrNotExist) {
			return nil, errNone
		}
		if err != nil {
			return nil, err
		}
		if unix.Flock(int(in.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			in.Close()
			continue
		}
		out, err := safefile.OpenFile(path+".out", os.O_RDWR|unix.O_NONBLOCK, 0)
		if err != nil {
			in.Close()
			return nil, err
		}
		return &channel{in, out}, nil
	}
	return nil, errBusy
}

func (c *channel) close() {
	c.in.Close()
	c.out.Close()
}

// hangUp kills the command, and ends run.
func (c *channel) hangUp() {
	io.WriteString(c.in, "\n")
	c.out.Close()
}

// run runs a line of sh and copies what it prints to out.
func (c *channel) run(line string, out io.Writer) (status int, err error) {
	number := rand.Text()
	if _, err := fmt.Fprintf(c.in, "\n%s %s\n", number, encoded(line)); err != nil {
		return 0, err
	}
	from := bufio.NewReader(c.out)
	if err := copyUntil(io.Discard, from, "\x00begin "+number+"\n"); err != nil { // of the command before
		return 0, err
	}
	if err := copyUntil(out, from, "\x00end "+number+" "); err != nil {
		return 0, err
	}
	text, err := from.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSuffix(text, "\n"))
}

// copyUntil copies from in up to mark, at once what cannot be its beginning, and reads past it.
func copyUntil(out io.Writer, in *bufio.Reader, mark string) error {
	var held []byte // what may be the beginning of mark
	for {
		if _, err := in.Peek(1); err != nil {
			return err
		}
		for in.Buffered() > 0 {
			b, _ := in.ReadByte()
			held = append(held, b)
			if string(held[max(0, len(held)-len(mark)):]) == mark {
				_, err := out.Write(held[:len(held)-len(mark)])
				return err
			}
		}
		keep := overlap(held, mark)
		if _, err := out.Write(held[:len(held)-keep]); err != nil {
			return err
		}
		held = held[len(held)-keep:]
	}
}

// overlap is how many of the last octets of text are the beginning of mark.
func overlap(text []byte, mark string) int {
	for n := min(len(text), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(text, []byte(mark[:n])) {
			return n
		}
	}
	return 0
}
