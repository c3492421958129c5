package safefile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/testkit"
)

// precious is what an attacker wants to be overwritten.
const precious = "precious"

// newTrap is a world with a file of the user of this process, and the folders in which others
// lay down what is to lead to it.
func newTrap(t *testing.T) world {
	needTwoUsers(t)
	w := newWorld(t)
	w.folder("vault", 0, 0o755)
	w.file("vault/file", 0, precious)
	w.folder("own", 0, 0o755)                      // only root can write there
	w.folder("sticky", 0, 0o777|os.ModeSticky)     // as /tmp
	w.folder("open", 0, 0o777)                     // without the sticky bit
	w.folder("theirs", stranger, 0o755)            // the attacker's
	w.folder("group", 0, 0o775)                    // of a group, below
	w.must(os.Chown(w.path("group"), 0, stranger)) // whose members can write there
	w.folder("sticky/theirs", stranger, 0o755)     // the attacker's, in /tmp
	w.folder("sticky/shared", another, 0o777)      // a third user's, open to all
	return w
}

// Links that a stranger made are followed nowhere, for whatever is done; and nothing that they
// lead to changes.
func TestStrangersLinkIsNotFollowed(t *testing.T) {
	for _, folder := range []string{"sticky", "open", "theirs", "group", "own", "sticky/theirs", "sticky/shared"} {
		for _, do := range []string{"Create", "WriteFile", "append", "read"} {
			w := newTrap(t)
			w.link(folder+"/out", stranger, "/vault/file")
			refused(t, do+" in "+folder, operations[do](w.path(folder+"/out")), "is a link that user 65534 made")
			w.want("vault/file", precious)
		}
		w := newTrap(t)
		w.link(folder+"/out", stranger, "/vault/new") // which is not there
		refused(t, "Create of what is not there", operations["Create"](w.path(folder+"/out")), "is a link that user 65534 made")
		w.link(folder+"/dir", stranger, "/vault")
		for _, do := range []string{"Create", "WriteFile", "MkdirAll", "Remove"} {
			refused(t, do+" by a folder", operations[do](w.path(folder+"/dir/file")), folder+"/dir is a link that user 65534 made")
		}
		refused(t, "MkdirAll at a link", MkdirAll(w.path(folder+"/dir"), 0o755), "is a link that user 65534 made")
		w.link("own/mine", 0, "/"+folder+"/out")
		refused(t, "by a link of one's own", operations["Create"](w.path("own/mine")), folder+"/out is a link that user 65534 made")
		w.want("vault/file", precious)
		if entries, err := os.ReadDir(w.path("vault")); err != nil || len(entries) != 1 {
			t.Errorf("%s: in the vault are %v, %v; want one file", folder, entries, err)
		}
	}
}

// The alarm can ring: package os follows such a link.
func TestOSFollows(t *testing.T) {
	w := newTrap(t)
	w.link("theirs/out", stranger, "/vault/file")
	w.must(os.WriteFile(w.path("theirs/out"), []byte(mark), 0o644))
	w.want("vault/file", mark)
}

// What a stranger laid down where others can write is not written to, and stays as it is.
func TestStrangersFile(t *testing.T) {
	const there, hard = "is there already, belongs to user ", "a hard link"
	for _, tt := range []struct {
		name, folder string
		owner        int
		want         string // "" for none
	}{
		{"a stranger's, as in /tmp", "sticky", stranger, there + "65534, and others can write in its folder"},
		{"a stranger's, in an open folder", "open", stranger, there + "65534"},
		{"a stranger's, in a folder of a group", "group", stranger, there + "65534"},
		{"a third user's, in a stranger's folder", "theirs", another, there + "65533"},
		{"the owner's of the folder", "theirs", stranger, ""},
		{"a stranger's, where only root can write", "own", stranger, ""},
		{"one's own, as in /tmp", "sticky", 0, ""},
		{"one's own, in a stranger's folder", "theirs", 0, ""},
	} {
		w := newTrap(t)
		w.file(tt.folder+"/out", tt.owner, "before")
		err := operations["Create"](w.path(tt.folder + "/out"))
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			w.want(tt.folder+"/out", mark)
			continue
		}
		refused(t, tt.name, err, tt.want)
		w.want(tt.folder+"/out", "before")
	}
	for _, folder := range []string{"sticky", "open", "theirs", "group"} {
		w := newTrap(t)
		w.must(os.Link(w.path("vault/file"), w.path(folder+"/out")))
		refused(t, "a second name in "+folder, operations["Create"](w.path(folder+"/out")), hard)
		w.want("vault/file", precious)
		w.must(unix.Mkfifo(w.path(folder+"/pipe"), 0o666))
		w.give(folder+"/pipe", stranger)
		refused(t, "a stranger's pipe in "+folder, operations["Create"](w.path(folder+"/pipe")), there+"65534") // and does not wait
	}
}

// A new file in a stranger's folder is one's own, and a missing folder too.
func TestNewInStrangersFolder(t *testing.T) {
	w := newTrap(t)
	w.must(MkdirAll(w.path("theirs/a/b"), 0o755))
	w.must(operations["Create"](w.path("theirs/a/b/out")))
	for _, name := range []string{"theirs/a", "theirs/a/b", "theirs/a/b/out"} {
		info, err := os.Lstat(w.path(name))
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
			t.Errorf("%s: %+v, %v: want root's", name, info, err)
		}
	}
}

// While the attacker exchanges his file and his link all the time, one or the other is seen, and
// never something between: what the link leads to is not touched.
func TestExchangedMeanwhile(t *testing.T) {
	w := newTrap(t)
	w.file("theirs/out", stranger, "before")
	w.link("theirs/other", stranger, "/vault/file")
	w.folder("theirs/dir", stranger, 0o755)
	w.link("theirs/dirlink", stranger, "/vault")
	end, ended := make(chan struct{}), make(chan error)
	go func() {
		for {
			for _, pair := range [][2]string{{"out", "other"}, {"dir", "dirlink"}} {
				a, b := w.path("theirs/"+pair[0]), w.path("theirs/"+pair[1])
				if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
					ended <- err
					return
				}
			}
			select {
			case <-end:
				ended <- nil
				return
			default:
			}
		}
	}()
	written, refusals := 0, 0
	begin := time.Now()
	for i := 0; i < 5_000 || (written == 0 || refusals == 0) && time.Since(begin) < 20*time.Second; i++ {
		for _, name := range []string{"theirs/out", "theirs/dir/file"} {
			switch err := operations["Create"](w.path(name)); {
			case err == nil:
				written++
			case strings.Contains(err.Error(), "is a link that user 65534 made"):
				refusals++
			default:
				t.Fatal(err)
			}
		}
	}
	close(end)
	w.must(<-ended)
	w.want("vault/file", precious)
	if written == 0 || refusals == 0 {
		t.Errorf("%d times written, %d refused: nothing was exchanged", written, refusals)
	}
}

// tree is a folder with folders, files and links at random, all one's own, and a list of names.
func tree(w world, rng *rand.Rand) (names []string) {
	dirs := []string{""}
	pick := func(of []string) string { return of[rng.IntN(len(of))] }
	for i := range 30 {
		name := filepath.Join(pick(dirs), string(rune('a'+i%26))+string(rune('a'+i/26)))
		switch rng.IntN(4) {
		case 0:
			w.must(os.Mkdir(w.path(name), 0o755))
			dirs = append(dirs, name)
		case 1:
			w.must(os.WriteFile(w.path(name), []byte(name), 0o644))
		case 2: // within the world, or dangling
			to := pick(append(slices.Clone(names), "nowhere", "", "nowhere/below"))
			w.must(os.Symlink(w.path(to), w.path(name)))
		default: // relative, perhaps to nowhere
			w.must(os.Symlink(strings.Repeat("../", rng.IntN(3))+pick(append(slices.Clone(names), "x", ".")), w.path(name)))
		}
		names = append(names, name)
	}
	return append(names, dirs...)
}

// errno is what went wrong, as the kernel has it; 0 for nothing.
func errno(err error) (no syscall.Errno) {
	errors.As(err, &no)
	return no
}

// Where there is no stranger, every path leads where it leads by package os: the same file is
// opened, made or refused for the same reason (for a path that ends in a slash the kernel looks
// at the slash first).
func TestAsPackageOS(t *testing.T) {
	seed := testkit.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		w := newWorld(t)
		names := tree(w, rng)
		for range 200 {
			var parts []string
			for range 1 + rng.IntN(4) {
				parts = append(parts, append(slices.Clone(names), ".", "..", "new", "")[rng.IntN(len(names)+4)])
			}
			name := w.dir + "/" + strings.Join(parts, "/")
			if rng.IntN(8) == 0 {
				name += "/"
			}
			flag := []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_CREATE}[rng.IntN(3)]
			if flag == os.O_RDONLY && isDir(name) {
				continue // os opens folders for reading
			}
			wantFile, wantErr := os.OpenFile(name, flag, 0o644)
			isNew := wantErr == nil && flag&os.O_CREATE != 0 && size(wantFile) == 0
			want := identify(t, wantFile)
			if isNew { // made by this call: all files of the tree have a text
				w.must(os.Remove(follow(name)))
			}
			gotFile, gotErr := OpenFile(name, flag, 0o644)
			got := identify(t, gotFile)
			same := got == want || isNew && gotErr == nil
			if (wantErr == nil) != (gotErr == nil) || !same || errno(wantErr) != errno(gotErr) && !strings.HasSuffix(name, "/") {
				t.Fatalf("open %s with %#x: %v, %v; package os: %v, %v", name, flag, got, gotErr, want, wantErr)
			}
			if isNew {
				w.must(os.Remove(follow(name)))
			}
			if rng.IntN(4) == 0 && !strings.Contains(name, "..") { // os looks at them before it makes what is missing
				dir := name + "/made"
				wantErr := os.MkdirAll(dir, 0o755)
				os.Remove(dir)
				if gotErr := MkdirAll(dir, 0o755); (gotErr == nil) != (wantErr == nil) {
					t.Fatalf("mkdir %s: %v; package os: %v", dir, gotErr, wantErr)
				}
				os.Remove(dir)
			}
		}
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func size(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return -1
	}
	return info.Size()
}

// follow is the file that a name leads to.
func follow(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return name
	}
	return real
}

// identify is the device and the number of a file, which it closes.
func identify(t *testing.T, f *os.File) (id [2]uint64) {
	if f == nil {
		return id
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return [2]uint64{st.Dev, st.Ino}
}

// honest is what people do with outputs. It has to work whoever does it.
func honest(w world) map[string]string {
	me := os.Geteuid()
	w.folder("far", me, 0o755)
	w.file("far/file", me, "before")
	w.link("folder", me, "far")
	w.link("link", me, "/far/file")
	w.link("dangling", me, "/far/new")
	w.link("chain", me, "link")
	w.folder("group", me, 0o775)
	w.must(unix.Mkfifo(w.path("pipe"), 0o600))
	return map[string]string{
		"a new file":                  w.path("new"),
		"one's own file":              w.path("far/file"),
		"a linked folder":             w.path("folder/file"),
		"a link":                      w.path("link"),
		"a link to what is not there": w.path("dangling"),
		"links to links":              w.path("chain"),
		"a roundabout path":           w.path("folder") + "/../far/./file",
		"a folder of one's group":     w.path("group/new"),
		"/dev/null":                   "/dev/null",
		"/dev/stderr":                 "/dev/stderr",
		"/dev/fd/1":                   "/dev/fd/1",
		"/proc/self/fd/1":             "/proc/self/fd/1",
	}
}

func TestHonestUse(t *testing.T) {
	for what, path := range honest(newWorld(t)) {
		if strings.HasPrefix(path, "/dev/") && path != "/dev/null" || strings.HasPrefix(path, "/proc/") {
			continue // below, in a process with outputs of its own
		}
		if err := operations["Create"](path); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestOutputs: what the shell calls an output is one.
func TestOutputs(t *testing.T) {
	for _, path := range []string{"/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/2"} {
		if got := as(t, nil, nil, "WriteFile", path); got == nil || got.Error() != mark {
			t.Errorf("%s: what came is %v, want %q", path, got, mark)
		}
	}
}

// TestPipe: who reads a pipe gets what is written.
func TestPipe(t *testing.T) {
	w := newWorld(t)
	w.must(unix.Mkfifo(w.path("pipe"), 0o600))
	wrote := make(chan error, 1)
	go func() { wrote <- operations["WriteFile"](w.path("pipe")) }()
	w.want("pipe", mark)
	w.must(<-wrote)
}

// A user without rights does all that in folders of his own, also in a user namespace of his
// own, where the kernel shows root as nobody.
func TestHonestUseOfOthers(t *testing.T) {
	needTwoUsers(t)
	alone := user(stranger)
	rootless := user(0)
	rootless.GidMappingsEnableSetgroups = true
	rootless.Cloneflags = unix.CLONE_NEWUSER
	rootless.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: stranger, Size: 1}}
	rootless.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: stranger, Size: 1}}
	for what, attr := range map[string]*syscall.SysProcAttr{"a user": alone, "root of a user namespace": rootless} {
		w := newWorld(t)
		paths := honest(w)
		w.must(filepath.WalkDir(w.dir, func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(name, stranger, stranger))
		}))
		for how, path := range paths {
			err := as(t, attr, nil, "Create", path)
			if err != nil && err.Error() != mark { // written to an output
				t.Errorf("%s, %s: %v", what, how, err)
			}
		}
		w.folder("tmp", 0, 0o777|os.ModeSticky)
		w.folder("vault", stranger, 0o755)
		w.file("vault/file", stranger, precious)
		w.link("tmp/out", another, "/vault/file")
		refused(t, what+", planted", as(t, attr, nil, "Create", w.path("tmp/out")), "is a link that user ")
		w.want("vault/file", precious)
		w.link("sys", 0, "/far") // as /var/run
		if err := as(t, attr, nil, "Create", w.path("sys/file")); err != nil {
			t.Errorf("%s, by a link of root: %v", what, err)
		}
	}
}

// Under sudo the user who called it is believed; nobody else is, and no other variable does it.
func TestSudo(t *testing.T) {
	w := newTrap(t)
	w.link("theirs/out", stranger, "/vault/file")
	for _, env := range [][]string{nil, {"SUDO_UID=65533"}, {"SUDO_UID="}, {"SUDO_UID=-1"}, {"SUDO_USER=nobody"}} {
		refused(t, strings.Join(env, " "), as(t, nil, env, "Create", w.path("theirs/out")), "is a link that user 65534 made")
	}
	w.want("vault/file", precious)
	if err := as(t, nil, []string{"SUDO_UID=65534"}, "Create", w.path("theirs/out")); err != nil {
		t.Error(err)
	}
	w.want("vault/file", mark)
	w.link("sticky/other", 0, "/vault")
	w.give("sticky/other", another)
	refused(t, "a variable that root has not set", as(t, user(stranger), []string{"SUDO_UID=65533"}, "Create", w.path("sticky/other/x")), "is a link that user 65533 made")
}

func TestCheckDir(t *testing.T) {
	w := newTrap(t)
	w.folder("theirs/below", 0, 0o755)
	w.folder("open/below", 0, 0o755)
	w.folder("sticky/mine", 0, 0o755)
	w.folder("rootgroup", 0, 0o775)
	w.link("own/link", 0, "/vault")
	w.link("own/planted", stranger, "/vault")
	w.link("own/into", 0, "/theirs/below")
	for _, tt := range []struct{ dir, want string }{
		{"own", ""},
		{"own/link", ""},
		{"rootgroup", ""},
		{"sticky", ""},
		{"sticky/mine", ""},
		{"theirs", "theirs belongs to user 65534, who could change what is in it"},
		{"theirs/below", "theirs belongs to user 65534"},
		{"sticky/theirs", "theirs belongs to user 65534"},
		{"open", "others can write in " + w.path("open") + ", whose mode is 0777; take that from them (chmod go-w)"},
		{"open/below", "others can write in " + w.path("open")},
		{"group", "others can write in " + w.path("group") + ", whose mode is 0775"},
		{"own/planted", "is a link that user 65534 made"},
		{"own/into", "theirs belongs to user 65534"},
		{"vault/file", "not a directory"},
		{"own/nothing", "no such file"},
	} {
		err := CheckDir(w.path(tt.dir))
		if tt.want == "" && err != nil {
			t.Errorf("%s: %v", tt.dir, err)
		}
		if tt.want != "" {
			refused(t, tt.dir, err, tt.want)
		}
	}
	if err := CheckDir(w.path("own/nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: want that it is not there", err)
	}
	t.Chdir(w.path("theirs/below"))
	if err := CheckDir("."); err != nil { // whatever becomes of the one above
		t.Errorf("the current folder: %v", err)
	}
	refused(t, "from the current folder", CheckDir("../below"), ".. belongs to user 65534")
	t.Chdir(w.path("theirs"))
	refused(t, "the current folder", CheckDir("below"), "the current folder belongs to user 65534")
}

func TestRead(t *testing.T) {
	w := newTrap(t)
	w.file("own/file", 0, "text")
	w.file("own/theirs", stranger, "text")
	w.file("own/loose", 0, "text")
	w.must(os.Chmod(w.path("own/loose"), 0o666))
	w.link("own/link", 0, "/own/file")
	w.link("own/planted", stranger, "/own/file")
	w.file("sticky/file", 0, "text")
	w.file("sticky/planted", stranger, "text")
	w.file("theirs/file", stranger, "text")
	w.must(unix.Mkfifo(w.path("own/pipe"), 0o600))
	for _, tt := range []struct{ name, want string }{
		{"own/file", ""},
		{"own/link", ""},
		{"sticky/file", ""},
		{"own/theirs", "it belongs to user 65534"},
		{"own/loose", "others can write to it: its mode is 0666"},
		{"own/planted", "is a link that user 65534 made"},
		{"own/pipe", "it is no plain file"},
		{"own", "is a directory"},
		{"sticky/planted", "belongs to user 65534"},
		{"theirs/file", "theirs belongs to user 65534"},
	} {
		got, err := Read(w.path(tt.name), 4)
		if tt.want == "" && (err != nil || string(got) != "text") {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		if tt.want != "" {
			refused(t, tt.name, err, tt.want)
		}
	}
	if _, err := Read(w.path("own/file"), 3); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("a file that is too long: %v", err)
	}
	if _, err := Read(w.path("own/nothing"), 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: want that it is not there", err)
	}
}

// TestRemove: a link is removed, not what it leads to.
func TestRemove(t *testing.T) {
	w := newWorld(t)
	w.file("file", os.Geteuid(), precious)
	w.link("link", os.Geteuid(), "/file")
	w.must(Remove(w.path("link")))
	w.want("file", precious)
	w.must(Remove(w.path("file")))
	if err := Remove(w.path("file")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: want that it is not there", err)
	}
}
