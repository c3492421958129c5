package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/internal/timer"
	"softswitch/lab"
	"softswitch/link/auth"
	"softswitch/link/decode"
	"softswitch/node/observe"
)

// TestAuthenticatedFabric: with authenticated links a deadlock is detected as without.
func TestAuthenticatedFabric(t *testing.T) {
	v, _ := newBigBed(t).play("../../scenarios/fattree-on-loop.yaml", "--set", decided, "--set", "auth=strict")
	if !v.ExpectedMet || len(v.Auth) > 0 {
		t.Errorf("%q, %+v", v.Reasons, v.Auth)
	}
}

// authScenario is two switches, and a pause that a stranger puts on their link.
const authScenario = `name: stranger
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 100Mbit/s
AUTH
flows:
  - {name: f, from: h1, to: h2}
  - {name: behind, from: h2, to: h1, start: 311ms, size: 1000}   # a run in which the pause is late is not valid
events:
  - {at: 300ms, do: forge, link: s1--s2, from: s2, frame: FRAME}
duration: 700ms
`

// strangersPause pauses priority 3 for 335 ms.
const strangersPause = "0180c200000102000000000a88080101000800000000 0000ffff0000000000000000" + "0000000000000000000000000000000000000000000000000000"

// TestStranger: a pause that somebody puts on a link is heeded, unless the link is
// authenticated: then it is refused, and the verdict names the link.
func TestStranger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		auth, says string
		heeded     bool
	}{
		{"", "", true},
		{"auth: accept", "", true},
		{"auth: strict", "s1--s2: s1 has refused 1 control frame: 1 without a tag", false},
	} {
		t.Run(c.auth, func(t *testing.T) {
			b := newBed(t)
			file := filepath.Join(t.TempDir(), "stranger.yaml")
			text := strings.NewReplacer("AUTH", c.auth, "FRAME", strings.ReplaceAll(strangersPause, " ", "")).Replace(authScenario)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			v, _ := b.play(file)
			// h1 sends at the rate of the link: what is missing at the end is what the pause held up.
			held := float64(v.Flows[0].Throughput) < 80e6
			if held != c.heeded {
				t.Errorf("the pause was heeded: %v, want %v; %d bit/s arrived", held, c.heeded, v.Flows[0].Throughput)
			}
			var said []string
			for _, f := range v.Auth {
				said = append(said, f.String())
			}
			if got := strings.Join(said, "\n"); !strings.Contains(got, c.says) || c.says == "" && got != "" {
				t.Errorf("of authentication the verdict says %q, want %q", got, c.says)
			}
		})
	}
}

// TestKeysOfALab: the keys are in files that nobody else can read, and nowhere else; new ones
// are given while the lab runs; one end with another key is told.
func TestKeysOfALab(t *testing.T) {
	b := newBed(t)
	b.must("deploy", "-t", b.endless(), "--set", "auth=strict", "--set", "pfc.storm_budget=0s")
	dir := b.dir()
	old := b.keys("s1", "s2")
	b.awaitAuth()
	file := filepath.Join(t.TempDir(), "lab.pcapng")
	s := b.capture("-w", file)
	b.act("h2", "storm")
	b.must("start")
	b.awaitFrame(file, func(rec decode.Record) bool {
		return rec.Interface == "s2:to-s1" && rec.ITSY != nil && rec.ITSY.Auth != ""
	})
	if r := b.run(b.command("auth", "rotate", "--name", b.name)); r.code != 0 || !strings.Contains(r.stderr, "new keys on 1 link") {
		t.Fatalf("auth rotate: exit status %d, %q", r.code, r.stderr)
	}
	now := b.keys("s1", "s2")
	if now == old {
		t.Error("the keys are those of before")
	}
	s.signal(os.Interrupt)
	if r := s.end(); r.code != 0 {
		t.Errorf("lab capture: exit status %d", r.code)
	}
	for name, ends := range b.auth() {
		for _, e := range ends {
			if len(e.Refused) > 0 || !e.Agreed {
				t.Errorf("%s with new keys: agreed %v, refused %v", name, e.Agreed, e.Refused)
			}
		}
	}

	// A rotation that was cut short while the switches began to sign: one has the keys the other way round.
	for i, s := range []string{"s1", "s2"} {
		pair := []string{digitsOf(t, old), digitsOf(t, now)}
		b.noError(os.WriteFile(filepath.Join(dir, s, "keys.txt"), fmt.Appendf(nil, "s1--s2 %s %s\n", pair[i], pair[1-i]), 0o600))
	}
	if r := b.run(b.command("auth", "reload", "--name", b.name)); r.code != 0 {
		t.Fatal("auth reload failed")
	}
	if r := b.run(b.command("auth", "rotate", "--name", b.name)); r.code != 0 {
		t.Fatalf("auth rotate after one that was cut short: exit status %d", r.code)
	}
	last := b.keys("s1", "s2")
	if last == old || last == now {
		t.Error("the keys are those of before")
	}
	for name, ends := range b.auth() {
		for _, e := range ends {
			if len(e.Refused) > 0 || !e.Agreed {
				t.Errorf("%s after a rotation that was cut short: agreed %v, refused %v", name, e.Agreed, e.Refused)
			}
		}
	}

	// Nothing that anybody else could read has a key.
	secrets := map[string]string{"old": digitsOf(t, old), "new": digitsOf(t, now), "last": digitsOf(t, last)}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "keys.txt" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for which, digits := range secrets {
			if strings.Contains(string(text), digits) {
				t.Errorf("%s has the %s key", path, which)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	captured, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for which, digits := range secrets {
		key, err := hex.DecodeString(digits)
		if err != nil || bytes.Contains(captured, []byte(digits)) || bytes.Contains(captured, key) {
			t.Errorf("the capture has the %s key, or %v", which, err)
		}
	}

	// One end has another key.
	path := filepath.Join(dir, "s1", "keys.txt")
	if err := os.WriteFile(path, []byte("s1--s2 00112233445566778899aabbccddeeff\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := b.run(b.command("auth", "reload", "--name", b.name, "s1")); r.code != 0 {
		t.Fatal("auth reload failed")
	}
	b.awaitRefused("s1", "wrong")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := b.run(b.command("auth", "reload", "--name", b.name, "s1")); r.code != 2 || !strings.Contains(r.stderr, "others may read or change it") {
		t.Errorf("a file that others may read: exit status %d, %q", r.code, r.stderr)
	}
}

// dir is the lab's run directory.
func (b *bed) dir() string { return filepath.Join(b.runDir, b.name) }

// keys is the content of the files of keys of switches, which has to be the same.
func (b *bed) keys(switches ...string) (text string) {
	b.Helper()
	for _, s := range switches {
		path := filepath.Join(b.dir(), s, "keys.txt")
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			b.Fatalf("%s: %v, %v; want the mode 0600", path, info, err)
		}
		got, err := os.ReadFile(path)
		if err != nil || text != "" && string(got) != text {
			b.Fatalf("%s has other keys than its far end, or %v", path, err)
		}
		text = string(got)
	}
	return text
}

// awaitRefused waits until a switch has told that it refuses control frames for that reason.
func (b *bed) awaitRefused(node, why string) {
	b.Helper()
	file := filepath.Join(b.dir(), node, lab.EventsName)
	if err := timer.UntilFile(file, limit, func() bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), `"type":"auth_refused"`) && strings.Contains(string(text), `"why":"`+why+`"`)
	}); err != nil {
		b.Fatalf("%s never refuses a frame: %v", node, err)
	}
}

func digitsOf(t *testing.T, text string) string {
	t.Helper()
	k, err := auth.ParseKeys("keys", []byte(text))
	if err != nil || len(k.Of("s1--s2")) != 1 {
		t.Fatalf("keys: %v", err)
	}
	_, digits, _ := strings.Cut(strings.TrimSpace(text), " ")
	return digits
}

// end is an end of an authenticated link, as `show auth` has it.
type end struct {
	Link    string
	Refused map[string]uint64
	observe.Auth
}

// auth is the ends of authenticated links, by their switches.
func (b *bed) auth() (all map[string][]end) {
	b.Helper()
	r := b.run(b.command("show", "auth", "--name", b.name, "--json"))
	b.noError(json.Unmarshal([]byte(r.stdout), &all))
	return all
}

// awaitAuth waits until both ends of the link agree: they do when their ports are up.
func (b *bed) awaitAuth() {
	b.Helper()
	b.await("both ends of the link agree", func() bool {
		all := b.auth()
		return len(all["s1"]) == 1 && all["s1"][0].Agreed && len(all["s2"]) == 1 && all["s2"][0].Agreed
	})
}
