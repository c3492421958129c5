package guest

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// archive is an initramfs in the making: a cpio archive in the format "newc" (Documentation/driver-api/early-userspace/buffer-format.rst
// of Linux), without compression, so that a guest whose processor is emulated has nothing to unpack.
type archive struct {
	out     bytes.Buffer
	folders map[string]bool
	inode   int
}

// The types of a file in its mode, as in stat.
const (
	cpioFolder = 0o040000
	cpioFile   = 0o100000
)

// add adds a regular file, and the folders above it.
func (a *archive) add(name string, mode int, data []byte) {
	a.folder(path.Dir(name))
	a.entry(name, cpioFile|mode, data)
}

// folder adds a folder, and those above it.
func (a *archive) folder(name string) {
	if name == "." || a.folders[name] {
		return
	}
	a.folder(path.Dir(name))
	if a.folders == nil {
		a.folders = map[string]bool{}
	}
	a.folders[name] = true
	a.entry(name, cpioFolder|0o755, nil)
}

func (a *archive) entry(name string, mode int, data []byte) {
	a.inode++
	// Inode, mode, user, group, links, time, size, device twice two numbers, length of the name, checksum.
	fmt.Fprintf(&a.out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", a.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
	a.out.WriteString(name + "\x00")
	a.pad()
	a.out.Write(data)
	a.pad()
}

// pad fills up to four octets.
func (a *archive) pad() { a.out.WriteString(strings.Repeat("\x00", -a.out.Len()&3)) }

// bytes ends the archive and returns it.
func (a *archive) bytes() []byte {
	a.entry("TRAILER!!!", 0, nil)
	return a.out.Bytes()
}
