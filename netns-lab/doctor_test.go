package netnslab

import (
	"os"
	"strings"
	"testing"
)

func TestDoctorAsRoot(t *testing.T) {
	needRoot(t)
	t.Setenv(RunDirVariable, t.TempDir())
	for _, c := range Doctor() {
		t.Logf("%+v", c)
		if c.Needed && !c.OK {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
		if c.OK == (c.Remedy != "") {
			t.Errorf("%s: ok %t with remedy %q", c.Name, c.OK, c.Remedy)
		}
	}
	wantThreadsHome(t)
}

func TestDoctorFindsALabWithADeadProcess(t *testing.T) {
	b := newBench(t)
	st := b.up(b.lab())
	if c := checkLabs(); !c.OK {
		t.Errorf("a lab that runs is taken for one left over: %s", c.Detail)
	}
	if err := st.Kill("h0"); err != nil {
		t.Fatal(err)
	}
	if c := checkLabs(); c.OK || !strings.Contains(c.Detail, b.name) {
		t.Errorf("%+v, want the lab left over", c)
	}
}

func TestKernelsWithVethRace(t *testing.T) {
	for release, want := range map[string]bool{
		"6.15.9": false, "6.16.0-rc1": true, "6.17.4-generic": true, "6.18.44-fc": false, "6.1.0": false, "7.16": false, "": false,
	} {
		if got := hasVethRace(release); got != want {
			t.Errorf("%q: %t, want %t", release, got, want)
		}
	}
}

func TestSoftnet(t *testing.T) {
	const text = "0000a1b2 0000000f 00000000\n00000001 00000010 00000000\n"
	if got, err := softnetDrops(text); err != nil || got != 31 {
		t.Errorf("%d, %v, want 0xf + 0x10 = 31", got, err)
	}
	for _, bad := range []string{"", "1", "1 x"} {
		if _, err := softnetDrops(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	if _, err := Softnet(); err != nil {
		t.Error(err)
	}
}

func TestStatOfThisProcess(t *testing.T) {
	s, err := readStat(os.Getpid())
	if err != nil || s.State != 'R' && s.State != 'S' || s.Parent != os.Getppid() || s.Start == 0 {
		t.Errorf("%+v, %v, want parent %d", s, err, os.Getppid())
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 42 1 2")
	f.Add("7 (a) R (b) S) Z 3 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 18446744073709551615")
	f.Add("1 (x) S 0")
	f.Add(")")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseStat(text)
		if err != nil {
			return
		}
		if again, err := parseStat("9 (" + text); err != nil || again != s {
			t.Errorf("%q: %+v; with more in the name: %+v, %v", text, s, again, err)
		}
	})
}
