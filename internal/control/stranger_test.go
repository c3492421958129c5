package control

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// stranger is another user of the machine, without rights.
const stranger = 65534

// roleVariable makes this test binary listen on a socket, and print what it is sent.
const roleVariable = "CONTROL_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "listen" {
		listenAndTell(os.Args[1])
	}
	goleak.VerifyTestMain(m)
}

// listenAndTell serves one client as a node would, and says what it was asked; when its input
// ends, it says that it was asked nothing.
func listenAndTell(path string) {
	ln, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o666) // root need not ask
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("listening")
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			if line, err := bufio.NewReader(c).ReadString('\n'); err == nil {
				fmt.Printf("asked %q\n", line)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n5\n")
			}
			c.Close()
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	fmt.Println("over")
	os.Exit(0)
}

// shared is a folder in which everybody can write, as in /tmp, and in which nobody can touch what
// others have there.
func shared(t *testing.T) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("lays down files of other users: needs root")
	}
	dir = t.TempDir()
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o777 | os.ModeSticky} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// served is a socket on which a process of another user listens; end ends it and is what it was
// asked.
func (s strangers) listen(path string) (pid int, end func() string) {
	s.Helper()
	cmd := exec.Command("/proc/self/exe", path)
	cmd.Env = append(os.Environ(), roleVariable+"=listen")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	in, err := cmd.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if said, err := lines.ReadString('\n'); said != "listening\n" {
		s.Fatalf("%q, %v", said, err)
	}
	return cmd.Process.Pid, func() string {
		in.Close()
		said, err := io.ReadAll(lines)
		if err != nil {
			s.Error(err)
		}
		cmd.Wait()
		return strings.TrimSuffix(string(said), "over\n")
	}
}

// strangers are what other users do in a test.
type strangers struct{ *testing.T }

// A process of another user that listens where a node is expected is asked nothing, and not
// believed; root's is by everybody.
func TestStrangersServer(t *testing.T) {
	path := filepath.Join(shared(t), "control.sock")
	pid, end := strangers{t}.listen(path)
	want := fmt.Sprintf("%s: process %d of user 65534 listens there, which this user does not believe", path, pid)
	var got int
	_, stream := Open(path, "capture", nil)
	for what, err := range map[string]error{"a call": Call(path, "add", sum{2, 3}, &got), "a stream": stream} {
		if err == nil || !strings.Contains(err.Error(), want) || got != 0 {
			t.Errorf("%s: %d, %v; want %q", what, got, err, want)
		}
	}
	if asked := end(); asked != "" {
		t.Errorf("the stranger was asked: %s", asked)
	}
}

// What another user has laid down where a node's socket is to be is not removed, and the folder
// that he can change is not used.
func TestStrangersSocket(t *testing.T) {
	dir := shared(t)
	left := filepath.Join(dir, "left.sock")
	_, end := strangers{t}.listen(left)
	end() // the file stays, as of any process that is killed
	give := func(path string, err error) string {
		t.Helper()
		if err == nil {
			err = os.Lchown(path, stranger, stranger)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	theirs, open, own := filepath.Join(dir, "theirs"), filepath.Join(dir, "open"), filepath.Join(dir, "own")
	give(file, os.WriteFile(file, nil, 0o666))
	give(link, os.Symlink(left, link))
	give(theirs, os.Mkdir(theirs, 0o755))
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	dirlink := give(filepath.Join(dir, "dirlink"), os.Symlink(own, filepath.Join(dir, "dirlink")))
	for path, want := range map[string]string{
		left:                                  "a socket of user 65534 is there; remove it",
		file:                                  "a file is there that is no socket",
		link:                                  "a file is there that is no socket",
		filepath.Join(theirs, "control.sock"): theirs + " belongs to user 65534, who could change what is in it",
		filepath.Join(theirs, "a", "b.sock"):  theirs + " belongs to user 65534",
		filepath.Join(open, "control.sock"):   "others can write in " + open + ", whose mode is 0777",
		filepath.Join(dirlink, "x.sock"):      dirlink + " is a link that user 65534 made",
	} {
		s, err := Listen(path)
		if err == nil || !strings.HasPrefix(err.Error(), "control socket "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
		if err == nil {
			s.Close()
		}
	}
	for _, path := range []string{left, file, link} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("what the stranger laid down was removed: %v", err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "new.sock"), filepath.Join(own, "control.sock")} {
		s, err := Listen(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		s.Close()
	}
}

// Whatever the umask, a socket has its mode from its first moment.
func TestModeFromTheBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.sock")
	was := syscall.Umask(0)
	defer syscall.Umask(was)
	ln, err := bind(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if fi, err := os.Lstat(path); err != nil || fi.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v; want a socket of mode 0600", fi.Mode(), err)
	}
}
