package compare

import (
	"context"
	"fmt"

	"softswitch/oracle/verdict"
	"softswitch/scenario"
)

// Choice is what a user wants to compare. No names are all that are usual.
type Choice struct {
	World              string // "sim" or "live"
	Scenarios, Systems []string
	Runs               int
	From               int64 // the first seed
}

// Matrix checks a choice; live, plans are played by play. Errors name the flags --runs, --seed-from
// and --world, the scenario or the system.
func (c *Choice) Matrix(play func(context.Context, *scenario.Plan) (*verdict.Verdict, error)) (*Matrix, error) {
	if c.Runs < 1 {
		return nil, fmt.Errorf("--runs: %d; valid: 1 or more", c.Runs)
	}
	if c.From < 0 {
		return nil, fmt.Errorf("--seed-from: %d; valid: 0 or above", c.From)
	}
	world, ok := NewWorld(c.World, play)
	if !ok {
		return nil, fmt.Errorf("--world: %q; valid: sim, live", c.World)
	}
	scenarios, err := Scenarios(c.World, c.Scenarios)
	if err != nil {
		return nil, err
	}
	systems, err := PickSystems(c.Systems)
	if err != nil {
		return nil, err
	}
	return &Matrix{World: world, Scenarios: scenarios, Systems: systems, Runs: c.Runs, First: uint64(c.From)}, nil
}
