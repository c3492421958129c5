package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/strictyaml"
	"softswitch/scenario"
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/scenarios"
)

// InsteadFlags adds the flags that override the detector and response of a scenario file.
func InsteadFlags(c *cobra.Command, in *load.Instead) {
	DetectorFlag(c, &in.Detector, "", "deadlock detector instead of the file's: %s")
	c.Flags().StringVar(&in.Response, "response", "", "response to a declared deadlock instead of the file's: "+strings.Join(respond.Names(), ", "))
	c.RegisterFlagCompletionFunc("response", cobra.FixedCompletions(respond.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// DetectorFlag adds the flag that selects a detector; usage has a %s for the detectors' names.
func DetectorFlag(c *cobra.Command, detector *string, value, usage string) {
	c.Flags().StringVar(detector, "detector", value, fmt.Sprintf(usage, strings.Join(catalog.Names(), ", ")))
	c.RegisterFlagCompletionFunc("detector", cobra.FixedCompletions(catalog.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// Named returns the names that a flag lists; an empty list means the default. If the flag is given
// without a name, for example by an unset shell variable, Named returns one empty name, which is
// then refused as unknown.
func Named(c *cobra.Command, flag string, names []string) []string {
	if len(names) == 0 && c.Flags().Changed(flag) {
		return []string{""}
	}
	return names
}

// SlowFlag adds the flag --slow to a command that plays a scenario.
func SlowFlag(c *cobra.Command, slow *int) {
	*slow = 1
	c.Flags().Var((*slowness)(slow), "slow", "slow the experiment down by this factor: divide every rate and multiply every time by it")
}

// slowness is a flag whose value is 1 or more.
type slowness int

func (s *slowness) String() string { return strconv.Itoa(int(*s)) }
func (s *slowness) Type() string   { return "int" }

func (s *slowness) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("valid: a whole number, 1 or more")
	}
	*s = slowness(n)
	return nil
}

// ReadPlan reads a scenario, as ReadScenario does, and compiles it to a plan.
func ReadPlan(file string, in load.Instead) (*scenario.Plan, error) {
	data, err := ReadScenario(file)
	if err != nil {
		return nil, err
	}
	return MakePlan(Called(file), data, in)
}

// MakePlan compiles data, the content of the scenario file called file, to a plan.
func MakePlan(file string, data []byte, in load.Instead) (*scenario.Plan, error) {
	defer Reading(file)()
	p, err := load.Plan(file, data, in)
	if err != nil {
		return nil, err
	}
	if in.Response != "" && in.Response != "none" && p.Scenario.Detector == catalog.None {
		return nil, fmt.Errorf("%s: --response %s: detector none declares no deadlock, so no response follows; choose another detector", file, in.Response)
	}
	for _, w := range p.Warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	return p, nil
}

// Called returns the name by which messages call a file: "<stdin>" for "-".
func Called(file string) string {
	if file == "-" {
		return "<stdin>"
	}
	return file
}

// ReadFile reads a YAML file, or standard input if its name is "-". It reads at most one byte more
// than strictyaml accepts, so that strictyaml refuses a larger file.
func ReadFile(name string) ([]byte, error) {
	defer Reading(Called(name))()
	f := os.Stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	return io.ReadAll(io.LimitReader(f, strictyaml.MaxBytes+1))
}

// ReadScenario reads a scenario: a file, a scenario that comes with softswitch, by its name, or
// standard input if name is "-".
func ReadScenario(name string) ([]byte, error) {
	data, err := ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "./") {
		if shipped, ferr := scenarios.Read(name); ferr == nil {
			return shipped, nil
		}
		return nil, fmt.Errorf("%w, nor is it a scenario that comes with softswitch; those are %s", err, strings.Join(scenarios.Offered(), ", "))
	}
	if info, ierr := os.Stat(name); ierr == nil && info.IsDir() {
		return nil, otherFolder(name)
	}
	if err != nil {
		return nil, err
	}
	return data, importer.OtherProgram(name, data)
}

// otherFolder returns the error for a folder in the place of a scenario file.
func otherFolder(name string) error {
	files, _ := filepath.Glob(filepath.Join(name, "*.json"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && importer.OtherProgram(file, data) != nil {
			return fmt.Errorf("%s: a folder of SONiC's config_db.json, not a scenario; `softswitch import sonic %s > fabric.yaml` makes one of it", name, name)
		}
	}
	return fmt.Errorf("%s: a folder; name a scenario file in it", name)
}

// Shipped reports whether ReadScenario resolves name to a scenario that comes with softswitch.
func Shipped(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist) && slices.Contains(scenarios.Offered(), name)
}

// FilesAndNames completes the names of scenarios that come with softswitch, and files.
func FilesAndNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Offered(), cobra.ShellCompDirectiveDefault
}
