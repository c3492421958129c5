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
	"syscall"
	"testing"
	"time"

	"softswitch/internal/testkit"
)

// The guides are scripts: TestGuides and TestGuidesLive do what README.md and docs say, one
// command after the other, and hold what they show against what comes.
//
//	```yaml ring.yaml      a file to be written
//	```console             commands behind "$ ", each with what it prints; "..." stands
//	                       for any lines
//	<!-- exit: 1 -->       before a block: exit status of its last command
//	<!-- long -->          before a block: played by make long and make guides alone
//
// What is simulated comes out the same each time, and is compared byte for byte. What
// differs from run to run of a live command is named in varying, and only there.
//
// A command that takes longer than ten seconds has its time beside it, of which make docs-check asks: saysTime.
//
// With -rewrite (make guides) what does not fit is replaced by what came.

// block is a fenced block of a page.
type block struct {
	line     int    // of its first line, from 0, in the page
	info     string // "console", "yaml ring.yaml"
	lines    []string
	exit     int
	long     bool
	commands []shown
}

// shown is a command of a block and its lines there.
type shown struct {
	command  string
	from, to int // of what it prints
}

var remark = regexp.MustCompile(`^<!-- exit: (.*) -->$`)

// readBlocks finds the blocks of a page.
func readBlocks(t *testing.T, path string, page []string) (blocks []block) {
	t.Helper()
	var next block
	for i := 0; i < len(page); i++ {
		if m := remark.FindStringSubmatch(page[i]); m != nil {
			if _, err := fmt.Sscan(m[1], &next.exit); err != nil {
				t.Fatalf("%s:%d: %s: %v", path, i+1, page[i], err)
			}
		}
		if page[i] == "<!-- long -->" {
			next.long = true
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
			t.Fatalf("%s:%d: a block without an end", path, next.line)
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

// guidePages are README.md and the pages of docs, by path.
func guidePages(t *testing.T) map[string][]string {
	t.Helper()
	pages := map[string][]string{}
	for _, glob := range []string{"../../*.md", "../../docs/*.md", "../../docs/format/*.md"} {
		paths, err := filepath.Glob(glob)
		if err != nil || paths == nil {
			t.Fatalf("%s: %v", glob, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			pages[path] = strings.Split(string(data), "\n")
		}
	}
	return pages
}

func isConsole(b block) bool { return b.info == "console" }

// TestGuides plays the pages whose commands need no lab, side by side.
func TestGuides(t *testing.T) {
	playGuides(t, false)
}

// TestGuidesLive plays the pages with commands that need a lab, beside other labs: those commands of
// the first pages, and of all in make long and make guides.
func TestGuidesLive(t *testing.T) {
	t.Parallel()
	playGuides(t, true)
}

// first are the pages that are read first: all of them is always played. The simulated commands of the
// others are played by make docs-check, their live ones by make long.
var first = []string{"README.md", "tutorial.md"}

// playGuides plays the pages that show commands and what they print, those with a command
// that needs a lab or the others.
func playGuides(t *testing.T, live bool) {
	for path, page := range guidePages(t) {
		blocks := readBlocks(t, path, page)
		if !slices.ContainsFunc(blocks, isConsole) || slices.ContainsFunc(blocks, needsLab) != live {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			if !slices.Contains(first, filepath.Base(path)) && !*rewrite {
				testkit.Docs(t)
			}
			live := live && !testing.Short() && (testkit.Sized(slices.Contains(first, filepath.Base(path)), true) || *rewrite)
			if !live {
				t.Parallel()
			}
			newGuide(t, path, page, live).play()
		})
	}
}

// needsLab reports whether a command of the block does.
func needsLab(b block) bool {
	return isConsole(b) && slices.ContainsFunc(b.commands, func(c shown) bool { return !variesOf(c.command).simulated })
}

// guide is a page of docs that is played in a tree of its own.
type guide struct {
	*bed
	path   string
	page   []string
	tree   string
	live   bool          // live commands are played too
	took   time.Duration // by the last command; its processor time where that is less, for others run beside it
	beside *started      // a command that goes on in another terminal
	change []func()      // to the page, first line first
}

func newGuide(t *testing.T, path string, page []string, live bool) *guide {
	testkit.Need(t, "sh", "awk", "basename", "cat", "cut", "diff", "grep", "head", "ls", "sed", "tail")
	g := &guide{path: path, page: page, live: live}
	if what := lacking(); g.live && what != "" {
		t.Logf("what is live is not played: a lab needs more than there is: %s", what)
		g.live = false
	}
	if g.live {
		g.bed = newBigBed(t)
	} else {
		g.bed = &bed{T: t, name: "ss", runDir: t.TempDir()}
	}
	g.tree = g.docTree()
	return g
}

func (g *guide) play() {
	for _, b := range readBlocks(g.T, g.path, g.page) {
		if _, file, ok := strings.Cut(b.info, " "); ok {
			if err := os.WriteFile(filepath.Join(g.tree, file), []byte(strings.Join(b.lines, "\n")+"\n"), 0o644); err != nil {
				g.Fatal(err)
			}
		}
		if isConsole(b) && (!b.long || testkit.Sized(false, true) || *rewrite) {
			g.playBlock(b)
		}
	}
	g.endBeside()
	for _, change := range slices.Backward(g.change) { // last line first, so that numbers of lines hold
		change()
	}
	if g.change != nil {
		if err := os.WriteFile(g.path, []byte(strings.Join(g.page, "\n")), 0o644); err != nil {
			g.Fatal(err)
		}
	}
}

func (g *guide) playBlock(b block) {
	for i, c := range b.commands {
		v := variesOf(c.command)
		if !v.simulated && !g.live || v.missing(g.T) {
			continue
		}
		want := 0
		if i == len(b.commands)-1 {
			want = b.exit
		}
		shown, got := b.lines[c.from:c.to], g.typed(c.command, v, want)
		if err := saysTime(c.command, g.took); err != nil && os.Getenv("DOCS") != "" { // how fast the machine is is no matter of make test
			g.Errorf("%s:%d: %v", g.path, b.line+c.from, err)
		}
		err := fits(shown, got, v)
		switch {
		case err == nil:
		case *rewrite:
			from, to := b.line+c.from, b.line+c.to
			g.change = append(g.change, func() { g.page = slices.Replace(g.page, from, to, renew(shown, got)...) })
		default:
			g.Errorf("%s:%d: $ %s: %v\nit printed\n%s", g.path, b.line+c.from, c.command, err, strings.Join(got, "\n"))
		}
	}
}

// docTree is a directory that looks like the repository, with a softswitch that uses
// the bed's lab and ports that are free, and a sudo that does nothing.
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
	entries, err := os.ReadDir(repo)
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "examples": // pages write beside what is there
			err = os.CopyFS(filepath.Join(tree, name), os.DirFS(filepath.Join(repo, name)))
		case e.IsDir() && name != "bin" && name != "build" && name[0] != '.', name == "go.mod", name == "go.sum":
			err = os.Symlink(filepath.Join(repo, name), filepath.Join(tree, name))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for name, script := range map[string]string{
		"bin/softswitch": `#!/bin/sh
case "$1 $2" in
lab\ metrics | lab\ ui) verb=$2; shift 2; exec ` + program + ` lab "$verb" --name ` + b.name + ` --listen 127.0.0.1:0 "$@";;
esac
case $1 in
lab | nic) of=$1; verb=$2; shift 2; exec ` + program + ` "$of" "$verb" --name ` + b.name + ` "$@";;
show | demo | clear | pfcwd) verb=$1; shift; exec ` + program + ` "$verb" --name ` + b.name + ` "$@";;
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

// shell is a command as a terminal has it.
func (g *guide) shell(command string) *exec.Cmd {
	cmd := g.program("sh", "-c", command)
	cmd.Dir = g.tree
	cmd.Env = append(cmd.Env, "PATH="+filepath.Join(g.tree, "shims")+":"+os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME="+g.tree)
	if variesOf(command).tool == "go" { // what it keeps at home is not to be fetched and built anew
		cmd.Env = append(cmd.Env, g.goCaches()...)
	}
	return cmd
}

// goCaches are where Go has what it fetched and built.
func (g *guide) goCaches() []string {
	g.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	dirs := strings.Fields(string(out))
	if err != nil || len(dirs) != 2 {
		g.Fatalf("go env: %v: %s", err, out)
	}
	return []string{"GOCACHE=" + dirs[0], "GOMODCACHE=" + dirs[1]}
}

// typed types a command and returns what a terminal would show. A run that was not
// valid is played again, from where it began: without a lab that it made.
func (g *guide) typed(command string, v varies, exit int) (lines []string) {
	g.Helper()
	if v.beside != "" {
		g.took = 0
		g.beside = g.start(g.shell("exec " + command))
		g.beside.await(v.beside)
		return nil
	}
	bare := len(g.namespaces()) == 0
	g.untilValid(func() string {
		code, text := g.answer(command, v)
		if _, invalid, ok := strings.Cut(text, "run not valid: "); ok {
			g.Logf("$ %s\n%s", command, text)
			if bare {
				g.must("destroy")
			}
			return invalid
		}
		if code != exit {
			g.Errorf("$ %s: exit status %d, want %d:\n%s", command, code, exit, text)
		}
		lines = nil
		if text != "" {
			lines = strings.Split(text, "\n")
		}
		return ""
	})
	return lines
}

// answer is the exit status of a command, and what it prints with the name of the
// guides' lab.
func (g *guide) answer(command string, v varies) (code int, text string) {
	g.Helper()
	g.took = 0
	if v.until != "" {
		s := g.start(g.shell("exec " + command))
		s.await(v.until)
		s.signal(syscall.SIGINT)
		r := s.end()
		code, text = r.code, r.stdout
	} else {
		var out bytes.Buffer
		cmd := g.shell(command)
		cmd.Stdout, cmd.Stderr = &out, &out
		begun := time.Now()
		code = g.status(cmd.Run())
		g.took = min(time.Since(begun), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		text = out.String()
	}
	text = strings.NewReplacer(g.name, "ss", g.tree, "/home/ada").Replace(text)
	return code, strings.TrimSuffix(text, "\n")
}

// endBeside waits for the command in the other terminal. Its own output is not compared,
// so it need not have been a valid run.
func (g *guide) endBeside() {
	if g.beside == nil {
		return
	}
	if r := g.beside.end(); r.code != 0 && !strings.Contains(r.stdout, "run not valid: ") {
		g.Errorf("%s: exit status %d:\n%s", g.beside.cmd, r.code, r.stdout)
	}
}

// fits reports where the lines got are not what is shown.
func fits(shown, got []string, v varies) error {
	for _, some := range v.lines {
		if slices.ContainsFunc(shown, some.MatchString) && !slices.ContainsFunc(got, some.MatchString) {
			return fmt.Errorf("no line that matches %q", some)
		}
	}
	shown, got = v.masked(shown), v.masked(got)
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

// renew is got, without what was left out of shown: what is between the lines that stood
// around it there, if there are such lines.
func renew(shown, got []string) (out []string) {
	at := 0
	for i, line := range shown {
		if line != "..." {
			continue
		}
		from, to := at, len(got)
		if i > 0 {
			from = at + 1 + slices.IndexFunc(got[at:], like(shown[i-1]))
		}
		if i+1 < len(shown) {
			to = from + slices.IndexFunc(got[from:], like(shown[i+1]))
		}
		if from == at && i > 0 || to < from {
			continue
		}
		out = append(append(out, got[at:from]...), line)
		at = to
	}
	return append(out, got[at:]...)
}

// like are lines that differ from this one in their figures only.
func like(line string) func(string) bool {
	return func(l string) bool { return words(l) == words(line) }
}

// words are a line without its figures.
func words(line string) string {
	return strings.Join(strings.Fields(numbers.ReplaceAllString(line, "$1#")), " ")
}

// numbers are those that are no part of a name such as agg0-1.
var numbers = regexp.MustCompile(`(^|[\s(=:,/+-])[0-9][0-9.:]*(ms|us|s\b)?`)

// TestFits: what shows a difference, and what does not.
func TestFits(t *testing.T) {
	none := varies{}
	some := varies{masks: []mask{latency}, lines: matching(`declares`)}
	for _, c := range []struct {
		shown, got string
		v          varies
		ok         bool
	}{
		{"a 1.500 ms", "a 22.125 ms", none, false},
		{"a 1.500 ms", "a 22.125 ms", some, true},
		{"a 1.500 ms, 7 frames", "a 22.125 ms, 8 frames", some, false},
		{"a  b", "a b", none, false},
		{"a  1.500 ms", "a 22.125 ms", some, true},
		{"core0 is up", "core1 is up", some, false},
		{"a|b", "a|x|b", none, false},
		{"a|...|b", "a|x|y|b", none, true},
		{"a|...", "a", none, true},
		{"a", "a|b", none, false},
		{"a|b", "a", none, false},
		{"...|b", "b|c", none, false},
		{"a|s1 declares|b", "a|b", some, false},
		{"a|s1 declares|b", "a|s2 declares|b", some, true},
		{"a|s1 declares|b", "a|s2 declares|b", none, false},
		{"a|b", "a|s2 declares|s3 declares|b", some, true},
		{"", "", none, true},
		{"", "x", none, false},
	} {
		if err := fits(split(c.shown), split(c.got), c.v); (err == nil) != c.ok {
			t.Errorf("shown %q, got %q, varies %v: %v", c.shown, c.got, c.v, err)
		}
	}
}

func split(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "|"), func(l string) bool { return l == "" })
}

// TestRenew: what was left out of a page stays out, as long as it is found.
func TestRenew(t *testing.T) {
	for _, c := range []struct{ shown, got, want string }{
		{"a 1|...|c 2", "a 3|b|c 4", "a 3|...|c 4"},
		{"...|c 2|...", "a|b|c 4|d", "...|c 4|..."},
		{"a 1|...|c 2", "a 3|b|d 4", "a 3|b|d 4"},
		{"a 1", "a 3|b", "a 3|b"},
		{"a 1|...", "a 3", "a 3|..."},
		{"a 1|b 1|...|c 2|d", "a 3|new|b 1|x|y|c 4|new|d", "a 3|new|b 1|...|c 4|new|d"},
		{"a 1|...|c 2|...|d", "a 3|b|x|y|d", "a 3|b|x|y|d"},
	} {
		if got := strings.Join(renew(split(c.shown), split(c.got)), "|"); got != c.want {
			t.Errorf("shown %q, got %q: renewed %q, want %q", c.shown, c.got, got, c.want)
		}
	}
}
