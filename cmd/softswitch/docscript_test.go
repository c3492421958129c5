package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page of docs that is a script: TestTutorial and others do what it says, one
// command after the other, and hold what it shows against what comes.
//
//	```yaml ring.yaml            a file to be written
//	```console                   commands behind "$ ", each with what it prints
//
// Of what is printed, numbers may differ, and "..." stands for any lines. A comment
// before a block says more:
//
//	<!-- varies: declares, at ms -->   lines with these words are not compared; if one
//	                                   is shown, one has to come
//	<!-- exit: 1 -->                   of the block's last command
//
// With -rewrite, what does not fit is replaced by what came.

// block is a fenced block of a page.
type block struct {
	line     int    // of its first line, from 0, in the page
	info     string // "console", "yaml ring.yaml"
	lines    []string
	varies   []string
	exit     int
	commands []shown
}

// shown is a command of a block and its lines there.
type shown struct {
	command  string
	from, to int // of what it prints
}

var remark = regexp.MustCompile(`^<!-- (varies|exit): (.*) -->$`)

// readBlocks finds the blocks of a page.
func readBlocks(t *testing.T, page []string) (blocks []block) {
	t.Helper()
	var next block
	for i := 0; i < len(page); i++ {
		if m := remark.FindStringSubmatch(page[i]); m != nil {
			if m[1] == "varies" {
				next.varies = strings.Split(m[2], ", ")
			} else if _, err := fmt.Sscan(m[2], &next.exit); err != nil {
				t.Fatalf("line %d: %s: %v", i+1, page[i], err)
			}
		}
		info, ok := strings.CutPrefix(page[i], "```")
		if !ok {
			continue
		}
		next.line, next.info = i+1, info
		for i++; i < len(page) && page[i] != "```"; i++ {
			next.lines = append(next.lines, page[i])
		}
		if i == len(page) {
			t.Fatalf("line %d: a block without an end", next.line)
		}
		next.findCommands()
		blocks = append(blocks, next)
		next = block{}
	}
	return blocks
}

func (b *block) findCommands() {
	for i, l := range b.lines {
		if command, ok := strings.CutPrefix(l, "$ "); ok {
			b.commands = append(b.commands, shown{command, i + 1, i + 1})
		} else if n := len(b.commands); n > 0 {
			b.commands[n-1].to = i + 1
		}
	}
}

// playPage plays a page of docs in a tree of its own.
func playPage(t *testing.T, path string) {
	b := newBed(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Split(string(data), "\n")
	tree := b.docTree()
	var changed []func() // last line first, so that numbers of lines hold
	commands := 0
	for _, bl := range readBlocks(t, page) {
		if _, file, ok := strings.Cut(bl.info, " "); ok {
			if err := os.WriteFile(filepath.Join(tree, file), []byte(strings.Join(bl.lines, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if bl.info != "console" {
			continue
		}
		for i, c := range bl.commands {
			commands++
			want := 0
			if i == len(bl.commands)-1 {
				want = bl.exit
			}
			got := b.typed(tree, c.command, want)
			if err := fits(bl.lines[c.from:c.to], got, bl.varies); err != nil {
				if !*rewrite {
					t.Errorf("%s:%d: $ %s: %v\nit printed\n%s", path, bl.line+c.from, c.command, err, strings.Join(got, "\n"))
					continue
				}
				from, to := bl.line+c.from, bl.line+c.to
				changed = append(changed, func() { page = slices.Replace(page, from, to, got...) })
			}
		}
	}
	if commands < 5 {
		t.Errorf("%s: only %d commands were found", path, commands)
	}
	for _, change := range slices.Backward(changed) {
		change()
	}
	if changed != nil {
		if err := os.WriteFile(path, []byte(strings.Join(page, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// docTree is a directory that looks like the repository, with a softswitch that uses
// the bed's lab, and a sudo that does nothing.
func (b *bed) docTree() string {
	b.Helper()
	tree := b.TempDir()
	program, err := exec.LookPath("softswitch")
	if err != nil {
		b.Fatal(err)
	}
	repo, err := filepath.Abs("../..")
	if err != nil {
		b.Fatal(err)
	}
	for _, dir := range []string{"bin", "shims"} {
		if err := os.Mkdir(filepath.Join(tree, dir), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for _, dir := range []string{"scenarios", "wireshark", "docs", "scripts"} {
		if err := os.Symlink(filepath.Join(repo, dir), filepath.Join(tree, dir)); err != nil {
			b.Fatal(err)
		}
	}
	for name, script := range map[string]string{
		"bin/softswitch": `#!/bin/sh
case $1 in
lab | nic) of=$1; verb=$2; shift 2; exec ` + program + ` "$of" "$verb" --name ` + b.name + ` "$@";;
show | demo) verb=$1; shift; exec ` + program + ` "$verb" --name ` + b.name + ` "$@";;
esac
exec ` + program + ` "$@"
`,
		"shims/sudo": "#!/bin/sh\nexec \"$@\"\n",
	} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(script), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	return tree
}

// typed types a command and returns what a terminal would show. A run that was not
// valid is played again, from where it began: without a lab that it made.
func (b *bed) typed(tree, command string, exit int) (lines []string) {
	b.Helper()
	bare := len(b.namespaces()) == 0
	b.untilValid(func() string {
		cmd := b.program("sh", "-c", command)
		cmd.Dir = tree
		cmd.Env = append(cmd.Env, "PATH="+filepath.Join(tree, "shims")+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		code := b.status(cmd.Run())
		text := strings.ReplaceAll(strings.TrimSuffix(out.String(), "\n"), b.name, "ss")
		if _, invalid, ok := strings.Cut(text, "run not valid: "); ok {
			b.Logf("$ %s\n%s", command, text)
			if bare {
				b.must("destroy")
			}
			return invalid
		}
		if code != exit {
			b.Errorf("$ %s: exit status %d, want %d", command, code, exit)
		}
		lines = nil
		if text != "" {
			lines = strings.Split(text, "\n")
		}
		return ""
	})
	return lines
}

// fits reports where the lines got are not what is shown.
func fits(shown, got, varies []string) error {
	for _, v := range varies {
		has := func(l string) bool { return strings.Contains(l, v) }
		if slices.ContainsFunc(shown, has) && !slices.ContainsFunc(got, has) {
			return fmt.Errorf("no line with %q", v)
		}
	}
	shown, got = stable(shown, varies), stable(got, varies)
	anything := false
	for _, want := range shown {
		if want == "..." {
			anything = true
			continue
		}
		i := slices.Index(got, want)
		if i < 0 || i > 0 && !anything {
			return fmt.Errorf("line %q is not where it is shown", want)
		}
		got, anything = got[i+1:], false
	}
	if len(got) > 0 && !anything {
		return fmt.Errorf("line %q is not shown", got[0])
	}
	return nil
}

// stable is what of lines is the same each time: words, and where numbers are.
func stable(lines, varies []string) (out []string) {
	for _, l := range lines {
		if slices.ContainsFunc(varies, func(v string) bool { return strings.Contains(l, v) }) {
			continue
		}
		out = append(out, strings.Join(strings.Fields(numbers.ReplaceAllString(l, "$1#")), " "))
	}
	return out
}

// numbers are those that are no part of a name such as agg0-1.
var numbers = regexp.MustCompile(`(^|[\s(=:,/+-])[0-9][0-9.:]*(ms|us|s\b)?`)

// TestTutorial plays docs/tutorial.md.
func TestTutorial(t *testing.T) { playPage(t, "../../docs/tutorial.md") }

// TestFailures plays docs/failures.md.
func TestFailures(t *testing.T) { playPage(t, "../../docs/failures.md") }

// TestLabPage plays docs/lab.md.
func TestLabPage(t *testing.T) { playPage(t, "../../docs/lab.md") }

// TestNICPage plays docs/nic.md.
func TestNICPage(t *testing.T) {
	if _, err := exec.LookPath("iperf3"); err != nil {
		t.Skip(err)
	}
	playPage(t, "../../docs/nic.md")
}

// TestFits: what shows a difference, and what does not.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		shown, got, varies string
		ok                 bool
	}{
		{"a 1.5 ms", "a 22.125 ms", "", true},
		{"core0 is up", "core1 is up", "", false},
		{"a|b", "a|x|b", "", false},
		{"a|...|b", "a|x|y|b", "", true},
		{"a|...", "a", "", true},
		{"a", "a|b", "", false},
		{"a|b", "a", "", false},
		{"...|b", "b|c", "", false},
		{"a|s1 declares|b", "a|b", "declares", false},
		{"a|s1 declares|b", "a|s2 declares|b", "declares", true},
		{"a|b", "a|s2 declares|s3 declares|b", "declares", true},
		{"13:04:05.25 PFC", "09:10:11.75 PFC", "", true},
		{"", "", "", true},
		{"", "x", "", false},
	} {
		split := func(s string) []string {
			return slices.DeleteFunc(strings.Split(s, "|"), func(l string) bool { return l == "" })
		}
		if err := fits(split(c.shown), split(c.got), split(c.varies)); (err == nil) != c.ok {
			t.Errorf("shown %q, got %q, varies %q: %v", c.shown, c.got, c.varies, err)
		}
	}
}
