package netnslab

import (
	"bufio"
	"os/exec"
	"testing"

	"softswitch/internal/testkit"
)

// TestNoToken: a record without a token names no process, least of all those without a mark.
func TestNoToken(t *testing.T) {
	testkit.Need(t, "sleep")
	sleep := exec.Command("sleep", "infinity")
	sleep.Env = []string{"A=B"}
	must(t, sleep.Start())
	defer sleep.Wait()
	defer sleep.Process.Kill()
	if p := (process{PID: sleep.Process.Pid}); p.carries("") {
		t.Error("a process without a mark carries an empty token")
	}
}

// TestTokenDuringExec: a process that runs one program after another bears its mark at any moment.
func TestTokenDuringExec(t *testing.T) {
	testkit.Need(t, "sh")
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
	for p := (process{PID: cmd.Process.Pid}); ; looks++ {
		if !p.carries("mark") {
			t.Fatalf("look %d: it does not", looks)
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
