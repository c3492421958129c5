package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Create is os.Create.
func Create(name string) (*os.File, error) {
	return OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// WriteFile is os.WriteFile.
func WriteFile(name string, data []byte, perm os.FileMode) error {
	f, err := OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// triesMax is how often OpenFile looks again when what it looked at is gone, or has come, meanwhile.
const triesMax = 16

// OpenFile is os.OpenFile, without os.O_EXCL. What it refuses stays as it was.
func OpenFile(name string, flag int, perm os.FileMode) (*os.File, error) {
	for range triesMax {
		s, err := new(walk).find(name)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		f, err := s.open(name, flag, uint32(perm.Perm()))
		s.close()
		switch {
		case err == nil:
			return f, nil
		case s.file < 0 && errors.Is(err, unix.EEXIST): // it has come
		default:
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it comes and goes")}
}

func (s *spot) open(name string, flag int, perm uint32) (*os.File, error) {
	flag |= unix.O_CLOEXEC
	there := flag &^ unix.O_CREAT
	var fd int
	var err error
	switch {
	case s.magic:
		fd, err = unix.Openat(s.dir, s.name, there, 0)
	case s.file < 0 && s.name != "." && flag&unix.O_CREAT != 0:
		fd, err = unix.Openat(s.dir, s.name, flag|unix.O_EXCL|unix.O_NOFOLLOW, perm)
	case s.file < 0 && s.name != ".":
		return nil, unix.ENOENT
	case s.name == "." || s.stat.Mode&unix.S_IFMT == unix.S_IFDIR:
		return nil, unix.EISDIR
	default:
		if err := us().opens(s); err != nil {
			return nil, err
		}
		// A descriptor that says only where a file is cannot be read or written; this opens the
		// same file again (open(2), O_PATH).
		fd, err = unix.Open(fmt.Sprintf("/proc/self/fd/%d", s.file), there, 0)
	}
	if err != nil {
		return nil, err
	}
	if s.stat.Mode&unix.S_IFMT == unix.S_IFIFO { // as for os: who waits does not hold a thread
		syscall.SetNonblock(fd, true)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// opens returns why what is there already is not opened.
func (b believed) opens(s *spot) error {
	const choose = "remove it, or choose a folder in which only you can write"
	if !b.shared(&s.folder) {
		return nil
	}
	plain := s.stat.Mode&unix.S_IFMT == unix.S_IFREG
	switch {
	case !b.owns(&s.stat, &s.folder) && !(plain && s.stat.Uid == s.folder.Uid):
		return fmt.Errorf("%s is there already, belongs to user %d, and others can write in its folder; %s", s.path(), s.stat.Uid, choose)
	case plain && s.stat.Nlink > 1:
		return fmt.Errorf("%s is there already, is the same file as another one (a hard link), and others can write in its folder; %s", s.path(), choose)
	}
	return nil
}

// Replace replaces the contents of the file name, or makes it, with the mode perm: who reads it sees the
// old ones or the new. It survives the death of the program, but not of the machine.
func Replace(name string, data []byte, perm os.FileMode) error {
	next := name + ".next"
	Remove(next) // left by a Replace that did not finish, with a mode of its own
	if err := WriteFile(next, data, perm); err != nil {
		Remove(next) // a part of it may be there
		return err
	}
	return os.Rename(next, name)
}

// MkdirAll is os.MkdirAll.
func MkdirAll(name string, perm os.FileMode) error {
	if name == "" {
		return &fs.PathError{Op: "mkdir", Path: name, Err: unix.ENOENT}
	}
	w := &walk{perm: uint32(perm.Perm())}
	s, err := w.find(name + "/")
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: w.path(), Err: err}
	}
	s.close()
	return nil
}

// Remove is os.Remove of a file.
func Remove(name string) error {
	s, err := (&walk{asIs: true}).find(name)
	if err == nil {
		err = unix.Unlinkat(s.dir, s.name, 0)
		s.close()
	}
	if err != nil {
		return &fs.PathError{Op: "remove", Path: name, Err: err}
	}
	return nil
}
