package node

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"softswitch/live"
)

// claimVariable makes this test binary hold a name until its input ends.
const claimVariable = "NODE_TEST_CLAIM"

func TestMain(m *testing.M) {
	if claim := os.Getenv(claimVariable); claim != "" {
		if _, err := net.Listen("unix", claim); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		bufio.NewReader(os.Stdin).ReadByte()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// hold has a process, of this user or of another, hold the claim on an interface, and returns
// its pid.
func hold(t *testing.T, iface string, user *syscall.Credential) int {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), claimVariable+"=@softswitch/port/"+iface)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "held\n" {
		t.Fatalf("%q, %v", said, err)
	}
	return cmd.Process.Pid
}

// Whoever has the claim on an interface, it is said who: another switch, or somebody who keeps
// switches from it, as any user of the machine can.
func TestClaimedBy(t *testing.T) {
	claim := func(iface string) error { return (&runner{ports: []live.Port{{Name: iface}}}).claimPorts() }
	hold(t, "test-claim-own", nil)
	if err := claim("test-claim-own"); err == nil || err.Error() != "port test-claim-own: another softswitch runs on this interface" {
		t.Errorf("a switch of this user: %v", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("has another user hold a claim: needs root")
	}
	pid := hold(t, "test-claim-other", &syscall.Credential{Uid: 65534, Gid: 65534})
	want := fmt.Sprintf("port test-claim-other: process %d of user 65534 keeps softswitch from this interface", pid)
	if err := claim("test-claim-other"); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
