package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/scenario"
)

// instead is what the command line chooses instead of a scenario file.
type instead struct {
	detector, response string
	slow               int // 0 is 1
}

// flags are those that choose the detector and the response.
func (in *instead) flags(c *cobra.Command) {
	c.Flags().StringVar(&in.detector, "detector", "", "deadlock detector instead of the file's: "+strings.Join(catalog.Names(), ", "))
	c.Flags().StringVar(&in.response, "response", "", "what a declared deadlock leads to, instead of the file's: "+strings.Join(respond.Names(), ", "))
	c.RegisterFlagCompletionFunc("detector", cobra.FixedCompletions(catalog.Names(), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("response", cobra.FixedCompletions(respond.Names(), cobra.ShellCompDirectiveNoFileComp))
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

// apply puts what was chosen into s.
func (in *instead) apply(s *scenario.Scenario) (*scenario.Scenario, error) {
	if in.detector != "" {
		if _, err := catalog.Named("--detector", in.detector); err != nil {
			return nil, err
		}
		s.Detector = in.detector
	}
	if in.response != "" {
		if _, err := respond.Parse(in.response); err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		s.Response = in.response
	}
	if in.slow == 0 {
		return s, nil
	}
	return s.Slow(in.slow)
}

// readPlan reads a scenario file and makes a plan of it.
func readPlan(file string, in instead) (*scenario.Plan, error) {
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	return makePlan(file, data, in)
}

// makePlan makes a plan of data, the content of the scenario file called file.
func makePlan(file string, data []byte, in instead) (*scenario.Plan, error) {
	s, err := parseScenario(file, data)
	if err != nil {
		return nil, err
	}
	for _, w := range s.Warnings {
		fmt.Fprintln(os.Stderr, "warning:", w)
	}
	if s, err = in.apply(s); err != nil {
		return nil, err
	}
	return scenario.Compile(s)
}

// parseScenario reads data, the content of the scenario file called file.
func parseScenario(file string, data []byte) (*scenario.Scenario, error) {
	return scenario.Parse(file, data, known())
}
