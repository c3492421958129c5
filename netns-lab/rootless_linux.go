package netnslab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Rootless runs a command where labs can be made without privileges: as root of a user
// namespace, with its own network, mounts and processes. Everything made there ends
// with the command. It returns the command's exit status, as [State.Exec] does.
//
// This program is started there with the arguments init, and must then call
// [RootlessInit]; argv is the command.
//
// Labs there are separate from those of the machine: their state and namespaces are in
// a /run of their own. They have no real-time priority, and the backlog is the kernel's
// default.
func Rootless(ctx context.Context, init, argv []string, stdio Stdio) (int, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("netnslab: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, append(init, argv...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdio.In, stdio.Out, stdio.Err
	cmd.SysProcAttr = ownNamespaces(unix.CLONE_NEWPID)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	// Ctrl-C at a terminal reaches the command as well; it decides what to do.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	status, err := outcome(ctx, cmd, cmd.Run())
	if err != nil {
		if why := rootlessObstacle(); why != nil {
			err = why
		}
		return 0, fmt.Errorf("netnslab: no user namespace: %w", err)
	}
	return status, nil
}

// ownNamespaces makes a process root of a user namespace, with its own network and
// mounts, and the namespaces in more.
func ownNamespaces(more uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWNS | more,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// RootlessInit is the first process of the namespaces that [Rootless] makes: it mounts
// /run and /proc, runs argv, and reaps orphaned processes. It returns argv's exit
// status.
func RootlessInit(argv []string) (int, error) {
	if os.Getpid() != 1 || len(argv) == 0 {
		return 0, errors.New("netnslab: not the first process of a namespace with a command to run")
	}
	// Asked for before the command starts: a signal that the first process of a namespace has
	// not asked for is dropped.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP) // a terminal sends SIGINT to all processes anyway
	defer close(signals)
	defer signal.Stop(signals)
	for _, m := range []struct {
		what, where string
		flags       uintptr
	}{
		{"", "/", unix.MS_REC | unix.MS_PRIVATE},
		{"tmpfs", "/run", unix.MS_NOSUID | unix.MS_NODEV},
		{"proc", "/proc", unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC},
	} {
		if err := unix.Mount(m.what, m.where, m.what, m.flags, ""); err != nil {
			return 0, fmt.Errorf("netnslab: mount %s at %s: %w", m.what, m.where, err)
		}
	}
	if err := SetInterface(new(netlink.Handle), "lo", true); err != nil {
		return 0, fmt.Errorf("netnslab: lo: %w", err)
	}
	if err := os.Unsetenv(RunDirVariable); err != nil { // it would outlive the labs
		return 0, fmt.Errorf("netnslab: %w", err)
	}
	return reap(argv, signals)
}

// reap runs argv and reaps processes until it ends. It forwards signals to it.
func reap(argv []string, signals <-chan os.Signal) (int, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, fmt.Errorf("netnslab: %w", err)
	}
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 0, fmt.Errorf("netnslab: %s: %w", path, err)
	}
	go func() {
		for sig := range signals {
			syscall.Kill(pid, sig.(syscall.Signal))
		}
	}()
	for {
		var ws syscall.WaitStatus
		done, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("netnslab: wait: %w", err)
		case done == pid:
			return waitStatus(ws), nil
		}
	}
}

// waitStatus is an exit status as a shell has it: 128 and the signal that ended the
// process.
func waitStatus(ws syscall.WaitStatus) int {
	if ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return ws.ExitStatus()
}

// outcome is the exit status of a command that has run, with this error of its own. An error of anything
// but its status, or the end of ctx, is returned; so is the end of ctx before the command began.
func outcome(ctx context.Context, cmd *exec.Cmd, err error) (int, error) {
	var exit *exec.ExitError
	if cmd.ProcessState == nil || err != nil && !errors.As(err, &exit) && !errors.Is(err, ctx.Err()) {
		return 0, err
	}
	return waitStatus(cmd.ProcessState.Sys().(syscall.WaitStatus)), nil
}

// rootlessSettings are the kernel's settings that can forbid a user namespace, and the
// value that does.
var rootlessSettings = []struct{ name, forbids, remedy string }{
	{"user.max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=10000"},
	{"kernel.unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"},
	{"kernel.apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
}

// rootlessObstacle is the setting that forbids a user namespace, with its remedy; nil
// if none does.
func rootlessObstacle() error {
	for _, s := range rootlessSettings {
		text, err := os.ReadFile(filepath.Join("/proc/sys", strings.ReplaceAll(s.name, ".", "/")))
		if err == nil && strings.TrimSpace(string(text)) == s.forbids {
			return fmt.Errorf("%s is %s; as root: `%s`", s.name, s.forbids, s.remedy)
		}
	}
	return nil
}

// checkRootless tries what [Rootless] needs: a mount in a user namespace.
func checkRootless() Check {
	c := Check{Name: "rootless", Remedy: "to play scenarios without root, let users make user namespaces"}
	if why := rootlessObstacle(); why != nil {
		return c.result(why, "")
	}
	cmd := exec.Command("mount", "-t", "tmpfs", "none", "/run")
	cmd.SysProcAttr = ownNamespaces(0)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("a mount in a user namespace: %w %s", err, strings.TrimSpace(string(out)))
	}
	return c.result(err, fmt.Sprintf("user %d can make a user namespace: lab run --rootless", os.Getuid()))
}
