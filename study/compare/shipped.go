package compare

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"softswitch/internal/strictyaml"
	"softswitch/lab"
	"softswitch/scenario"
	"softswitch/scenario/importer"
	"softswitch/scenario/load"
	"softswitch/scenarios"
)

// Scenarios are the shipped scenarios of these names, the usual ones of the world if
// there are no names. A name with a dot or a slash is that of a file, "-" standard input. Errors name the
// flag --scenarios, or the file and the line.
func Scenarios(world string, names []string) ([]Source, error) {
	all, err := shippedScenarios(world)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return usualScenarios(world, all)
	}
	for _, name := range names {
		if name != "-" && !strings.ContainsAny(name, "./") {
			continue
		}
		data, err := readFile(name)
		if err != nil {
			return nil, fmt.Errorf("--scenarios: %w", err)
		}
		if err := importer.OtherProgram(name, data); err != nil {
			return nil, fmt.Errorf("--scenarios: %w", err)
		}
		own := newSource(world, name, name, data)
		if _, err := own.Parse(); err != nil {
			return nil, err
		}
		all = append(all, own)
	}
	return Named("scenarios", names, all, func(s Source) string { return s.Name })
}

// readFile reads a scenario file, or standard input if its name is "-".
func readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, strictyaml.MaxBytes+1))
	}
	return os.ReadFile(name)
}

// shippedScenarios are the scenario files of this program; live, as much slower as a
// lab needs them to be.
func shippedScenarios(world string) (all []Source, err error) {
	files, err := fs.Glob(scenarios.FS, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := scenarios.FS.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, newSource(world, strings.TrimSuffix(file, ".yaml"), "scenarios/"+file, data))
	}
	return all, nil
}

// newSource is the scenario of data, the content of file.
func newSource(world, name, file string, data []byte) Source {
	return Source{Name: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Parse: func() (*scenario.Scenario, error) {
		s, err := load.Scenario(file, data)
		if err != nil || world == "sim" {
			return s, err
		}
		return s.Slow(lab.Slowness(s))
	}}
}

// usualScenarios are those to play if none is named.
func usualScenarios(world string, all []Source) (usual []Source, err error) {
	for _, src := range all {
		s, err := src.Parse()
		if err != nil {
			return nil, err
		}
		if s.Prevention == nil && (world == "sim" || strings.HasPrefix(src.Name, "fattree-")) {
			usual = append(usual, src)
		}
	}
	return usual, nil
}
