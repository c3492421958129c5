package campaign_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/testkit"
	"softswitch/study/campaign"
	"softswitch/study/shard"
)

// items is how many a run of the commands below has.
const items = 40

// TestMain makes the test binary serve as the commands that campaigns play, and as a program
// that plays a campaign.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch command := os.Args[1]; command {
		case "run":
			c, err := campaign.Open(os.Args[2])
			if err == nil {
				err = c.Run(context.Background(), os.Stderr)
			}
			fmt.Fprintln(os.Stderr, err)
			os.Exit(map[bool]int{true: 0, false: 2}[err == nil])
		case "count", "unmet", "fail", "half", "hang", "refuse":
			os.Exit(playPart(command, os.Args[len(os.Args)-1]))
		}
	}
	os.Exit(m.Run())
}

// playPart prints a part of the items, in two goes; "unmet" is not as expected, "fail" is not
// played, "half" has an end that nobody notices, "hang" has none, "refuse" does not even say
// how many items there are. Each notes that it was played.
func playPart(command, part string) int {
	var p shard.Part
	if err := p.Set(part); err != nil || command == "refuse" {
		return 2
	}
	var numbers []int
	for i := range p.Count(items) {
		numbers = append(numbers, p.Item(i))
	}
	var b bytes.Buffer
	if err := shard.New("count", p, items, struct{}{}, numbers, true).WriteText(&b); err != nil {
		return 2
	}
	if p.Of == shard.MaxParts { // it is only asked how many items there are
		command = "count"
	} else {
		played, err := os.OpenFile("played", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return 2
		}
		fmt.Fprintln(played, p.Number)
	}
	half := b.Len() / 2
	os.Stdout.Write(b.Bytes()[:half])
	switch command {
	case "hang":
		fmt.Fprintln(os.Stderr, "hangs")
		select {}
	case "half":
		return 0
	case "fail":
		return 2
	}
	if _, err := os.Stdout.Write(b.Bytes()[half:]); err != nil {
		return 2
	}
	return map[string]int{"count": 0, "unmet": 1}[command]
}

// begun is a new campaign of a command in so many shards, 0 for as many as is usual.
func begun(t *testing.T, command string, shards int) (dir string, c *campaign.Campaign) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "deep", "campaign")
	c, err := campaign.Create(t.Context(), dir, []string{command}, nil, shards, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return dir, c
}

// wantWhole wants all items, each once, and their shards each played so often.
func wantWhole(t *testing.T, dir string, times func(n int) bool) {
	t.Helper()
	c, err := campaign.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Status(); err != nil || !s.Complete() {
		t.Fatalf("%v, %+v", err, s)
	}
	w, err := shard.Join(c.Files())
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := shard.Records[int](w)
	if err != nil || len(numbers) != items || slices.ContainsFunc(numbers, func(i int) bool { return numbers[i] != i }) {
		t.Errorf("%v, %v", err, numbers)
	}
	data, err := os.ReadFile(filepath.Join(dir, "played"))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, number := range strings.Fields(string(data)) {
		count[number]++
	}
	for i := range c.Shards {
		if n := count[strconv.Itoa(i+1)]; !times(n) {
			t.Errorf("shard %d was played %d times", i+1, n)
		}
	}
}

func once(n int) bool  { return n == 1 }
func atAll(n int) bool { return n > 0 }

// TestRun: all shards are played, each once, and then none is.
func TestRun(t *testing.T) {
	for command, shards := range map[string]int{"count": 7, "unmet": items} {
		dir, c := begun(t, command, shards)
		for range 2 {
			if err := c.Run(t.Context(), io.Discard); err != nil {
				t.Fatal(err)
			}
		}
		wantWhole(t, dir, once)
		for i := range shards {
			if err := c.Play(t.Context(), i+1, false, io.Discard); err != nil {
				t.Fatal(err)
			}
		}
		wantWhole(t, dir, once)
	}
	if _, c := begun(t, "count", 0); c.Shards != 16 {
		t.Errorf("%d shards, want 16", c.Shards)
	}
}

// playing starts a process that plays a campaign, and returns what it says.
func playing(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "run", dir)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = w
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { r.Close() })
	return cmd, bufio.NewScanner(r)
}

// TestKilled: a run that is killed again and again, at whatever moment, comes to its end, and
// no shard that was there is played again.
func TestKilled(t *testing.T) {
	rng := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	dir, c := begun(t, "count", 12)
	kills, there, longest := 0, 0, 30*time.Millisecond
	for {
		cmd, says := playing(t, dir)
		kill := time.AfterFunc(time.Duration(rng.Int64N(int64(longest))), func() { cmd.Process.Kill() })
		for says.Scan() {
		}
		err := errors.Join(says.Err(), cmd.Wait())
		kill.Stop()
		if err == nil {
			break
		}
		kills++
		s, err := c.Status()
		if err != nil || s.Done < there || len(s.Damaged) > 0 {
			t.Fatalf("after %d kills: %v, %+v; before %d were there", kills, err, s, there)
		}
		if s.Done == there { // such a slow machine comes to nothing in so short a time
			longest += 10 * time.Millisecond
		}
		there = s.Done
	}
	t.Logf("%d kills", kills)
	wantWhole(t, dir, atAll)
}

// TestKilledWithCommand: the command that plays a shard ends with whoever started it.
func TestKilledWithCommand(t *testing.T) {
	dir, _ := begun(t, "hang", 3)
	cmd, says := playing(t, dir)
	for says.Scan() && says.Text() != "hangs" {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for says.Scan() { // to the end of the last that can say something
	}
	c, err := campaign.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Status(); err != nil || s.Done != 0 || len(s.Missing) != 3 {
		t.Errorf("%v, %+v", err, s)
	}
}

// TestTogether: several who play one campaign play each shard once.
func TestTogether(t *testing.T) {
	dir, _ := begun(t, "count", items)
	var all []*exec.Cmd
	for range 4 {
		cmd, says := playing(t, dir)
		go func() {
			for says.Scan() {
			}
		}()
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	wantWhole(t, dir, once)
}

// Nobody else can lock a shard, and so keep it from being played for ever.
func TestOthersCannotLock(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("acts as another user: needs root")
	}
	testkit.Need(t, "sh")
	dir, c := begun(t, "count", 2)
	if err := os.Chmod(filepath.Dir(filepath.Dir(filepath.Dir(dir))), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "playing", "1")
	if err := os.WriteFile(file, nil, 0o644); err != nil { // as while it is played
		t.Fatal(err)
	}
	opened := func(uid uint32, name string) (bool, string) {
		cmd := exec.Command("sh", "-c", `exec 9<"$0" && echo opened`, name)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		said, err := cmd.CombinedOutput()
		return err == nil && string(said) == "opened\n", string(said)
	}
	const nobody = 65534
	if ok, said := opened(nobody, filepath.Dir(dir)); !ok { // they come that far
		t.Fatalf("another user cannot open what is around the campaign: %s", said)
	}
	for what, name := range map[string]string{"a shard": file, "the folder": filepath.Dir(file)} {
		if ok, said := opened(0, name); !ok {
			t.Errorf("its owner cannot open %s: %s", what, said)
		}
		if ok, said := opened(nobody, name); ok || !strings.Contains(said, "ermission denied") {
			t.Errorf("another user opens %s: %s", what, said)
		}
	}
}

// TestWaits: who is told to play a shard that another plays waits until that is over.
func TestWaits(t *testing.T) {
	dir, c := begun(t, "hang", 2)
	cmd, says := playing(t, dir)
	for says.Scan() && says.Text() != "hangs" {
	}
	if err := c.Play(t.Context(), 1, false, io.Discard); err == nil || !strings.Contains(err.Error(), "shard 1: it is being played") {
		t.Errorf("%v", err)
	}
	ctx, end := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- c.Play(ctx, 1, true, io.Discard) }()
	end()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
}

// TestBadShards: what is not a whole shard is none, and does not stay.
func TestBadShards(t *testing.T) {
	for command, want := range map[string]string{"fail": "exit status 2", "half": "not all of one: unexpected end of JSON input"} {
		dir := t.TempDir() + "/c"
		c, err := campaign.Create(t.Context(), dir, []string{command}, nil, 2, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Run(t.Context(), io.Discard)
		if err == nil || !strings.Contains(err.Error(), "shard 1 of "+dir) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", command, err)
		}
		if s, err := c.Status(); err != nil || len(s.Missing) != 2 {
			t.Errorf("%s: %v, %+v", command, err, s)
		}
	}
	dir, c := begun(t, "count", 4)
	if err := c.Run(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	for i, damage := range []func([]byte) []byte{
		func(d []byte) []byte { return d[:len(d)/2] },
		func([]byte) []byte { return nil },
		func(d []byte) []byte { return bytes.Replace(d, []byte(`"items":40`), []byte(`"items":41`), 1) },
	} {
		name := c.Files()[i]
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, damage(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Status()
	if err != nil || s.Done != 1 || !slices.Equal(s.Damaged, []int{1, 2, 3}) || len(s.Missing) > 0 || s.Complete() {
		t.Errorf("%v, %+v", err, s)
	}
	if err := c.Run(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	wantWhole(t, dir, atAll)
}

// TestFullDisk: what does not go onto the disk is no shard.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts a file system: needs root")
	}
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=32k"); err != nil {
		t.Skipf("a tmpfs cannot be mounted: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(disk, 0) })
	c, err := campaign.Create(t.Context(), disk+"/c", []string{"count"}, nil, 2, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	full := os.WriteFile(disk+"/full", make([]byte, 64<<10), 0o644)
	if !errors.Is(full, unix.ENOSPC) {
		t.Fatalf("%v; want no space", full)
	}
	if err := c.Run(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "shard 1 of "+disk) {
		t.Errorf("%v", err)
	}
	if s, err := c.Status(); err != nil || len(s.Missing) != 2 {
		t.Errorf("%v, %+v", err, s)
	}
	if err := os.Remove(disk + "/full"); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), io.Discard); err != nil {
		t.Error(err)
	}
}

// TestCreate: the folder has the files that the command reads, or there is none.
func TestCreate(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.MkdirAll("a/b", 0o755), os.WriteFile("a/b/c.yaml", []byte("text"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, err := campaign.Create(t.Context(), "here", []string{"count"}, []string{"a/b/c.yaml"}, 3, io.Discard); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile("here/a/b/c.yaml"); err != nil || string(data) != "text" {
		t.Errorf("%v, %q", err, data)
	}
	absolute, err := filepath.Abs("a/b/c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, command string
		files        []string
		shards       int
		want         string
	}{
		{"here", "count", nil, 3, "here is there already"},
		{"nix", "count", []string{"no.yaml"}, 3, "open no.yaml"},
		{"nix", "count", []string{absolute}, 3, "valid: a path below"},
		{"nix", "count", []string{"../../x.yaml"}, 3, "valid: a path below"},
		{"nix", "count", nil, 41, "--shards 41: there are 40 items; valid: 1 to 40"},
		{"nix", "refuse", []string{"a/b/c.yaml"}, 3, "softswitch refuse cannot be played: exit status 2"},
		{"a/b/c.yaml/d", "count", nil, 3, "not a directory"},
	} {
		_, err := campaign.Create(t.Context(), c.dir, []string{c.command}, c.files, c.shards, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.dir, err, c.want)
		}
	}
	left, err := filepath.Glob("*")
	hidden, err2 := filepath.Glob(".*")
	if names := append(left, hidden...); err != nil || err2 != nil || !slices.Equal(names, []string{"a", "here"}) {
		t.Errorf("there are %q", names)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := campaign.Open(dir); err == nil || !strings.Contains(err.Error(), "campaign init") {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		"{":  "unexpected end",
		"{}": "0 shards",
		`{"softswitch": "v0", "arguments": ["count"], "shards": 100001}`: "100001 shards",
	} {
		if err := os.WriteFile(dir+"/campaign.json", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := campaign.Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := os.WriteFile(dir+"/campaign.json", []byte(`{"softswitch": "v0", "arguments": ["count"], "shards": 2}`), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := campaign.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "was begun by softswitch v0") {
		t.Errorf("%v", err)
	}
	if err := c.Play(t.Context(), 3, false, io.Discard); err == nil || !strings.Contains(err.Error(), "--shard 3; valid: 1 to 2") {
		t.Errorf("%v", err)
	}
}
