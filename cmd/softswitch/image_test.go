package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"softswitch/internal/testnetns"
)

// docker is an image of the bed's own, which goes with the test.
type docker struct {
	*bed
	image string
}

func newImage(t *testing.T) *docker {
	b := newBed(t)
	if out, err := exec.Command("docker", "version").CombinedOutput(); err != nil {
		t.Skipf("docker version: %v: %s", err, out)
	}
	if _, err := exec.LookPath("busybox"); err != nil {
		t.Skip("there is no busybox (Debian: busybox-static)")
	}
	d := &docker{b, "softswitch-test-" + b.name}
	script := b.program("../../scripts/image.sh", d.image)
	script.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/local/go/bin")
	if r := b.run(script); r.code != 0 {
		t.Fatalf("exit status %d", r.code)
	}
	t.Cleanup(func() {
		tags := d.docker("images", "--format", "{{.Repository}}:{{.Tag}}", d.image)
		d.docker(append([]string{"rmi", "--force"}, strings.Fields(tags)...)...)
	})
	return d
}

// docker runs a command of Docker, which has to succeed.
func (d *docker) docker(args ...string) string {
	d.Helper()
	r := d.run(d.program("docker", args...))
	if r.code != 0 {
		d.Fatalf("docker %s: exit status %d", strings.Join(args, " "), r.code)
	}
	return r.stdout
}

// TestImage: what is simulated in a container is what is simulated beside it, there is a
// shell, and the image says what it is.
func TestImage(t *testing.T) {
	d := newImage(t)
	const file = "scenarios/fattree-on-loop.yaml"
	in := d.docker("run", "--rm", "--network", "none", d.image, "sim", "run", file, "--json")
	sim := d.command("sim", "run", file, "--json")
	sim.Dir = filepath.Join("..", "..")
	if out := d.run(sim).stdout; in != out || in == "" {
		t.Errorf("in the container: %s\nbeside it: %s", in, out)
	}
	if out := d.docker("run", "--rm", "--network", "none", "--entrypoint", "sh", d.image, "-c", "ls /share/softswitch | grep itsy; ls /scenarios/rdma | wc -l"); out != "itsy.lua\n6\n" {
		t.Errorf("a shell finds %q", out)
	}
	if label := d.docker("image", "inspect", "-f", `{{index .Config.Labels "org.opencontainers.image.version"}}`, d.image); strings.TrimSpace(label) == "" {
		t.Error("the image does not tell its version")
	}
}

// TestContainer: a switch in a container without a network of its own gets its ports after it
// has started, and programs on both sides of it reach each other.
func TestContainer(t *testing.T) {
	d := newImage(t)
	name := d.image + "-s"
	d.docker("run", "--detach", "--name", name, "--network", "none",
		"--cap-drop", "ALL", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW",
		d.image, "run", "--wait", "60s", "p1", "p2")
	t.Cleanup(func() { d.docker("rm", "--force", name) })
	pid, err := strconv.Atoi(strings.TrimSpace(d.docker("inspect", "-f", "{{.State.Pid}}", name)))
	if err != nil {
		t.Fatal(err)
	}
	a, b := testnetns.New(t), testnetns.New(t)
	join(t, a, "10.77.0.1/24", "p1", pid)
	join(t, b, "10.77.0.2/24", "p2", pid)
	if err := a.Do(func() error {
		if r := d.run(d.program("ping", "-c", "3", "-i", "0.2", "-W", "10", "10.77.0.2")); r.code != 0 {
			t.Errorf("ping through the container: exit status %d", r.code)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if out := d.docker("exec", name, "softswitch", "--version"); !strings.HasPrefix(out, "softswitch ") {
		t.Errorf("the switch's container says %q", out)
	}
}

// join joins a namespace, in which the interface gets an address, with a process's.
func join(t *testing.T, n *testnetns.Namespace, address, far string, pid int) {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "eth0"
	if err := n.NL.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: far, PeerNamespace: netlink.NsPid(pid)}); err != nil {
		t.Fatal(err)
	}
	in, err := netns.GetFromPid(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	there, err := netlink.NewHandleAt(in)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	l, err := there.LinkByName(far)
	if err == nil {
		err = there.LinkSetUp(l)
	}
	if err != nil {
		t.Fatal(err)
	}
	addr, err := netlink.ParseAddr(address)
	if err == nil {
		err = n.NL.AddrAdd(n.Link("eth0"), addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.SetUp("eth0")
	n.AwaitRunning("eth0")
}
