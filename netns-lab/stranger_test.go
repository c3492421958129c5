package netnslab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"softswitch/internal/testkit"
)

// stranger is another user of the machine, without rights.
const stranger = 65534

// attack is a bench whose run directory other users can reach, and what an attacker there wants
// to have removed or ended: a folder of root, and a process of root.
type attack struct {
	*bench
	vault string
	pid   int
}

func newAttack(t *testing.T) *attack {
	b := newBench(t)
	if os.Geteuid() != 0 {
		t.Skip("acts as another user: needs root")
	}
	testkit.Need(t, "sleep")
	a := &attack{bench: b, vault: filepath.Join(t.TempDir(), "vault")}
	must(t, os.Chmod(filepath.Dir(RunDir()), 0o755), os.Mkdir(a.vault, 0o755), os.WriteFile(filepath.Join(a.vault, "file"), nil, 0o600))
	sleep := exec.Command("sleep", "infinity")
	must(t, sleep.Start())
	t.Cleanup(func() {
		sleep.Process.Kill()
		sleep.Wait()
	})
	a.pid = sleep.Process.Pid
	return a
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// give makes a file and all below it the attacker's.
func (a *attack) give(path string) {
	a.Helper()
	must(a.T, filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(name, stranger, stranger))
	}))
}

// forge is a state of a lab that is up, by its looks, with one node.
func (a *attack) forge(dir string, change func(*State)) *State {
	a.Helper()
	boot, err := bootID()
	must(a.T, err)
	st := newState(Lab{Name: filepath.Base(dir), Nodes: []Node{{Name: "n", Kind: "host", Command: []string{"sleep"}}}}, dir, boot)
	st.Complete = true
	change(st)
	text, err := json.Marshal(st)
	must(a.T, err, os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, stateName), text, 0o644))
	return st
}

// victim has a state name the process, as the one of its node.
func (a *attack) victim(st *State) {
	a.Helper()
	stat, err := readStat(a.pid)
	must(a.T, err)
	st.Nodes[0].PID, st.Nodes[0].Start = a.pid, stat.Starttime
}

// refused wants an error that says so, and that nothing was done.
func (a *attack) refused(what string, err error, want string) {
	a.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		a.Errorf("%s: %v; want an error that says %q", what, err, want)
	}
	a.unharmed(what)
}

// unharmed wants the process and the folder to be as they were.
func (a *attack) unharmed(what string) {
	a.Helper()
	if stat, err := readStat(a.pid); err != nil || stat.State == "Z" {
		a.Fatalf("%s: the process was ended: %+v, %v", what, stat, err)
	}
	if !exists(filepath.Join(a.vault, "file")) {
		a.Fatalf("%s: the folder was removed", what)
	}
}

// everything that believes a state, of a lab of that name, but DownLost.
func (a *attack) everything(lab Lab) map[string]error {
	_, load := Load(lab.Name)
	_, attach := Attach(a.Context(), lab, []string{"false"}, nil)
	replace := lab
	replace.Replace = true
	return map[string]error{
		"Load": load, "Down": Down(lab.Name, nil), "Attach": attach,
		"Up": second(Up(a.Context(), lab, nil)), "Up instead": second(Up(a.Context(), replace, nil)),
	}
}

// A run directory, or a lab's directory, in which somebody else can change things is not used: the
// state in it names root's folder and root's process.
func TestDirectoryOfAnother(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(a *attack, dir string) // dir is the lab's
		want  string
	}{
		{"the run directory is another's", func(a *attack, dir string) { a.give(filepath.Dir(dir)) }, "belongs to user 65534, who could change what is in it"},
		{"the lab's directory is another's", func(a *attack, dir string) { a.give(dir) }, "belongs to user 65534, who could change what is in it"},
		{"others can write in the run directory", func(a *attack, dir string) { must(a.T, os.Chmod(filepath.Dir(dir), 0o777)) }, "others can write in"},
		{"others can write in the lab's directory", func(a *attack, dir string) { must(a.T, os.Chmod(dir, 0o777)) }, "others can write in"},
		{"the lab's directory is another's link", func(a *attack, dir string) {
			must(a.T, os.Rename(dir, dir+"-"), os.Symlink(dir+"-", dir), os.Lchown(dir, stranger, stranger))
		}, "is a link that user 65534 made"},
		{"a folder above is another's", func(a *attack, dir string) { a.give(filepath.Dir(filepath.Dir(dir))) }, "belongs to user 65534, who could change what is in it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAttack(t)
			home := RunDir()
			run := filepath.Join(home, "above", "run") // the bench wants home empty in the end
			must(t, os.MkdirAll(run, 0o755))
			t.Setenv(RunDirVariable, run)
			a.forge(Dir(a.name), func(st *State) {
				a.victim(st)
				st.Nodes[0].Dir = a.vault
			})
			tt.plant(a, Dir(a.name))
			for what, err := range a.everything(a.lab()) {
				a.refused(what, err, tt.want)
			}
			a.refused("DownLost", DownLost(a.name, nil), tt.want)
			all, err := List()
			if err != nil || len(all) < 1 || all[0].State != "unreadable" || !strings.Contains(all[0].Problem, tt.want) {
				t.Errorf("the list: %+v, %v; want that it cannot be read, and why", all, err)
			}
			a.wipe() // of what was made all the same
			must(t, os.RemoveAll(filepath.Join(home, "above")))
			t.Setenv(RunDirVariable, home)
		})
	}
}

// A state that somebody else wrote, in a good directory, is not believed; with --lost it is
// removed, and nothing that it names.
func TestStateOfAnother(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(a *attack, file string)
		want  string
	}{
		{"it is another's", func(a *attack, file string) { a.give(file) }, "it belongs to user 65534"},
		{"others can write to it", func(a *attack, file string) { must(a.T, os.Chmod(file, 0o666)) }, "others can write to it: its mode is 0666"},
		{"it is another's link", func(a *attack, file string) {
			must(a.T, os.Rename(file, file+"-"), os.Symlink(file+"-", file), os.Lchown(file, stranger, stranger))
		}, "is a link that user 65534 made"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := newAttack(t)
			file := filepath.Join(Dir(a.name), stateName)
			a.forge(Dir(a.name), a.victim)
			tt.plant(a, file)
			for what, err := range a.everything(a.lab()) {
				a.refused(what, err, tt.want)
			}
			must(t, DownLost(a.name, nil), os.RemoveAll(Dir(a.name)))
			a.unharmed("DownLost")
		})
	}
}

// What a state says of other places is refused, whoever wrote it.
func TestStateOfElsewhere(t *testing.T) {
	a := newAttack(t)
	for want, change := range map[string]func(*State){
		`node "n": directory "` + a.vault + `": want "` + filepath.Join(Dir(a.name), "n") + `"`: func(st *State) { st.Nodes[0].Dir = a.vault },
		`directory "` + Dir(a.name) + `/n/../../../` + `": want`:                                func(st *State) { st.Nodes[0].Dir = Dir(a.name) + "/n/../../../" },
		`node name "../../x": want`:                                       func(st *State) { st.Nodes[0].Name = "../../x" },
		`namespace "../../etc/x": want "` + a.name + `-n"`:                func(st *State) { st.Nodes[0].Namespace = "../../etc/x" },
		`namespace "x-y": want ""`:                                        func(st *State) { st.Nodes[0].Namespace, st.Nodes[0].Via = "x-y", []string{"true"} },
		`name "other": want "` + a.name + `", as its directory is called`: func(st *State) { st.Name = "other" },
		`process -1 of the lab`:                                           func(st *State) { st.Nodes[0].Hosting = -1 },
	} {
		a.forge(Dir(a.name), change)
		for what, err := range a.everything(a.lab()) {
			a.refused(what, err, want)
		}
	}
	a.wipe() // of what was made all the same
	must(t, os.RemoveAll(Dir(a.name)))
}

// A process that the state names, and that does not carry the lab's token, is not signalled; the
// rest of the lab is removed, and that is said.
func TestProcessWithoutToken(t *testing.T) {
	a := newAttack(t)
	a.forge(Dir(a.name), a.victim)
	st, err := Load(a.name)
	must(t, err)
	for what, act := range map[string]func(string) error{"Stop": st.Stop, "Continue": st.Continue, "Kill": st.Kill} {
		a.refused(what, act("n"), "it does not carry the lab's token")
	}
	var said bytes.Buffer
	must(t, Down(a.name, &said))
	a.unharmed("Down")
	if want := fmt.Sprintf("left alone: process %d is on record: it does not carry the lab's token", a.pid); !strings.Contains(said.String(), want) {
		t.Errorf("it says %q, want %q", &said, want)
	}
}

// A process of another user is none of the lab, whatever it has in its environment, and though it
// runs in the lab's directory: else who can read one lab's state has root end that lab, by the
// other's loss.
func TestTokenOfAnother(t *testing.T) {
	a := newAttack(t)
	victim := a.lab()
	victim.Name += "x"
	st := a.up(victim)
	must(t, os.Mkdir(Dir(a.name), 0o755), os.Mkdir(filepath.Join(Dir(a.name), "h0"), 0o755)) // a lab that lost its record
	bait := exec.Command("sleep", "infinity")
	bait.Dir, bait.Env = filepath.Join(Dir(a.name), "h0"), append(os.Environ(), markVariable+"="+st.Token)
	bait.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	must(t, bait.Start())
	defer func() {
		bait.Process.Kill()
		bait.Wait()
	}()
	must(t, DownLost(a.name, nil))
	if err := st.Problem(); err != nil {
		t.Errorf("the other lab: %v", err)
	}
	must(t, Down(victim.Name, nil))
	if stat, err := readStat(bait.Process.Pid); err != nil || stat.State == "Z" {
		t.Errorf("a process of another user was ended: %+v, %v", stat, err)
	}
	must(t, os.RemoveAll(Dir(a.name)))
}

// Another user holds the lock of every file and folder that he can open there, also while a lab
// command is at work, and keeps nobody waiting.
func TestLockOfAnother(t *testing.T) {
	a := newAttack(t)
	a.up(a.lab())
	unlock, err := lock(a.name, nil)
	must(t, err)
	meanwhile := a.lockAll()
	unlock()
	after := a.lockAll()
	if meanwhile == 0 && after == 0 {
		t.Error("the attacker has locked nothing")
	}
	must(t, Down(a.name, failing{t}))
}

// lockAll has another user lock what he can of the run directory, until the test ends, and
// returns how many files that are.
func (a *attack) lockAll() (locked int) {
	a.Helper()
	cmd := exec.Command("/proc/self/exe", RunDir())
	cmd.Env = append(os.Environ(), roleVariable+"=lock")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	in, err := cmd.StdinPipe()
	must(a.T, err)
	out, err := cmd.StdoutPipe()
	must(a.T, err, cmd.Start())
	a.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if _, err := fmt.Fscanln(out, &locked); err != nil {
		a.Fatal(err)
	}
	return locked
}

// actAsLocker locks all that it can open below a folder, says how much that is, and waits for the
// end of its input.
func actAsLocker(dir string) {
	locked := 0
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		if fd, err := syscall.Open(name, syscall.O_RDONLY, 0); err == nil && syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			locked++
		}
		return nil
	})
	fmt.Println(locked)
	io.Copy(io.Discard, os.Stdin)
}

// failing is a progress that must not tell of waiting.
type failing struct{ t *testing.T }

func (f failing) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "waiting") {
		f.t.Errorf("it says %q", p)
	}
	return len(p), nil
}
