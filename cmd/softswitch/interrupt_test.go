package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// TestControlC types Ctrl-C at the terminal of every long command, once it shows how far
// it is: each ends, with the status of what was not done.
func TestControlC(t *testing.T) {
	for args, shown := range map[string]string{
		"sim run " + endless(t, "hu-fig3.yaml"):                                   "simulated ns",
		"sim run --repeat 9 " + endless(t, "hu-fig3.yaml"):                        "simulated us",
		"sweep --set duration=20ms,1h --workers 2 " + endless(t, "hu-fig4.yaml"):  "20ms,1,true,", // a whole row
		"sim bench --runs 1000 --duration 20ms":                                   "runs",
		"sim fuzz --n 1000000 --out /dev/null":                                    "cases",
		"compare --runs 1000000 --scenarios shpiner-fig4 --systems no-flood,itsy": "cause",
		"compare traffic --runs 1000 --scenarios shpiner-fig4":                    "runs",
		"campaign run " + longCampaign(t):                                         "cases",
		"compare --runs 60 --scenarios fattree-no-loop --systems no-flood,itsy":   "no-flood",
	} {
		t.Run(strings.ReplaceAll(args, "/", "_"), func(t *testing.T) {
			t.Parallel()
			testkit.ControlC(t, shown, "softswitch", strings.Fields(args)...)
		})
	}
}

// longCampaign is the folder of a campaign that takes an hour.
func longCampaign(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "campaign")
	out, err := exec.Command("softswitch", "campaign", "init", "--shards", "2", dir, "sim", "fuzz", "--n", "1000000").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// endless is a scenario file that takes an hour.
func endless(t *testing.T, file string) string {
	t.Helper()
	return edited(t, file, "\nduration: ", "\nduration: 1h # ")
}

// edited is a scenario file in which other texts are in the place of some, each behind the one
// that it replaces.
func edited(t *testing.T, file string, oldNew ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../scenarios", file))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(oldNew); i += 2 {
		if !bytes.Contains(text, []byte(oldNew[i])) {
			t.Fatalf("%s has no %q to replace", file, oldNew[i])
		}
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, []byte(strings.NewReplacer(oldNew...).Replace(string(text))), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
