package netnslab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"softswitch/internal/netspace"
	"softswitch/unit"
)

// Check is one requirement of a lab on the machine.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Needed: no lab works without it. Otherwise it is only recommended.
	Needed bool   `json:"needed"`
	Detail string `json:"detail"` // what was found
	// Remedy is what to do if not OK. Commands are in backquotes, ready to paste.
	Remedy string `json:"remedy,omitempty"`
}

// Checks are all that was looked at.
type Checks []Check

// Lacking reports whether something is missing without which no lab works.
func (all Checks) Lacking() bool {
	return slices.ContainsFunc(all, func(c Check) bool { return !c.OK && c.Needed })
}

// WriteText writes a line for each check, and one for each remedy.
func (all Checks) WriteText(w io.Writer) error {
	for _, c := range all {
		mark := "ok  "
		switch {
		case !c.OK && !c.Needed:
			mark = "note"
		case !c.OK:
			mark = "LACK"
		}
		if _, err := fmt.Fprintf(w, "%s  %-22s %s\n", mark, c.Name, c.Detail); err != nil {
			return err
		}
		if !c.OK && c.Remedy != "" {
			fmt.Fprintf(w, "      %-22s -> %s\n", "", c.Remedy)
		}
	}
	return nil
}

// Doctor examines the machine and returns its findings, always the same checks in the
// same order. It tries things out in a nameless namespace that ends with the trial.
func Doctor() Checks {
	checks := Checks{
		checkCapabilities(),
		checkVeth(),
		checkPacketRing(),
		checkNamespaceDir(),
		checkKernel(),
		checkBacklog(),
		checkCores(),
		checkMemory(),
		checkLabs(),
		checkRootless(),
	}
	for _, t := range []struct{ name, use, pkg string }{
		{"ip", "look into namespaces", "iproute2"},
		{"tcpdump", "see frames", "tcpdump"},
		{"tshark", "see PFC frames decoded, and the tests that compare decoders", "tshark"},
		{"ovs-vswitchd", "compare speed with Open vSwitch", "openvswitch-switch"},
	} {
		checks = append(checks, checkTool(t.name, t.use, t.pkg))
	}
	return checks
}

// result fills in a check from an error.
func (c Check) result(err error, detail string) Check {
	c.OK, c.Detail = err == nil, detail
	if err != nil {
		c.Detail = err.Error()
	} else {
		c.Remedy = ""
	}
	return c
}

// Allowed returns an error, which is fs.ErrPermission, if this process may not build a lab.
func Allowed() error {
	var status procfs.ProcStatus
	self, err := procfs.Self()
	if err == nil {
		status, err = self.NewStatus()
	}
	if err != nil {
		return err
	}
	var missing []string
	for _, want := range []struct {
		name string
		bit  uint
	}{{"CAP_NET_ADMIN", unix.CAP_NET_ADMIN}, {"CAP_NET_RAW", unix.CAP_NET_RAW}, {"CAP_SYS_ADMIN", unix.CAP_SYS_ADMIN}} {
		if status.CapEff&(1<<want.bit) == 0 {
			missing = append(missing, want.name)
		}
	}
	if missing == nil {
		return nil
	}
	return &lackError{os.Getuid(), missing}
}

// lackError is the fault of a user without capabilities.
type lackError struct {
	user    int
	missing []string
}

func (l *lackError) Error() string {
	return fmt.Sprintf("user %d lacks %s", l.user, strings.Join(l.missing, ", "))
}

func (l *lackError) Is(err error) bool { return err == fs.ErrPermission }

func checkCapabilities() Check {
	c := Check{Name: "capabilities", Needed: true, Remedy: "run with sudo, or play without root: `softswitch demo --rootless`"}
	return c.result(Allowed(), fmt.Sprintf("user %d has CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN", os.Getuid()))
}

// inThrowAway runs fn in a temporary namespace.
func inThrowAway(fn func() error) error {
	return netspace.Within(func() error { return os.NewSyscallError("unshare(CLONE_NEWNET)", unix.Unshare(unix.CLONE_NEWNET)) }, fn)
}

func checkVeth() Check {
	c := Check{Name: "veth", Needed: true, Remedy: "run with sudo; if that does not help: `modprobe veth`"}
	err := inThrowAway(func() error {
		nl, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return err
		}
		defer nl.Close()
		attrs := netlink.NewLinkAttrs()
		attrs.Name = "a"
		veth := netlink.NewVeth(attrs)
		veth.PeerName = "b"
		return nl.LinkAdd(veth)
	})
	return c.result(err, "a pair was made in a namespace of its own")
}

func checkPacketRing() Check {
	c := Check{Name: "packet ring", Needed: true, Remedy: "run with sudo; the kernel needs CONFIG_PACKET and CONFIG_PACKET_MMAP"}
	err := inThrowAway(func() error {
		s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return os.NewSyscallError("socket(AF_PACKET)", err)
		}
		defer unix.Close(s)
		if err := unix.SetsockoptInt(s, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2); err != nil {
			return os.NewSyscallError("setsockopt(PACKET_VERSION, TPACKET_V2)", err)
		}
		page := os.Getpagesize()
		ring := unix.TpacketReq{Block_size: uint32(page), Block_nr: 1, Frame_size: uint32(page), Frame_nr: 1}
		if err := unix.SetsockoptTpacketReq(s, unix.SOL_PACKET, unix.PACKET_RX_RING, &ring); err != nil {
			return os.NewSyscallError("setsockopt(PACKET_RX_RING)", err)
		}
		mem, err := unix.Mmap(s, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return os.NewSyscallError("mmap(PACKET_RX_RING)", err)
		}
		return unix.Munmap(mem)
	})
	return c.result(err, "AF_PACKET with TPACKET_V2")
}

func checkNamespaceDir() Check {
	c := Check{Name: "namespace directory", Needed: true, Remedy: "as root, on a writable file system: `mkdir -p " + NamespaceDir + "`"}
	dir := NamespaceDir
	if !exists(dir) {
		dir = filepath.Dir(dir)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return c.result(fmt.Errorf("%s cannot be written: %w", dir, err), "")
	}
	names, err := filepath.Glob(filepath.Join(NamespaceDir, "*"))
	return c.result(err, fmt.Sprintf("%s can be written and holds %s", dir, unit.Count(len(names), "namespace")))
}

// checkKernel warns of kernels whose veth can stop a transmit queue for ever, which
// looks like a deadlock of the fabric. The race needs GRO or a qdisc on the veth;
// the lab has neither, but a user may add one.
func checkKernel() Check {
	c := Check{Name: "kernel", Remedy: "use Linux 6.18 or a stable release with commit 5442a9da6978; meanwhile neither switch on GRO nor add a qdisc in the lab"}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return c.result(err, "")
	}
	release := unix.ByteSliceToString(name.Release[:])
	if hasVethRace(release) {
		return c.result(fmt.Errorf("a veth with GRO or a qdisc can stop for ever in Linux %s", release), "")
	}
	return c.result(nil, "Linux "+release)
}

// hasVethRace tells whether the release is 6.16 or 6.17.
func hasVethRace(release string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor)
	return n == 2 && major == 6 && (minor == 16 || minor == 17)
}

func checkBacklog() Check {
	c := Check{Name: "backlog", Remedy: fmt.Sprintf("as root: `sysctl -w net.core.netdev_max_backlog=%d`", DefaultBacklog)}
	now, err := readBacklog()
	if err != nil {
		return c.result(fmt.Errorf("a lab cannot raise it, bursts may be lost: %w", err), "")
	}
	if err := unix.Access(backlogPath, unix.W_OK); err != nil && now < DefaultBacklog {
		return c.result(fmt.Errorf("%d frames, and a lab cannot raise it: %w", now, err), "")
	}
	drops, err := Softnet()
	if err != nil {
		return c.result(err, "")
	}
	return c.result(nil, fmt.Sprintf("%s a CPU, a lab raises it to %d; %s lost since boot", unit.Count(now, "frame"), max(now, DefaultBacklog), unit.Count(drops, "frame")))
}

func checkCores() Check {
	c := Check{Name: "cores", Remedy: "give the machine 2 cores or more: with one, every hop waits for every other"}
	var err error
	n := runtime.NumCPU()
	if n < 2 {
		err = errors.New("1 core, of which --poll would leave none")
	}
	return c.result(err, fmt.Sprintf("%d, which all nodes of a lab share in one process; --poll leaves %d", n, n-1))
}

func checkMemory() Check {
	const wantMiB = 1024 // 36 nodes of k=4 take 300 MiB in one process, and 640 with a process each
	c := Check{Name: "memory", Remedy: fmt.Sprintf("leave %d MiB free for a fat-tree of 36 nodes", wantMiB)}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return c.result(err, "")
	}
	memory, err := proc.Meminfo()
	if err == nil && memory.MemAvailable == nil {
		err = errors.New("/proc/meminfo has no MemAvailable")
	}
	if err != nil {
		return c.result(err, "")
	}
	kib := *memory.MemAvailable
	if kib < wantMiB<<10 {
		return c.result(fmt.Errorf("%d MiB available", kib>>10), "")
	}
	return c.result(nil, fmt.Sprintf("%d MiB available", kib>>10))
}

// checkLabs reports incomplete labs: killed while being made, with dead processes, or
// of an earlier boot.
func checkLabs() Check {
	c := Check{Name: "labs", Remedy: "give " + RunDirVariable + " a directory that can be read"}
	names, err := Labs()
	if err != nil {
		return c.result(err, "")
	}
	var broken, remedies []string
	hidden := 0
	for _, name := range names {
		st, err := Load(name)
		if err != nil {
			broken, remedies = append(broken, err.Error()), append(remedies, "`softswitch lab destroy --lost "+name+"`")
			continue
		}
		switch err := st.Problem(); {
		case errors.Is(err, fs.ErrPermission):
			hidden++
		case err != nil:
			broken, remedies = append(broken, fmt.Sprintf("%s (%v)", name, err)), append(remedies, "`softswitch lab destroy "+name+"`")
		}
	}
	if broken != nil {
		c.Remedy = "remove it with " + strings.Join(remedies, ", ")
		return c.result(fmt.Errorf("left over: %s", strings.Join(broken, "; ")), "")
	}
	if hidden > 0 {
		c.Remedy = "run with sudo"
		return c.result(fmt.Errorf("%d of %d may not be looked into", hidden, len(names)), "")
	}
	return c.result(nil, fmt.Sprintf("%d up, none left over", len(names)))
}

func checkTool(name, use, pkg string) Check {
	c := Check{Name: name, Remedy: "to " + use + ", on Debian: `apt-get install " + pkg + "`"}
	path, err := exec.LookPath(name)
	if err != nil {
		return c.result(errors.New("not found"), "")
	}
	return c.result(nil, path)
}
