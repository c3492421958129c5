package guest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"softswitch/internal/safefile"
	"softswitch/internal/timer"
)

// Dir is where guests boot from, once Build has made it.
const Dir = "/var/cache/softswitch/guest"

// Files of Dir.
const (
	kernelFile    = "vmlinux"
	initramfsFile = "initramfs"
	recipeFile    = "recipe" // what the others were made by
)

//go:embed root
var root embed.FS

// scripts yields the programs of a guest that are this package's own, by name.
func scripts() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, name := range []string{"init", "serve", "run-line"} {
			data, err := root.ReadFile("root/" + name)
			if err != nil {
				panic(err) // they are part of the program
			}
			if !yield(name, data) {
				return
			}
		}
	}
}

// recipe identifies what Build makes a guest of, the versions of packages aside.
func recipe() string {
	sum := sha256.New()
	fmt.Fprintln(sum, packages, programs, opened, modules)
	for name, data := range scripts() {
		fmt.Fprintln(sum, name)
		sum.Write(data)
	}
	return hex.EncodeToString(sum.Sum(nil)) + "\n"
}

// Build makes what guests boot from, in Dir, and replaces what is there. It downloads packages of Debian by
// apt-get and installs none. It waits for another that builds. progress gets a few lines.
func Build(ctx context.Context, progress io.Writer) error {
	return whileLocked(ctx, func() error { return replace(ctx, progress) })
}

// Ensure is Build unless Dir has what this program boots guests from.
func Ensure(ctx context.Context, progress io.Writer) error {
	if built() {
		return nil
	}
	return whileLocked(ctx, func() error {
		if built() {
			return nil
		}
		return replace(ctx, progress)
	})
}

// built reports whether Dir has what this program boots guests from.
func built() bool {
	have, err := os.ReadFile(filepath.Join(Dir, recipeFile))
	return err == nil && string(have) == recipe()
}

// whileLocked calls do while no other process does.
func whileLocked(ctx context.Context, do func() error) error {
	parent := filepath.Dir(Dir)
	if err := safefile.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	lock, err := os.Open(parent)
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	defer lock.Close()
	for unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		if err := timer.Sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return do()
}

// replace is Build while no other process does the same.
func replace(ctx context.Context, progress io.Writer) error {
	if runtime.GOARCH != "amd64" {
		return fmt.Errorf("guest: a guest is built of packages for amd64, and this machine is %s", runtime.GOARCH)
	}
	if err := checkTools(); err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	began := time.Now()
	making := Dir + ".new"
	if err := errors.Join(os.RemoveAll(making), safefile.MkdirAll(making, 0o755)); err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	defer os.RemoveAll(making)
	size, err := build(ctx, making, progress)
	if err == nil {
		err = errors.Join(os.RemoveAll(Dir), os.Rename(making, Dir))
	}
	if err != nil {
		return fmt.Errorf("guest: %w", err)
	}
	fmt.Fprintf(progress, "%s: %d MB, made in %s\n", Dir, (size+500_000)/1_000_000, time.Since(began).Round(time.Second))
	return nil
}

// build makes the files in dir, and returns their bytes.
func build(ctx context.Context, dir string, progress io.Writer) (size int, err error) {
	debs := filepath.Join(dir, "packages")
	if err := safefile.MkdirAll(debs, 0o755); err != nil {
		return 0, err
	}
	version, err := kernel(ctx)
	if err != nil {
		return 0, err
	}
	if err := download(ctx, debs, append([]string{version}, packages...), progress); err != nil {
		return 0, err
	}
	all, err := unpack(ctx, debs)
	if err != nil {
		return 0, err
	}
	initramfs, err := all.initramfs(ctx)
	if err != nil {
		return 0, err
	}
	kernel, err := all.kernel(ctx)
	if err != nil {
		return 0, err
	}
	for name, data := range map[string][]byte{kernelFile: kernel, initramfsFile: initramfs, recipeFile: []byte(recipe())} {
		if err := safefile.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return 0, err
		}
		size += len(data)
	}
	return size, os.RemoveAll(debs)
}

// initramfs makes the file system of a guest.
func (t tree) initramfs(ctx context.Context) ([]byte, error) {
	var a archive
	for _, name := range strings.Fields("bin dev etc lib lib64 modules proc run sys tmp") {
		a.folder(name)
	}
	for name, data := range scripts() {
		if name != "init" {
			name = "bin/" + name
		}
		a.add(name, 0o755, data)
	}
	busybox, err := t.find("/", "busybox")
	if err != nil {
		return nil, err
	}
	a.add("bin/busybox", 0o755, busybox)
	if err := t.addPrograms(&a); err != nil {
		return nil, err
	}
	m := newModules(t)
	for _, name := range modules {
		if err := m.add(ctx, name); err != nil {
			return nil, err
		}
	}
	for _, name := range m.order {
		a.add("modules/"+name+".ko", 0o644, m.data[name])
	}
	a.add("modules/order", 0o644, []byte(strings.Join(m.order, "\n")+"\n"))
	return a.bytes(), nil
}

// addPrograms adds the programs, their libraries, and the driver of rxe by which they find its device.
func (t tree) addPrograms(a *archive) error {
	libs := map[string][]byte{}
	for _, name := range programs {
		data, err := t.find("bin/", name)
		if err != nil {
			return err
		}
		a.add("bin/"+name, 0o755, data)
		if err := t.libraries(libs, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range opened {
		if err := t.library(libs, name); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(t)) {
		if f := t[path]; strings.HasPrefix(filepath.Base(path), "librxe-") && f.link == "" {
			a.add(path, 0o644, f.data)
			if err := t.libraries(libs, f.data); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	driver, err := t.find("/libibverbs.d/", "rxe.driver")
	if err != nil {
		return err
	}
	a.add("etc/libibverbs.d/rxe.driver", 0o644, driver) // of others each program would warn
	for _, name := range slices.Sorted(maps.Keys(libs)) {
		a.add("lib/"+name, 0o644, libs[name])
	}
	data, err := t.find("/", loader)
	if err != nil {
		return err
	}
	a.add("lib64/"+loader, 0o755, data)
	return nil
}

// kernel returns the kernel without its compression, if it is packed by xz: QEMU starts an ELF file at once.
func (t tree) kernel(ctx context.Context) ([]byte, error) {
	for path, f := range t {
		if !strings.HasPrefix(path, "boot/vmlinuz-") {
			continue
		}
		if _, packed, is := bytes.Cut(f.data, []byte("\xfd7zXZ\x00")); is {
			plain, _ := unxz(ctx, append([]byte("\xfd7zXZ\x00"), packed...)) // xz complains of what follows
			if bytes.HasPrefix(plain, []byte("\x7fELF")) {
				return plain, nil
			}
		}
		return f.data, nil
	}
	return nil, errors.New("no boot/vmlinuz in the kernel's package")
}
