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
	if _, err := Softnet(); err != nil {
		t.Error(err)
	}
}

func TestStatOfThisProcess(t *testing.T) {
	s, err := readStat(os.Getpid())
	if err != nil || s.State != "R" && s.State != "S" || s.PPID != os.Getppid() || s.Starttime == 0 {
		t.Errorf("%+v, %v, want parent %d", s, err, os.Getppid())
	}
}
