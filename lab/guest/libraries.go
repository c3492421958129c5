package guest

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// libraryFolder is part of the paths of Debian's libraries for amd64.
const libraryFolder = "/x86_64-linux-gnu/"

// loader is the program that starts a program with libraries, and its path in every such program.
const loader = "ld-linux-x86-64.so.2"

// libraries adds what binaries need to libs, by name, and what those need in turn.
func (t tree) libraries(libs map[string][]byte, binary []byte) error {
	e, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	needs, err := e.ImportedLibraries()
	if err != nil {
		return err
	}
	for _, name := range needs {
		if err := t.library(libs, name); err != nil {
			return err
		}
	}
	return nil
}

// library adds one library, and what it needs.
func (t tree) library(libs map[string][]byte, name string) error {
	if libs[name] != nil || name == loader {
		return nil
	}
	data, err := t.find(libraryFolder, name)
	if err != nil {
		return err
	}
	libs[name] = data
	return t.libraries(libs, data)
}

// kernelModules are the modules of a kernel, in an order in which each comes after those that it depends on.
// The package has no list of that: modules.dep is made when it is installed.
type kernelModules struct {
	t     tree
	built string // names of what is in the kernel itself
	order []string
	data  map[string][]byte
}

func newModules(t tree) kernelModules {
	built, _ := t.find("/modules/", "modules.builtin")
	return kernelModules{t: t, built: strings.ReplaceAll(string(built), "-", "_"), data: map[string][]byte{}}
}

// add adds a module, after those that it depends on.
func (m *kernelModules) add(ctx context.Context, name string) error {
	name = strings.ReplaceAll(name, "-", "_")
	if m.data[name] != nil || strings.Contains(m.built, "/"+name+".ko\n") {
		return nil
	}
	data, err := m.find(ctx, name)
	if err != nil {
		return err
	}
	m.data[name] = data
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	info := e.Section(".modinfo")
	if info == nil {
		return fmt.Errorf("module %s: no section .modinfo", name)
	}
	text, err := info.Data()
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	for _, entry := range strings.Split(string(text), "\x00") {
		needs, is := strings.CutPrefix(entry, "depends=")
		if !is || needs == "" {
			continue
		}
		for _, need := range strings.Split(needs, ",") {
			if err := m.add(ctx, need); err != nil {
				return fmt.Errorf("module %s: %w", name, err)
			}
		}
	}
	m.order = append(m.order, name)
	return nil
}

// find returns the module of that name, unpacked.
func (m *kernelModules) find(ctx context.Context, name string) ([]byte, error) {
	for path, f := range m.t {
		base := strings.ReplaceAll(filepath.Base(path), "-", "_")
		switch base {
		case name + ".ko":
			return f.data, nil
		case name + ".ko.xz":
			return unxz(ctx, f.data)
		}
	}
	return nil, fmt.Errorf("no module %s in the kernel's package", name)
}

// unxz unpacks the first stream of data.
func unxz(ctx context.Context, data []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "xz", "-dc", "--single-stream")
	cmd.Stdin = bytes.NewReader(data)
	return cmd.Output()
}
