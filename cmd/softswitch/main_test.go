package main

import (
	"bytes"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/rogpeppe/go-internal/testscript"

	"softswitch/cmd/softswitch/cli"
	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	netnslab "softswitch/netns-lab"
	"softswitch/pfcframe"
	"softswitch/scenarios"
	"softswitch/unit"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files of testdata/script, and what the guides show, anew")

// nobody is a user without rights.
const nobody = 65534

// TestMain makes the test binary serve as softswitch, in PATH, and as one without
// rights.
func TestMain(m *testing.M) {
	testscript.Main(sideBySide{m}, map[string]func(){
		"softswitch":              main,
		"softswitch-unprivileged": unprivileged,
	})
}

// sideBySide lets as many tests be at work as there are seats for labs, which wait most of the time:
// go test counts processors.
type sideBySide struct{ *testing.M }

func (m sideBySide) Run() int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(allSeats)); err != nil {
			panic(err)
		}
	}
	return m.M.Run()
}

func unprivileged() {
	if os.Geteuid() == 0 {
		err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
		if err != nil {
			panic(err)
		}
	}
	main()
}

// TestScripts plays testdata/script: what a user types, and what comes of it,
// where no rights are needed.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *rewrite,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("condition %q; valid: root", name)
			}
			return os.Geteuid() == 0, nil
		},
	})
}

// TestScriptsAskForTools: a script that runs a program of the machine asks first whether it is there, so
// that without it the script skips.
func TestScriptsAskForTools(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	run := regexp.MustCompile(`(?m)^(\[\S+\] )?(?:! )?(?:exec|exits \d+) (\S+)`)
	tools := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(data), "\n-- ")
		for _, m := range run.FindAllStringSubmatch(script, -1) {
			tool := m[2]
			if strings.HasPrefix(tool, "softswitch") {
				continue
			}
			tools++
			if m[1] != "[exec:"+tool+"] " && !strings.Contains(script, "[!exec:"+tool+"] skip ") {
				t.Errorf("%s runs %s: say [exec:%s] before it, or [!exec:%s] skip 'not installed: %s'", file, tool, tool, tool, tool)
			}
		}
	}
	if tools < 5 {
		t.Errorf("%d programs of the machine in all scripts: are they found?", tools)
	}
}

// setUpScript gives a script the scenario files, some captures and a run
// directory of its own, which an unprivileged softswitch can use too.
func setUpScript(env *testscript.Env) error {
	env.Setenv(netnslab.RunDirVariable, filepath.Join(env.WorkDir, "run"))
	env.Setenv("GORACE", "atexit_sleep_ms=0") // a race detector waits a second at each exit
	for _, files := range []embed.FS{scenarios.FS, scenarios.RDMA} {
		if err := os.CopyFS(filepath.Join(env.WorkDir, "scenarios"), files); err != nil {
			return err
		}
	}
	files := recordings()
	files["pfc.pcap"], files["cut.pcap"], files["empty.pcap"] = pfcCapture(0), pfcCapture(10), nil
	for name, file := range files {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), file, 0o644); err != nil {
			return err
		}
	}
	return os.Chmod(env.WorkDir, 0o777|os.ModeSticky)
}

// exits runs a command that has to end with a status: exits STATUS COMMAND [ARG...]
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// pfcCapture is a pcap of a pause with a label, a message of a detector, a PFC frame
// that is too short, and a frame of another kind, without its last cut bytes.
func pfcCapture(cut int) []byte {
	src := [6]byte{2, 0, 0, 0, 0, 1}
	label := itsyhdr.TLV{
		Kind: itsyhdr.KindChecking, Priority: 3, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9,
		Trigger: unit.NodePort{Node: 7, Port: 1}, Hops: 3, Period: 12,
	}
	pause, message := make([]byte, pfcframe.Len), make([]byte, itsyhdr.MessageLen)
	itsyhdr.Put(pfcframe.Put(pause, pfcframe.Frame{Src: src, Enable: 0x18, Quanta: [8]uint16{3: 0xffff}}), label)
	itsyhdr.PutMessage(message, src, label)
	other := append([]byte("\x02\x00\x00\x00\x00\x09\x02\x00\x00\x00\x00\x01\x08\x00"), make([]byte, 46)...)

	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	err := w.WriteFileHeader(65535, layers.LinkTypeEthernet)
	for i, frame := range [][]byte{pause, message, pause[:17], other} {
		at := time.Date(2024, 5, 6, 7, 8, 9, 1000*i, time.UTC)
		err = errors.Join(err, w.WritePacket(gopacket.CaptureInfo{Timestamp: at, CaptureLength: len(frame), Length: len(frame)}, frame))
	}
	if err != nil {
		panic(err)
	}
	return file.Bytes()[:file.Len()-cut]
}

// TestShellScripts checks the syntax of scripts/, and that each says how it is
// used.
func TestShellScripts(t *testing.T) {
	testkit.Need(t, "sh", "sed", "dirname")
	files, err := filepath.Glob("../../scripts/*.sh")
	if err != nil || len(files) < 7 {
		t.Fatalf("scripts: %v (%v)", files, err)
	}
	tree := scriptTree(t)
	for _, file := range files {
		name := filepath.Base(file)
		if out, err := exec.Command("sh", "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		if name == "common.sh" {
			continue
		}
		out, err := exec.Command("sh", filepath.Join(tree, "scripts", name), "-h").CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != cli.ExitError || !bytes.Contains(out, []byte("usage: scripts/"+name)) {
			t.Errorf("%s -h: %v: %s; want the usage and exit status %d", name, err, out, cli.ExitError)
		}
		if info, err := os.Stat(file); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("%s cannot be executed: %v, %v", name, info.Mode(), err)
		}
	}
}

// scriptTree is a directory with scripts/, scenarios/ and the softswitch of this
// test as bin/softswitch.
func scriptTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	program, err := exec.LookPath("softswitch")
	if err == nil {
		err = os.Mkdir(filepath.Join(tree, "bin"), 0o755)
	}
	if err == nil {
		err = os.Symlink(program, filepath.Join(tree, "bin", "softswitch"))
	}
	for dir, files := range map[string]fs.FS{"scripts": os.DirFS("../../scripts"), "scenarios": scenarios.FS} {
		if err == nil {
			err = os.CopyFS(filepath.Join(tree, dir), files)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
