package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"softswitch/internal/safefile"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
	"softswitch/node/config"
)

// folder is that of a guest in the host's run directory.
var folder = filepath.Dir(netnslab.ConsoleLog)

// ports is how many commands a guest runs at a time.
const ports = 8

// memory of a guest, in MiB. It uses some 60; the rest is for the buffers of its programs.
const memory = 256

// qemu is the program that is a guest's machine, and the package that has it.
const (
	qemu        = "qemu-system-x86_64"
	qemuPackage = "qemu-system-x86"
)

// Check returns why no guest can be started on this machine, nil if one can.
func Check() error {
	if _, err := exec.LookPath(qemu); err != nil {
		return fmt.Errorf("guest: no %s; install it, on Debian with `apt-get install --no-install-recommends %s`", qemu, qemuPackage)
	}
	return nil
}

// accelerator is what QEMU is to run guests by: kvm, on the processor itself, or tcg, on an emulated one.
// A virtual machine may have a /dev/kvm that starts guests and runs none: its processor lacks the flags.
func accelerator() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err == nil && virtualization.Match(info) && unix.Access("/dev/kvm", unix.R_OK|unix.W_OK) == nil {
		return "kvm"
	}
	return "tcg"
}

// virtualization finds the flag of a processor that runs guests: Intel's or AMD's.
var virtualization = regexp.MustCompile(`(?m)^flags\b.*\b(vmx|svm)\b`)

// Start boots a guest on each of these hosts of a lab that is up, which must have NICs for programs, unless
// it has one, and returns when all of them answer. It builds what they boot from where that is missing.
// progress gets a few lines. If ctx ends, the guests go on booting.
func Start(ctx context.Context, st *netnslab.State, hosts []netnslab.NodeState, progress io.Writer) error {
	if err := Check(); err != nil {
		return err
	}
	if err := Ensure(ctx, progress); err != nil {
		return err
	}
	up, err := st.Launched(folder)
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	began := time.Now()
	var all errgroup.Group
	for _, host := range hosts {
		if !slices.ContainsFunc(up, func(n netnslab.NodeState) bool { return n.Name == host.Name }) {
			if err := launch(st, host); err != nil {
				return err
			}
		}
		all.Go(func() error {
			if _, err := Exec(ctx, st, host, []string{"true"}, io.Discard); err != nil {
				return err
			}
			fmt.Fprintf(progress, "guest %s is up after %.1f s\n", host.Name, time.Since(began).Seconds())
			return nil
		})
	}
	return all.Wait()
}

// launch starts the guest's machine.
func launch(st *netnslab.State, host netnslab.NodeState) error {
	data, err := safefile.Read(lab.ConfigPath(host), 1<<20)
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	cfg, err := config.LoadNIC(host.Name, data)
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	return st.Launch(netnslab.Program{Node: host.Name, Name: folder, Command: command(cfg), SetUp: func(dir string) error {
		for i := range ports {
			for _, end := range []string{".in", ".out"} {
				if err := unix.Mkfifo(filepath.Join(dir, port(i)+end), 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
					return err
				}
			}
		}
		return wire(cfg)
	}})
}

// port is the name of a guest's port.
func port(i int) string { return fmt.Sprintf("port%d", i) }

// command is QEMU's argv for the guest of a host. It starts in the guest's folder. Without no_timer_check
// the kernel, which counts ticks of a timer against a loop, panics now and then where the host is busy:
// "IO-APIC + timer doesn't work!" (arch/x86/kernel/apic/io_apic.c).
func command(h config.Host) []string {
	tos := 0
	if lossless := h.PFC.LosslessAt(h.Port); len(lossless) > 0 {
		tos = 4 * (8*lossless[0] + 2) // DSCP 26 for priority 3
	}
	argv := []string{
		qemu, "-name", h.Name, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-machine", "pc", "-accel", accelerator(), "-cpu", "max", "-smp", "1", "-m", fmt.Sprint(memory),
		"-kernel", filepath.Join(Dir, kernelFile), "-initrd", filepath.Join(Dir, initramfsFile),
		"-append", fmt.Sprintf("console=ttyS0 quiet mitigations=off nokaslr no_timer_check panic=-1 rdinit=/init ports=%d guest=%s net=%v,%v,%d,%d", ports, h.Name, h.Address, h.Gateway, h.MTU, tos),
		"-netdev", "tap,id=net,ifname=" + tapName + ",script=no,downscript=no,vnet_hdr=off",
		"-device", fmt.Sprintf("virtio-net-pci,netdev=net,mac=%v,romfile=", h.Port.MAC),
		"-chardev", "socket,id=console,path=" + consoleSocket + ",server=on,wait=off,logfile=" + consoleLog, "-serial", "chardev:console",
		"-device", "virtio-serial-pci,max_ports=16",
	}
	for i := range ports {
		argv = append(argv, "-chardev", fmt.Sprintf("pipe,id=%[1]s,path=%[1]s", port(i)), "-device", "virtserialport,chardev="+port(i))
	}
	return argv
}

// Stop ends the guest of a host. It is an error if there is none, and one was wanted.
func Stop(st *netnslab.State, host netnslab.NodeState, wanted bool) error {
	switch was, err := st.End(host.Name, folder); {
	case err != nil:
		return fmt.Errorf("guest %s: %w", host.Name, err)
	case !was && wanted:
		return fmt.Errorf("guest %s: %w", host.Name, errNone)
	}
	return nil
}
