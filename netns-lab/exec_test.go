package netnslab

import (
	"bufio"
	"fmt"
	"os/exec"
	"testing"
)

// TestTokenDuringExec: a process that runs one program after another bears its mark at any moment.
func TestTokenDuringExec(t *testing.T) {
	const again = `n=$0; [ "$n" -gt 0 ] && exec sh -c "$1" $((n-1)) "$1"; echo; read end; exit 0`
	cmd := exec.Command("sh", "-c", again, "400", again)
	cmd.Env = []string{markVariable + "=mark"}
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
	done := make(chan struct{})
	go func() {
		defer close(done)
		bufio.NewReader(out).ReadString('\n')
	}()
	looks := 0
	for proc := fmt.Sprintf("/proc/%d", cmd.Process.Pid); ; looks++ {
		if got := tokenOf(proc); got != "mark" {
			t.Fatalf("look %d: token %q", looks, got)
		}
		select {
		case <-done:
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}
