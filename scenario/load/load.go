package load

import (
	"fmt"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/internal/strictyaml"
	"softswitch/scenario"
)

// Known is the names that a scenario file may use.
func Known() scenario.Known {
	return scenario.Known{Detectors: catalog.Names()[1:], Responses: respond.Names()[1:], Fits: catalog.Fits}
}

// Scenario reads data, the content of the scenario file called file, with settings in the
// place of what it says.
func Scenario(file string, data []byte, settings ...strictyaml.Setting) (*scenario.Scenario, error) {
	return scenario.ParseSet(file, data, Known(), settings...)
}

// Instead is the user's choices that override a scenario file. Empty names choose
// nothing; Slow, unless 0, is for scenario.Slow. Errors name the flags --set, --detector
// and --response.
type Instead struct {
	Set                []strictyaml.Setting
	Detector, Response string
	Slow               int
}

// Plan makes a plan of data, the content of the scenario file called file.
func Plan(file string, data []byte, in Instead) (*scenario.Plan, error) {
	s, err := Scenario(file, data, in.Set...)
	if err != nil {
		return nil, err
	}
	if s, err = in.apply(s); err != nil {
		return nil, err
	}
	return scenario.Compile(s)
}

// apply applies the choices to s.
func (in *Instead) apply(s *scenario.Scenario) (*scenario.Scenario, error) {
	if in.Detector != "" {
		if _, err := catalog.Named("--detector", in.Detector); err != nil {
			return nil, err
		}
		s.Detector = in.Detector
		if err := s.DetectorFits(catalog.Fits); err != nil {
			return nil, fmt.Errorf("--detector: %w", err)
		}
	}
	if in.Response != "" {
		if _, err := respond.Parse(in.Response); err != nil {
			return nil, fmt.Errorf("--%w", err)
		}
		s.Response = in.Response
	}
	if in.Slow == 0 {
		return s, nil
	}
	return s.Slow(in.Slow)
}
