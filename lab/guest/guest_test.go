package guest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"

	"softswitch/internal/testkit"
)

// port0 is a port of a guest without its machine: the guest's program serves it.
type port0 struct {
	*testing.T
	dir string
	c   *channel
}

func newPort(t *testing.T) *port0 {
	t.Helper()
	testkit.Need(t, "sh", "setsid", "base64")
	p := &port0{T: t, dir: t.TempDir()}
	for name, data := range scripts() {
		p.must(os.WriteFile(filepath.Join(p.dir, name), data, 0o700))
	}
	for i := range ports {
		for _, end := range []string{".in", ".out"} {
			p.must(unix.Mkfifo(filepath.Join(p.dir, port(i)+end), 0o600))
		}
	}
	p.c = p.open()
	in, err := os.OpenFile(filepath.Join(p.dir, "port0.in"), os.O_RDWR, 0)
	p.must(err)
	out, err := os.OpenFile(filepath.Join(p.dir, "port0.out"), os.O_RDWR, 0)
	p.must(err)
	serve := exec.Command(filepath.Join(p.dir, "serve"))
	serve.Stdin, serve.Stdout, serve.Stderr = in, out, out
	p.must(serve.Start())
	in.Close()
	out.Close()
	t.Cleanup(func() { // it has its input open for both directions, as QEMU has, and sees no end of it
		p.c.close()
		serve.Process.Kill()
		serve.Wait()
	})
	return p
}

func (p *port0) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *port0) open() *channel {
	p.Helper()
	c, err := openPort(p.dir)
	p.must(err)
	return c
}

// want wants a command to print text and to end with a status.
func (p *port0) want(status int, text string, argv ...string) {
	p.Helper()
	var out bytes.Buffer
	got, err := p.c.run(quoted(argv), &out)
	p.must(err)
	if got != status || out.String() != text {
		p.Errorf("%q: exit status %d, prints %q; want %d, %q", argv, got, out.String(), status, text)
	}
}

// wantKilled wants the process of a pid to be dead.
func (p *port0) wantKilled(pid string) {
	p.Helper()
	status, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/status")
	if err == nil && !strings.Contains(string(status), "State:\tZ") {
		p.Errorf("process %s lives: %s", pid, status)
	}
}

// TestCommands: words, outputs and exit statuses come through a port as they are.
func TestCommands(t *testing.T) {
	p := newPort(t)
	p.want(0, "", "true")
	p.want(1, "", "false")
	p.want(3, "a\nb", "sh", "-c", "echo a; printf b >&2; exit 3")
	p.want(0, "it's; $HOME `x` \n\\n|", "printf", "%s", "it's; $HOME `x` \n\\n|")
	p.want(0, "\x00end 7 0\n\x00begin 7\n\x00", "printf", `\000end 7 0\n\000begin 7\n\000`)
	p.want(0, "", "cat") // its input is empty
}

// TestLeftCommand: the next command ends the one before, whose caller has gone, and gets none of what it
// prints.
func TestLeftCommand(t *testing.T) {
	p := newPort(t)
	pid := filepath.Join(p.dir, "pid")
	p.must(unix.Mkfifo(pid, 0o600))
	fmt.Fprintf(p.c.in, "left %s\n", encoded(quoted([]string{"sh", "-c", "echo $$ >" + pid + "; while :; do echo still here; done"})))
	data, err := os.ReadFile(pid)
	p.must(err)
	p.want(0, "next\n", "echo", "next")
	p.wantKilled(string(data))
}

// TestHangUp: a command whose caller hangs up is killed, and the caller returns.
func TestHangUp(t *testing.T) {
	p := newPort(t)
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := p.c.run(quoted([]string{"sh", "-c", "echo $$; exec sleep 1000"}), write)
		ended <- err
	}()
	pid, err := bufio.NewReader(read).ReadString('\n')
	p.must(err)
	stop := context.AfterFunc(ctx, p.c.hangUp)
	defer stop()
	cancel()
	if err := <-ended; err == nil {
		t.Error("the command ended by itself")
	}
	p.c.close()
	p.c = p.open()
	p.want(0, "", "true")
	p.wantKilled(pid)
}

// TestPortsInUse: each command has a port of its own, and there are so many.
func TestPortsInUse(t *testing.T) {
	p := newPort(t)
	for range ports - 1 {
		defer p.open().close()
	}
	if _, err := openPort(p.dir); err != errBusy {
		t.Errorf("one more: %v", err)
	}
	if _, err := openPort(t.TempDir()); err != errNone {
		t.Errorf("without a guest: %v", err)
	}
}

// TestCopyUntil: whatever comes before a mark is copied, in whatever pieces it arrives.
func TestCopyUntil(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	const mark = "\x00end x "
	for range 2000 {
		var text strings.Builder
		for range rng.IntN(6) {
			text.WriteString(mark[:rng.IntN(len(mark))])
		}
		want := text.String()
		if before, _, found := strings.Cut(want+mark, mark); found {
			want = before
		}
		from := io.Reader(strings.NewReader(text.String() + mark + "rest"))
		if rng.IntN(2) == 0 {
			from = iotest.OneByteReader(from)
		}
		var out bytes.Buffer
		if err := copyUntil(&out, bufio.NewReaderSize(from, 16), mark); err != nil || out.String() != want {
			t.Fatalf("seed %d: of %q %q is copied, %v; want %q", seed, text.String(), out.String(), err, want)
		}
	}
	if err := copyUntil(io.Discard, bufio.NewReader(strings.NewReader("no mark")), mark); err != io.EOF {
		t.Errorf("without a mark: %v", err)
	}
}

// TestArchive: busybox finds in an archive what was put in.
func TestArchive(t *testing.T) {
	testkit.Need(t, "busybox")
	var a archive
	a.folder("dev")
	a.add("bin/init", 0o755, []byte("hello"))
	a.add("bin/more", 0o644, nil)
	dir := t.TempDir()
	cmd := exec.Command("busybox", "cpio", "-i")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(a.bytes())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var found []string
	if err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, _ := os.ReadFile(filepath.Join(dir, path)) // none of a folder
		found = append(found, fmt.Sprintf("%s %v %q", path, info.Mode(), data))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{`bin drwxr-xr-x ""`, `bin/init -rwxr-xr-x "hello"`, `bin/more -rw-r--r-- ""`, `dev drwxr-xr-x ""`}; !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

// TestFind: a file is found by its base name, through links that stay in its folder.
func TestFind(t *testing.T) {
	all := tree{
		"lib/x86_64-linux-gnu/libc.so.6":     {data: []byte("c")},
		"usr/lib/x86_64-linux-gnu/libx.so.1": {link: "libx.so.1.2"}, "usr/lib/x86_64-linux-gnu/libx.so.1.2": {data: []byte("x")},
		"usr/lib/x86_64-linux-gnu/libl.so.1": {link: "libl.so.1"},
		"bin/libc.so.6":                      {data: []byte("no")},
	}
	for name, want := range map[string]string{"libc.so.6": "c", "libx.so.1": "x"} {
		if data, err := all.find(libraryFolder, name); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v; want %q", name, data, err, want)
		}
	}
	for _, name := range []string{"libl.so.1", "libm.so.6"} {
		if data, err := all.find(libraryFolder, name); err == nil {
			t.Errorf("%s: %q", name, data)
		}
	}
}

// TestRecipe: what guests boot from is known again by a program that would make the same.
func TestRecipe(t *testing.T) {
	if a, b := recipe(), recipe(); a != b || len(a) < 60 {
		t.Errorf("%q, %q", a, b)
	}
}
