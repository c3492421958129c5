package live

import (
	"path/filepath"
	"syscall"
	"testing"

	"softswitch/link"
)

// The program records itself on real interfaces, and replays what it recorded.
func TestRunRecords(t *testing.T) {
	l := newLab(t)
	file := filepath.Join(l.dir, "s.rec")
	p := l.run("run", "--record", file, "p0", "p1")
	fars := [2]link.Link{l.openFar(0), l.openFar(1)}
	l.wantForwarding(fars, 0, 1)
	l.wantForwarding(fars, 1, 2)
	l.out.SetDown("f1")
	l.out.SetUp("f1")
	l.wantForwarding(fars, 0, 3)
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code, said := p.exit(); code != 0 {
		t.Fatalf("exit status %d: %s", code, said)
	}
	if code, said := l.run("replay", file).exit(); code != 0 {
		t.Errorf("replay: exit status %d: %s", code, said)
	} else {
		t.Log(said)
	}
}
