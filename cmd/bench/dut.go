package main

import (
	"fmt"
	"os/exec"
	"strconv"
)

// dut is a device under test: a program that forwards from p0 to p1.
type dut struct {
	name string
	// find returns why the program is not available, nil if it is.
	find func() error
	// start starts it in the bed's dut namespace on one processor. dir is for its
	// files. It returns the started processes even if it fails.
	start func(b *bed, cpu int, dir string) ([]*child, error)
	// ours says that the device is part of this repository: its failure is an error. Another
	// device that fails is left out.
	ours bool
}

// Names of the devices under test.
const (
	Softswitch = "softswitch"
	Relay      = "relay"
	OVS        = "ovs"
	Testpmd    = "testpmd"
)

// duts returns the devices in the order of a round. softswitch and self are the paths of that program
// and of this one.
func duts(softswitch, self string) []dut {
	none := func() error { return nil }
	return []dut{
		{Softswitch, none, ourProgram(softswitch, Softswitch, "run", "p0", "p1"), true},
		{OVS, findOVS, startOVS, false},
		{Relay, none, ourProgram(self, Relay, "relay", "p0", "p1"), true},
		{Testpmd, findTestpmd, startTestpmd, false},
	}
}

// oneThread is the environment of the nodes of a lab.
var oneThread = []string{"GOMAXPROCS=1"}

func ourProgram(program, name string, args ...string) func(*bed, int, string) ([]*child, error) {
	return func(b *bed, cpu int, dir string) ([]*child, error) {
		return startAll(launch{room: b.dut, cpu: cpu, dir: dir, name: name, argv: append([]string{program}, args...)})
	}
}

// startAll starts one program.
func startAll(l launch) ([]*child, error) {
	c, err := start(l)
	if err != nil {
		return nil, err
	}
	return []*child{c}, nil
}

// findPrograms returns an error that names a program missing from PATH, or nil.
func findPrograms(pkg string, names ...string) error {
	for _, n := range names {
		if _, err := exec.LookPath(n); err != nil {
			return fmt.Errorf("%s is not installed (Debian: %s)", n, pkg)
		}
	}
	return nil
}

func findTestpmd() error { return findPrograms("dpdk-dev", "dpdk-testpmd") }

// startTestpmd starts DPDK's testpmd: a thread that moves bursts from port to port
// and never sleeps, over packet sockets, without huge pages. Its second thread waits
// for its standard input to end.
func startTestpmd(b *bed, cpu int, dir string) ([]*child, error) {
	return startAll(launch{
		room: b.dut, cpu: cpu, dir: dir, name: Testpmd,
		argv: []string{
			"dpdk-testpmd", "--lcores=(0-1)@" + strconv.Itoa(cpu), "--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--file-prefix=bench",
			"--vdev=net_af_packet0,iface=p0,qdisc_bypass=1", "--vdev=net_af_packet1,iface=p1,qdisc_bypass=1",
			"--", "--forward-mode=io", "--total-num-mbufs=16384", "--no-lsc-interrupt",
		},
		env: []string{"RUNTIME_DIRECTORY=" + dir},
	})
}
