package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CheckDir returns why strangers could change what names in the folder stand for: a folder on
// the way to it, or the folder itself, belongs to a stranger, or is writable to one without being
// sticky; or a link on the way is a stranger's. The error is fs.ErrNotExist if it is not there.
//
// A path that begins in the current folder is looked at from there: where that is, and what
// becomes of the folders above it, does not matter to it. In a sticky folder, such as /tmp,
// strangers can create what is not there yet, but not touch what somebody else has there.
func CheckDir(name string) error {
	if name == "" {
		return &fs.PathError{Op: "open", Path: name, Err: unix.ENOENT}
	}
	s, err := (&walk{settled: true}).find(name + "/")
	if err == nil {
		s.close()
		return nil
	}
	if errors.As(err, new(unix.Errno)) {
		err = &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return err // which else names the place
}

// Read reads a file that only root or the user of this process can have written, of no more than
// most bytes. The error says why it need not be such a file; it is fs.ErrNotExist if it is not
// there.
func Read(name string, most int64) ([]byte, error) {
	err := CheckDir(filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: unix.ENOENT}
	}
	if err != nil {
		return nil, err
	}
	f, err := OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := own(f); err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("more than %d bytes", most)}
	}
	return data, err
}

// own returns why the file need not be of somebody who is believed.
func own(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return fmt.Errorf("it is no plain file")
	case !Believed(st.Uid):
		return fmt.Errorf("it belongs to user %d", st.Uid)
	case us().shared(&st):
		return fmt.Errorf("others can write to it: its mode is %04o", st.Mode&0o7777)
	}
	return nil
}
