package safefile

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// linksMax is how many links a path may lead through, as for the kernel.
const linksMax = 40

// spot is where a path leads: a name in a folder. Its descriptors are O_PATH.
type spot struct {
	at     string // the folder's path, for people
	dir    int
	folder unix.Stat_t // of dir
	name   string      // "." for the folder itself
	file   int         // what has the name; -1: nothing
	stat   unix.Stat_t // of file
	magic  bool        // it is a link of /proc that only the kernel can follow
}

func (s *spot) close() {
	unix.Close(s.dir)
	if s.file >= 0 {
		unix.Close(s.file)
	}
}

// path is that of what has the name.
func (s *spot) path() string { return path.Join(s.at, s.name) }

// walk is the way along a path. Why not by os.Root: see docs/decisions/osroot.md.
type walk struct {
	perm    uint32 // of folders that are missing and get made; 0: none are made
	asIs    bool   // the last name is not followed if it is a link
	settled bool   // every folder on the way must be one in which strangers can change nothing
	links   int
	linked  int // how many of the next names are of a link
	spot
}

// find is where the path leads. The caller closes it.
func (w *walk) find(name string) (*spot, error) {
	w.dir, w.file = -1, -1
	if name == "" {
		return nil, unix.ENOENT
	}
	err := w.start(name)
	for rest := names(name); err == nil; {
		if len(rest) == 0 {
			w.name = "."
			return &w.spot, nil
		}
		var done bool
		if rest, done, err = w.step(rest); done {
			return &w.spot, nil
		}
	}
	if w.dir >= 0 {
		w.close()
	}
	return nil, err
}

// names are those of a path. What ends in a slash is a folder, as is "/x/.".
func names(name string) []string {
	all := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	if strings.HasSuffix(name, "/") {
		all = append(all, ".")
	}
	return all
}

// start goes to where the path begins.
func (w *walk) start(name string) error {
	at := "."
	if strings.HasPrefix(name, "/") {
		at = "/"
	}
	fd, err := unix.Open(at, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return w.enter(fd, at)
}

// enter goes into a folder; it takes ownership of its descriptor.
func (w *walk) enter(fd int, at string) error {
	if w.dir >= 0 {
		unix.Close(w.dir)
	}
	w.dir, w.at = fd, at
	if err := unix.Fstat(fd, &w.folder); err != nil {
		return err
	}
	if w.settled {
		return us().settles(at, &w.folder)
	}
	return nil
}

// settles returns why a stranger could change what a name in the folder stands for.
func (b believed) settles(at string, folder *unix.Stat_t) error {
	if at == "." {
		at = "the current folder"
	}
	switch {
	case b.strange(folder):
		return fmt.Errorf("%s belongs to user %d, who could change what is in it", at, folder.Uid)
	case b.shared(folder) && folder.Mode&unix.S_ISVTX == 0:
		return fmt.Errorf("others can write in %s, whose mode is %04o; take that from them (chmod go-w), or choose another folder", at, folder.Mode&0o7777)
	}
	return nil
}

// step takes the next name; done says that it was the last, and w is where it leads.
func (w *walk) step(names []string) (rest []string, done bool, err error) {
	name, rest := names[0], names[1:]
	last, linked := len(rest) == 0, w.linked > 0
	w.linked = max(0, w.linked-1)
	if name == "." {
		return rest, false, nil
	}
	w.name = name
	fd, err := unix.Openat(w.dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT) && last:
		return nil, true, nil
	case errors.Is(err, unix.ENOENT) && w.perm != 0 && !linked:
		if err := unix.Mkdirat(w.dir, name, w.perm); err != nil && !errors.Is(err, unix.EEXIST) {
			return nil, false, err
		}
		return names, false, nil
	case err != nil:
		return nil, false, err
	}
	if err := unix.Fstat(fd, &w.stat); err != nil {
		unix.Close(fd)
		return nil, false, err
	}
	kind := w.stat.Mode & unix.S_IFMT
	switch {
	case kind == unix.S_IFLNK && !(last && w.asIs):
		return w.follow(fd, rest)
	case last:
		w.file = fd
		return nil, true, nil
	case kind != unix.S_IFDIR:
		unix.Close(fd)
		return nil, false, unix.ENOTDIR
	}
	return rest, false, w.enter(fd, w.path())
}

// follow takes the link with that descriptor, which it closes.
func (w *walk) follow(fd int, rest []string) (_ []string, done bool, err error) {
	defer unix.Close(fd)
	if !us().owns(&w.stat, &w.folder) {
		return nil, false, fmt.Errorf("%s is a link that user %d made, and could lead to any file: it is not followed; remove it, or choose a folder in which only you can write", w.path(), w.stat.Uid)
	}
	if w.links++; w.links > linksMax {
		return nil, false, unix.ELOOP
	}
	var of unix.Statfs_t
	if err := unix.Fstatfs(fd, &of); err != nil {
		return nil, false, err
	}
	if of.Type == unix.PROC_SUPER_MAGIC { // such as /proc/self/fd/1: its text need not be a path
		if len(rest) == 0 {
			w.magic = true
			return nil, true, nil
		}
		to, err := unix.Openat(w.dir, w.name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, false, err
		}
		return rest, false, w.enter(to, w.path())
	}
	text := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", text)
	if err != nil {
		return nil, false, err
	}
	to := string(text[:n])
	if strings.HasPrefix(to, "/") {
		if err := w.start(to); err != nil {
			return nil, false, err
		}
	}
	w.linked += len(names(to))
	return append(names(to), rest...), false, nil
}
