package main

import (
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

// insteadFlags are those that choose something instead of a scenario file's detector and
// response.
func insteadFlags(c *cobra.Command, in *load.Instead) {
	detectorFlag(c, &in.Detector, "", "deadlock detector instead of the file's: %s")
	c.Flags().StringVar(&in.Response, "response", "", "what a declared deadlock leads to, instead of the file's: "+strings.Join(respond.Names(), ", "))
	c.RegisterFlagCompletionFunc("response", cobra.FixedCompletions(respond.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// detectorFlag is the flag of commands that run a detector; usage has a %s for their names.
func detectorFlag(c *cobra.Command, detector *string, value, usage string) {
	c.Flags().StringVar(detector, "detector", value, fmt.Sprintf(usage, strings.Join(catalog.Names(), ", ")))
	c.RegisterFlagCompletionFunc("detector", cobra.FixedCompletions(catalog.Names(), cobra.ShellCompDirectiveNoFileComp))
}

// slowFlag is the flag of commands that play a scenario.
func slowFlag(c *cobra.Command, slow *int) {
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

// readPlan reads a scenario file and makes a plan of it.
func readPlan(file string, in load.Instead) (*scenario.Plan, error) {
	data, err := readPlanFile(file)
	if err != nil {
		return nil, err
	}
	return makePlan(called(file), data, in)
}

// readPlanFile reads the scenario file that a plan is made of.
func readPlanFile(file string) ([]byte, error) {
	data, err := readFile(file)
	if errors.Is(err, fs.ErrNotExist) && slices.Contains(scenarios.Names(), file) {
		err = fmt.Errorf("%w; a file is wanted here, such as scenarios/%s.yaml", err, file)
	}
	return data, err
}

// makePlan makes a plan of data, the content of the scenario file called file.
func makePlan(file string, data []byte, in load.Instead) (*scenario.Plan, error) {
	p, err := load.Plan(file, data, in)
	if err != nil {
		return nil, err
	}
	for _, w := range p.Scenario.Warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	return p, nil
}

// called is what messages call a file that readFile reads: "<stdin>" if its name is "-".
func called(file string) string {
	if file == "-" {
		return "<stdin>"
	}
	return file
}

// readFile reads a YAML file, or standard input if its name is "-". Of one that is
// larger than a file may be it reads just enough for strictyaml to refuse it.
func readFile(name string) ([]byte, error) {
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
