package netnslab

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/lists"
)

// markOf is the alias of lo in a node's namespace. Without a record it shows that the
// namespace belongs to the lab with that run directory.
func markOf(dir string) string {
	const most = 240 // the kernel takes 255 bytes
	return "softswitch " + dir[max(0, len(dir)-most):]
}

// lost is what exists of a lab, found by its marks and not by its record.
type lost struct {
	dir        string   // the lab's
	nodes      []string // whose namespaces are there
	namespaces []string // paths
	processes  []process
	commands   []string // of the processes
}

// findLost looks for everything with the marks of the lab of that name in this run
// directory.
func findLost(name string) (lost, error) {
	l := lost{dir: Dir(name)}
	paths, err := filepath.Glob(filepath.Join(NamespaceDir, name+"-*"))
	if err != nil {
		return l, fmt.Errorf("netnslab: %w", err)
	}
	for _, path := range paths {
		node := strings.TrimPrefix(filepath.Base(path), name+"-")
		if hasMark(path, markOf(filepath.Join(l.dir, node))) {
			l.nodes, l.namespaces = append(l.nodes, node), append(l.namespaces, path)
		}
	}
	return l, l.findProcesses()
}

// hasMark reports whether lo of the namespace has that alias. A namespace that cannot
// be entered has none.
func hasMark(path, mark string) bool {
	s, err := seatAt(path)
	if err != nil {
		return false
	}
	defer s.close()
	lo, err := s.nl.LinkByName("lo")
	return err == nil && lo.Attrs().Alias == mark
}

// findProcesses finds the processes of this user with a token that were started in the lab's
// directory, and those with the same token anywhere.
func (l *lost) findProcesses() error {
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return fmt.Errorf("netnslab: %w", err)
	}
	var tokens []string
	for _, path := range all {
		at, err := os.Readlink(path)
		if err != nil || filepath.Dir(strings.TrimSuffix(at, " (deleted)")) != l.dir {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		token := tokenOf(filepath.Dir(path))
		if token != "" && !slices.Contains(tokens, token) && (process{PID: pid}).carries(token) {
			tokens = append(tokens, token)
		}
	}
	for _, token := range tokens {
		procs, err := marked(token)
		if err != nil {
			return err
		}
		l.processes = append(l.processes, procs...)
	}
	for _, p := range l.processes {
		text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "cmdline"))
		l.commands = append(l.commands, fmt.Sprintf("%d (%s)", p.PID, strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))))
	}
	return nil
}

// tokenOf is the token in the environment of the process of that directory of /proc,
// "" if it has none.
func tokenOf(proc string) string {
	env, err := os.ReadFile(filepath.Join(proc, "environ"))
	late := time.Now().Add(execMax)
	for without, soon := 0, true; err == nil && len(env) == 0 && without < 3 && soon; {
		if !execs(proc) {
			without++ // unless it began or ended between the two looks
		}
		soon = time.Now().Before(late) // if not, the last look is behind that, however late this process is
		env, err = os.ReadFile(filepath.Join(proc, "environ"))
	}
	if err != nil {
		return ""
	}
	for v := range strings.SplitSeq(string(env), "\x00") {
		if token, ok := strings.CutPrefix(v, markVariable+"="); ok {
			return token
		}
	}
	return ""
}

// execMax is how long a process is waited for that is about to run another program.
const execMax = 5 * time.Second

// execs reports whether a process has neither environment nor arguments, as in the middle of
// execve(2). One that has ended, or is the kernel's, runs no file.
func execs(proc string) bool {
	_, err := os.Readlink(filepath.Join(proc, "exe"))
	args, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
	return err == nil && len(args) == 0
}

func (l lost) empty() bool { return len(l.namespaces)+len(l.processes) == 0 }

// String lists what exists.
func (l lost) String() string {
	if l.empty() {
		return "nothing bears its marks"
	}
	return fmt.Sprintf("by its marks there is: namespaces %s; processes %s", orNone(l.namespaces), orNone(l.commands))
}

func orNone(words []string) string { return cmp.Or(strings.Join(words, ", "), "none") }

// remedy is what to do about a lab without a record.
func (l lost) remedy() string {
	return fmt.Sprintf("%v; remove it with: softswitch lab destroy --lost %s", l, filepath.Base(l.dir))
}

// DownLost removes a lab as [Down] does, and without a readable record, everything with
// the lab's marks: namespaces whose lo names this lab's directory, processes that were
// started there with a lab's token and those with the same token, their run
// directories, and the record. Anything else stays, and is listed on progress.
func DownLost(name string, progress io.Writer) error {
	progress = cmp.Or(progress, io.Discard)
	if err := CheckName(name); err != nil {
		return err
	}
	if _, err := LoadDir(Dir(name)); err == nil {
		return Down(name, progress)
	}
	return whileLocked(name, progress, func(boot string) error {
		l, err := findLost(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(progress, "lab %s: %v\n", name, l)
		if err := l.remove(boot, progress); err != nil {
			return fmt.Errorf("netnslab: lab %s: %w", name, err)
		}
		return nil
	})
}

func (l lost) remove(boot string, progress io.Writer) error {
	if err := terminate(l.processes, grace); err != nil {
		return err
	}
	var errs []error
	for i, path := range l.namespaces {
		errs = append(errs, removeMarked(path), os.RemoveAll(filepath.Join(l.dir, l.nodes[i])))
	}
	errs = append(errs, lists.Map(glob(l.dir, hostingPrefix+"*"), os.RemoveAll)...)
	if err := os.Remove(filepath.Join(l.dir, stateName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		errs = append(errs, err)
	}
	sweep(l.dir)
	errs = append(errs, restoreBacklog(l.dir, boot, progress))
	for _, left := range append(glob(NamespaceDir, filepath.Base(l.dir)+"-*"), glob(l.dir, "*")...) {
		fmt.Fprintf(progress, "left alone: %s: nothing says that the lab made it\n", left)
	}
	return errors.Join(errs...)
}

func glob(dir, pattern string) []string {
	paths, _ := filepath.Glob(filepath.Join(dir, pattern))
	return paths
}

// removeMarked removes a namespace's veths, which would otherwise wait for the kernel,
// and its name.
func removeMarked(path string) error {
	s, err := seatAt(path)
	if err != nil {
		return err
	}
	defer s.close()
	links, err := s.nl.LinkList()
	if err != nil {
		return err
	}
	for _, link := range links {
		if link.Type() != "veth" {
			continue
		}
		if err := s.nl.LinkDel(link); err != nil && !isGone(err) {
			return err
		}
	}
	return unname(path)
}

// unname removes a namespace's name; the namespace ends when nothing is left in it.
func unname(path string) error {
	if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
		return &fs.PathError{Op: "unmount", Path: path, Err: err}
	}
	checkpoint()
	return os.Remove(path)
}
