package safefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stranger and another are two users without rights.
const (
	stranger = 65534
	another  = 65533
)

// roleVariable makes the test binary do one thing with a path, and print what came of it.
const roleVariable = "SAFEFILE_TEST_ROLE"

func TestMain(m *testing.M) {
	if do := os.Getenv(roleVariable); do != "" {
		if err := operations[do](os.Args[1]); err != nil {
			fmt.Print(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// mark is what operations write.
const mark = "written by the test"

var operations = map[string]func(path string) error{
	"Create": func(path string) error {
		f, err := Create(path)
		if err != nil {
			return err
		}
		_, err = f.WriteString(mark)
		return errors.Join(err, f.Close())
	},
	"WriteFile": func(path string) error { return WriteFile(path, []byte(mark), 0o644) },
	"append": func(path string) error {
		f, err := OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(mark)
		return errors.Join(err, f.Close())
	},
	"read": func(path string) error {
		f, err := OpenFile(path, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		_, err = io.ReadAll(f)
		return errors.Join(err, f.Close())
	},
	"MkdirAll": func(path string) error { return MkdirAll(path, 0o755) },
	"Remove":   Remove,
	"CheckDir": CheckDir,
}

// as does one of the operations in a process of its own, which attr makes another user's, and
// returns what came of it.
func as(t *testing.T, attr *syscall.SysProcAttr, env []string, do, path string) error {
	t.Helper()
	out, says, err := os.Pipe()
	if err == nil && attr != nil { // a pipe belongs to whoever made it
		err = says.Chown(stranger, stranger)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("/proc/self/exe", path)
	cmd.Stdout, cmd.Stderr = says, says
	cmd.Env = append(append(os.Environ(), env...), roleVariable+"="+do)
	cmd.SysProcAttr = attr
	err = cmd.Start()
	says.Close()
	if err != nil {
		t.Fatalf("%s %s: %v", do, path, err)
	}
	said, err := io.ReadAll(out)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		t.Fatalf("%s %s: %v: %s", do, path, err, said)
	}
	if len(said) > 0 {
		return errors.New(string(said))
	}
	return nil
}

// user is the attribute of a process of that user.
func user(id uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
}

// needTwoUsers skips a test that lays down what belongs to other users.
func needTwoUsers(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("lays down files of other users: needs root")
	}
}

// world is a folder of the test's own: what is done in it is given by short paths.
type world struct {
	*testing.T
	dir string
}

func newWorld(t *testing.T) world {
	w := world{t, t.TempDir()}
	if err := os.Chmod(filepath.Dir(w.dir), 0o755); err != nil { // other users can come here
		t.Fatal(err)
	}
	return w
}

func (w world) path(name string) string { return filepath.Join(w.dir, name) }

func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// folder makes a folder of a user.
func (w world) folder(name string, owner int, mode os.FileMode) {
	w.Helper()
	w.must(os.Mkdir(w.path(name), 0o755))
	w.must(os.Chmod(w.path(name), mode)) // whatever the umask
	w.give(name, owner)
}

// file makes a file of a user.
func (w world) file(name string, owner int, text string) {
	w.Helper()
	w.must(os.WriteFile(w.path(name), []byte(text), 0o600))
	w.give(name, owner)
}

// link makes a link of a user. A target that begins with a slash is of the world.
func (w world) link(name string, owner int, to string) {
	w.Helper()
	if strings.HasPrefix(to, "/") {
		to = w.path(to)
	}
	w.must(os.Symlink(to, w.path(name)))
	w.give(name, owner)
}

func (w world) give(name string, owner int) {
	w.Helper()
	if owner != os.Geteuid() {
		w.must(os.Lchown(w.path(name), owner, owner))
	}
}

// want wants a file to have that text.
func (w world) want(name, text string) {
	w.Helper()
	if got, err := os.ReadFile(w.path(name)); err != nil || string(got) != text {
		w.Errorf("%s has %q, %v; want %q", name, got, err, text)
	}
}

// refused wants an error that says so.
func refused(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v; want an error that says %q", what, err, want)
	}
}
