package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"softswitch/conform"
	"softswitch/lab"
	netnslab "softswitch/netns-lab"
)

// ConformDUTs are the switches that ConformLab can put into a namespace, the first the usual one.
var ConformDUTs = []string{"softswitch", "bridge", "ovs"}

// Nodes of the lab of ConformLab, and files in them.
const (
	conformNodeDUT    = "dut"
	conformNodeTester = "tester"
	conformConfig     = "config.yaml"
	conformProfile    = "profile.yaml"
	conformReady      = "ready"
)

// ConformWhileStdin is the flag of conform run with which it ends when its standard input does.
const ConformWhileStdin = "while-stdin"

// ConformLabOptions are the settings of a test in namespaces.
type ConformLabOptions struct {
	Name string   // of the lab
	DUT  string   // one of ConformDUTs
	Args []string // of conform run, besides the profile
}

// ConformLab puts a switch into a namespace, and tests it from another one with conform run, whose exit
// code it returns. Then both are removed.
func ConformLab(ctx context.Context, opt ConformLabOptions, stdio netnslab.Stdio) (code int, err error) {
	desc, err := describeConform(opt)
	if err != nil {
		return 0, err
	}
	st, err := netnslab.Up(ctx, desc, stdio.Err)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, st.Remove(stdio.Err)) }()
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	in, held, err := os.Pipe() // which the tester reads to its end: so it does not outlive this program
	if err != nil {
		return 0, err
	}
	defer in.Close()
	defer held.Close()
	stdio.In = in
	profile := filepath.Join(netnslab.Dir(desc.Name), conformNodeTester, conformProfile)
	counters := "counters=" // others have none that are read
	if opt.DUT == ConformDUTs[0] {
		counters = "counters.socket=" + filepath.Join(netnslab.Dir(desc.Name), conformNodeDUT, lab.ControlName)
	}
	return st.Exec(ctx, conformNodeTester, slices.Concat([]string{
		program, "conform", "run", profile, "--" + ConformWhileStdin, "--set", counters,
	}, opt.Args), stdio)
}

// describeConform describes the lab: the profile of softswitch's own switch, with interfaces.
func describeConform(opt ConformLabOptions) (desc netnslab.Lab, err error) {
	p := ConformSelf()
	dut, err := conformDUTNode(opt.DUT, p)
	if err != nil {
		return desc, err
	}
	desc = netnslab.Lab{
		Name: opt.Name, Passing: true,
		Nodes: []netnslab.Node{dut, {Name: conformNodeTester, Kind: "host", Files: []netnslab.File{{Path: conformProfile, Data: conformSelf}}}},
	}
	for i, q := range p.Ports {
		desc.Links = append(desc.Links, netnslab.Link{
			A:   netnslab.End{Node: conformNodeTester, Iface: q.Interface, MAC: (conform.StationMAC(i) ^ 0x0800_0000_0000).String()},
			B:   netnslab.End{Node: conformNodeDUT, Iface: dutPort(q), MAC: lab.InterfaceMAC(q.MAC).String()},
			MTU: max(p.MTU, 1500),
		})
	}
	return desc, nil
}

// conformDUTNode is a switch of this kind, whose interfaces are called as the profile's ports.
func conformDUTNode(kind string, p *conform.Profile) (n netnslab.Node, err error) {
	n = netnslab.Node{Name: conformNodeDUT, Kind: "switch", Realtime: true, Ready: conformReady}
	var names []string
	for _, q := range p.Ports {
		names = append(names, dutPort(q))
	}
	switch kind {
	case "softswitch":
		program, err := os.Executable()
		if err != nil {
			return n, err
		}
		s := ConformSwitch(p)
		s.Live.Control, n.Ready = lab.ControlName, lab.ControlName
		n.Command = []string{program, "run", "-c", conformConfig}
		n.Files = []netnslab.File{{Path: conformConfig, Data: s.Marshal()}}
	case "bridge":
		n.Command = shell("ip link add br0 type bridge forward_delay 0 && ip link set br0 up && for i in %s; do ip link set dev $i master br0 || exit 1; done; touch %s; exec sleep infinity", strings.Join(names, " "), conformReady)
	case "ovs":
		n.Command = shell(`export OVS_RUNDIR=$PWD OVS_LOGDIR=$PWD OVS_DBDIR=$PWD OVS_SYSCONFDIR=$PWD
ovsdb-tool create conf.db /usr/share/openvswitch/vswitch.ovsschema &&
ovsdb-server conf.db --remote=punix:db.sock --unixctl=$PWD/db.ctl --detach &&
ovs-vsctl --db=unix:db.sock --no-wait -- init -- add-br br0 -- set bridge br0 datapath_type=netdev fail-mode=standalone &&
for i in %s; do ovs-vsctl --db=unix:db.sock --no-wait add-port br0 $i || exit 1; done
ovs-vswitchd unix:db.sock --unixctl=$PWD/vswitchd.ctl --detach && touch %s && exec sleep infinity`, strings.Join(names, " "), conformReady)
	default:
		return n, fmt.Errorf("%q is no switch that a test can make; use %s", kind, strings.Join(ConformDUTs, ", "))
	}
	return n, nil
}

func shell(script string, args ...any) []string {
	return []string{"sh", "-c", fmt.Sprintf(script, args...)}
}
