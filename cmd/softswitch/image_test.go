package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"softswitch/internal/testkit"
	"softswitch/oracle/verdict"
)

// docker is an image of the bed's own, which goes with the test.
type docker struct {
	*bed
	image string
}

func newImage(t *testing.T) *docker {
	b := newBigBed(t, "docker", "busybox", "go")
	if out, err := exec.Command("docker", "version").CombinedOutput(); err != nil {
		t.Skipf("docker version: %v: %s", err, out)
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

// TestImage builds an image and uses it.
func TestImage(t *testing.T) {
	d := newImage(t)
	for name, use := range map[string]func(*docker){"simulation": (*docker).simulates, "switch": (*docker).switches, "exported lab": (*docker).playsExported} {
		t.Run(name, func(t *testing.T) {
			part := *d.bed
			part.T = t
			use(&docker{&part, d.image})
		})
	}
}

// simulates: what is simulated in a container is what is simulated beside it, there is a
// shell, and the image says what it is.
func (d *docker) simulates() {
	const file = "scenarios/fattree-on-loop.yaml"
	in := d.docker("run", "--rm", "--network", "none", d.image, "sim", "run", file, "--json")
	sim := d.command("sim", "run", file, "--json")
	sim.Dir = filepath.Join("..", "..")
	if out := d.run(sim).stdout; in != out || in == "" {
		d.Errorf("in the container: %s\nbeside it: %s", in, out)
	}
	if out := d.docker("run", "--rm", "--network", "none", "--entrypoint", "sh", d.image, "-c", "ls /share/softswitch | grep itsy; ls /scenarios/rdma | wc -l"); out != "itsy.lua\n9\n" {
		d.Errorf("a shell finds %q", out)
	}
	if label := d.docker("image", "inspect", "-f", `{{index .Config.Labels "org.opencontainers.image.version"}}`, d.image); strings.TrimSpace(label) == "" {
		d.Error("the image does not tell its version")
	}
}

// switches: a switch in a container without a network of its own gets its ports after it
// has started, and programs on both sides of it reach each other.
func (d *docker) switches() {
	t := d.T
	name := d.image + "-s"
	d.docker("run", "--detach", "--name", name, "--network", "none",
		"--cap-drop", "ALL", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW",
		d.image, "run", "--wait", "60s", "p1", "p2")
	t.Cleanup(func() { d.docker("rm", "--force", name) })
	pid, err := strconv.Atoi(strings.TrimSpace(d.docker("inspect", "-f", "{{.State.Pid}}", name)))
	if err != nil {
		t.Fatal(err)
	}
	a, b := testkit.NewNamespace(t), testkit.NewNamespace(t)
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

// playsExported: a lab that was exported for two machines, built as containerlab does, with
// two namespaces for machines: its list of nodes plays the scenario, pauses cross the VXLAN
// link between the machines, and tshark sees them there as PFC.
func (d *docker) playsExported() {
	t := d.T
	dir := filepath.Join(t.TempDir(), "clab")
	export := d.command("lab", "export", "../../scenarios/pause.yaml", "--name", d.image, "--containerlab", dir,
		"--image", d.image, "--machines", "a=192.0.2.1,b=192.0.2.2", "--underlay-mtu", "1550")
	if r := d.run(export); r.code != 0 {
		t.Fatalf("exit status %d", r.code)
	}
	files, err := testkit.ReadClab(dir)
	if err == nil {
		err = testkit.CheckClab(files)
	}
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	machines := []*testkit.Namespace{testkit.NewNamespace(t), testkit.NewNamespace(t)}
	machines[0].Veth("underlay", machines[1], "underlay")
	pids := map[string]int{}
	for i, f := range files {
		m := machines[i]
		under := m.Link("underlay")
		addr, err := netlink.ParseAddr(fmt.Sprintf("192.0.2.%d/24", i+1))
		if err == nil {
			err = errors.Join(m.NL.LinkSetMTU(under, 1550), m.NL.AddrAdd(under, addr))
		}
		if err != nil {
			t.Fatal(err)
		}
		m.SetUp("underlay")
		for name, n := range f.Topology.Nodes {
			pids[name] = d.contain(f, name, n)
		}
	}
	for i, f := range files {
		for _, l := range f.Topology.Links {
			d.connect(machines[i], pids, l)
		}
	}
	// By a veth to a container of the same machine, and by VXLAN to the other machine. Of priority 3: what
	// begins resumes all lossless priorities.
	dumps := map[string]*started{}
	for _, port := range []string{"to-h1", "to-s2"} {
		file := filepath.Join(t.TempDir(), port+".pcap")
		dumps[file] = d.start(d.program("nsenter", "-t", fmt.Sprint(pids["s1"]), "-n", "tcpdump", "-n", "-i", port, "-c", "10", "-w", file, "ether proto 0x8808 and ether[17] = 1 << 3"))
		dumps[file].await("listening on")
	}
	// Both machines are this one.
	list := filepath.Join(dir, "nodes.yaml")
	text, err := os.ReadFile(list)
	if err == nil {
		err = os.WriteFile(list, bytes.ReplaceAll(text, []byte("ssh 192.0.2.2 "), nil), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := d.run(d.command("lab", "run", "--attach", list, "--json"))
	var v verdict.Verdict
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || len(v.Flows) != 1 || v.Flows[0].Received == 0 || v.Deadlock {
		t.Errorf("exit status %d: %v: %+v", r.code, err, v)
	}
	for file, dump := range dumps {
		if r := dump.end(); r.code != 0 {
			t.Fatalf("tcpdump: exit status %d", r.code)
		}
		pauses := testkit.Tshark(t, file, "-T", "fields", "-e", "macc.opcode", "-e", "macc.cbfc.enbv.c3", "-e", "_ws.malformed")
		for _, line := range pauses {
			if line != "0x0101\t1\t" && line != "0x0101\tTrue\t" {
				t.Errorf("%s: tshark sees %q", file, line)
			}
		}
		in := d.docker("run", "--rm", "--network", "none", "--volume", file+":/pauses.pcap:ro", d.image, "decode", "/pauses.pcap")
		if len(pauses) != 10 || strings.Count(in, "PFC") < 10 {
			t.Errorf("%s: %d pauses; a container decodes\n%s", file, len(pauses), in)
		}
	}
}

// contain starts a node's container, as containerlab does, and returns its process.
func (d *docker) contain(f *testkit.ClabFile, name string, n testkit.ClabNode) int {
	d.Helper()
	all := f.Topology.Defaults
	container := "clab-" + f.Name + "-" + name
	args := []string{"run", "--detach", "--name", container, "--network", all.NetworkMode, "--restart", all.RestartPolicy, "--pull", strings.ToLower(all.ImagePullPolicy), "--cap-drop", "ALL"}
	for _, c := range all.CapAdd {
		args = append(args, "--cap-add", c)
	}
	for key, value := range all.Env {
		args = append(args, "--env", key+"="+value)
	}
	for _, b := range n.Binds {
		args = append(args, "--volume", filepath.Join(filepath.Dir(f.Path), b))
	}
	d.docker(append(append(args, all.Image), strings.Fields(n.Cmd)...)...)
	d.Cleanup(func() { d.docker("rm", "--force", container) })
	pid, err := strconv.Atoi(strings.TrimSpace(d.docker("inspect", "-f", "{{.State.Pid}}", container)))
	if err != nil {
		d.Fatal(err)
	}
	return pid
}

// connect makes a link of a machine, as containerlab does: in the machine's namespace, and
// then its ends are moved into the containers.
func (d *docker) connect(m *testkit.Namespace, pids map[string]int, l testkit.ClabLink) {
	d.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU = "end0", l.MTU
	ends := l.Endpoints
	var made netlink.Link
	switch l.Type {
	case "veth":
		made = &netlink.Veth{LinkAttrs: attrs, PeerName: "end1"}
	case "vxlan":
		ends = []testkit.ClabEndpoint{l.Endpoint}
		made = &netlink.Vxlan{
			LinkAttrs: attrs, VxlanId: l.VNI, VtepDevIndex: m.Link("underlay").Attrs().Index, Group: net.ParseIP(l.Remote),
			Port: l.DstPort, PortLow: l.SrcPort, PortHigh: l.SrcPort + 1, Learning: true,
		}
	}
	if err := m.NL.LinkAdd(made); err != nil {
		d.Fatal(err)
	}
	for i, e := range ends {
		mac, err := net.ParseMAC(e.MAC)
		if err != nil {
			d.Fatal(err)
		}
		end := m.Link(fmt.Sprint("end", i))
		err = errors.Join(m.NL.LinkSetHardwareAddr(end, mac), m.NL.LinkSetNsPid(end, pids[e.Node]))
		if err != nil {
			d.Fatal(err)
		}
		there := linksOf(d.T, pids[e.Node])
		moved, err := there.LinkByName(end.Attrs().Name)
		if err == nil {
			err = errors.Join(there.LinkSetName(moved, e.Interface), there.LinkSetUp(moved))
		}
		if err != nil {
			d.Fatal(err)
		}
	}
}

// linksOf handles the links in the network namespace of a process.
func linksOf(t *testing.T, pid int) *netlink.Handle {
	t.Helper()
	ns, err := netns.GetFromPid(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	nl, err := netlink.NewHandleAt(ns)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nl.Close)
	return nl
}

// join joins a namespace, in which the interface gets an address and an index that the far end
// has not, with a process's.
func join(t *testing.T, n *testkit.Namespace, address, far string, pid int) {
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Index = "eth0", 10_000
	if err := n.NL.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: far, PeerNamespace: netlink.NsPid(pid)}); err != nil {
		t.Fatal(err)
	}
	there := linksOf(t, pid)
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
