package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/strictyaml"
	"softswitch/scenario"
	"softswitch/scenario/load"
	"softswitch/scenarios"
)

// InsteadFlags are those that choose something instead of a scenario file's detector and
// response.
func InsteadFlags(c *cobra.Command, in *load.Instead) {
	DetectorFlag(c, &in.Detector, "", "deadlock detector instead of the file's: %s")
	c.Flags().StringVar(&in.Response, "response", "", "what a declared deadlock leads to, instead of the file's: "+strings.Join(respond.Names(), ", "))
	c.RegisterFlagCompletionFunc("response", cobra.FixedCompletions(respond.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// DetectorFlag is the flag of commands that run a detector; usage has a %s for their names.
func DetectorFlag(c *cobra.Command, detector *string, value, usage string) {
	c.Flags().StringVar(detector, "detector", value, fmt.Sprintf(usage, strings.Join(catalog.Names(), ", ")))
	c.RegisterFlagCompletionFunc("detector", cobra.FixedCompletions(catalog.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// Named are the names that a flag lists, of which none stand for all that are usual. One that is given
// without any, as by a variable of the shell that is not set, lists an empty name: there is none such.
func Named(c *cobra.Command, flag string, names []string) []string {
	if len(names) == 0 && c.Flags().Changed(flag) {
		return []string{""}
	}
	return names
}

// SlowFlag is the flag of commands that play a scenario.
func SlowFlag(c *cobra.Command, slow *int) {
	*slow = 1
	c.Flags().Var((*slowness)(slow), "slow", "divide every rate by so much and multiply every time by it: the same experiment, slower")
}

// slowness is a flag of 1 or more.
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

// ReadPlan reads a scenario, as ReadScenario does, and makes a plan of it.
func ReadPlan(file string, in load.Instead) (*scenario.Plan, error) {
	data, err := ReadScenario(file)
	if err != nil {
		return nil, err
	}
	return MakePlan(Called(file), data, in)
}

// MakePlan makes a plan of data, the content of the scenario file called file.
func MakePlan(file string, data []byte, in load.Instead) (*scenario.Plan, error) {
	defer Reading(file)()
	p, err := load.Plan(file, data, in)
	if err != nil {
		return nil, err
	}
	if in.Response != "" && in.Response != "none" && p.Scenario.Detector == catalog.None {
		return nil, fmt.Errorf("%s: --response %s: with detector none no deadlock is declared that could lead to it; choose another detector", file, in.Response)
	}
	for _, w := range p.Scenario.Warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	return p, nil
}

// Called is what messages call a file that ReadFile reads: "<stdin>" if its name is "-".
func Called(file string) string {
	if file == "-" {
		return "<stdin>"
	}
	return file
}

// ReadFile reads a YAML file, or standard input if its name is "-". Of one that is
// larger than a file may be it reads just enough for strictyaml to refuse it.
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

// ReadScenario reads a scenario: a file, the one of that name that comes with softswitch, or
// standard input if it is "-".
func ReadScenario(name string) ([]byte, error) {
	data, err := ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "./") {
		if shipped, ferr := scenarios.FS.ReadFile(name + ".yaml"); ferr == nil {
			return shipped, nil
		}
		return nil, fmt.Errorf("%w, nor is it a scenario that comes with softswitch; those are %s", err, strings.Join(scenarios.Names(), ", "))
	}
	if err == nil && isSONiC(data) {
		return nil, fmt.Errorf("%s: this is SONiC's config_db.json; `softswitch import sonic %s` makes a scenario of it, or of a folder of them", Called(name), name)
	}
	return data, err
}

// isSONiC reports whether a file has tables that the configuration of a SONiC switch has.
func isSONiC(data []byte) bool {
	var tables struct {
		Port     json.RawMessage `json:"PORT"`
		Metadata json.RawMessage `json:"DEVICE_METADATA"`
	}
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && json.Unmarshal(data, &tables) == nil && (tables.Port != nil || tables.Metadata != nil)
}

// Shipped reports whether ReadScenario takes name for that of a scenario that comes with softswitch.
func Shipped(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist) && slices.Contains(scenarios.Names(), name)
}

// FilesAndNames completes the names of scenarios that come with softswitch, and files.
func FilesAndNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Names(), cobra.ShellCompDirectiveDefault
}
