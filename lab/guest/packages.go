package guest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"softswitch/internal/lists"
	"softswitch/unit"
)

// kernelPackage depends on the package of Debian's newest kernel. The kernel for clouds has no rdma_rxe.
const kernelPackage = "linux-image-amd64"

// packages have the programs of a guest, and the libraries of these.
var packages = []string{
	"busybox-static", "ibverbs-utils", "rdmacm-utils", "perftest", "iproute2",
	"ibverbs-providers", "libibverbs1", "librdmacm1", "libibumad3",
	"libnl-3-200", "libnl-route-3-200", "libpci3", "libudev1", "libmnl0", "libcap2", "libbpf1", "libelf1", "zlib1g", "libbsd0", "libmd0",
	"libc6", "libgcc-s1",
}

// programs are those of a guest, beside busybox and its shell.
var programs = []string{"ib_write_bw", "ib_send_bw", "ib_read_bw", "ib_write_lat", "ibv_rc_pingpong", "ibv_devinfo", "rping", "rdma"}

// opened are libraries that programs open by name, so that none lists them.
var opened = []string{"libgcc_s.so.1"}

// modules are those that a guest needs; what they depend on comes with them. crc32_generic is for rdma_rxe,
// which asks the kernel's crypto for it by name.
var modules = []string{"virtio_pci", "virtio_console", "virtio_net", "crc32_generic", "rdma_rxe", "rdma_ucm"}

// kept are the parts of the kernel's package that may be needed, of 400 MB.
var kept = []string{
	"boot/vmlinuz-", "/modules.builtin", "/drivers/infiniband/", "/drivers/virtio/", "/drivers/net/", "/drivers/char/virtio_console.ko",
	"/kernel/net/", "/kernel/crypto/", "/kernel/lib/", "/fs/configfs/",
}

// tree is what packages contain: files by path, without a slash before it.
type tree map[string]file

type file struct {
	data []byte
	link string // where a symbolic link leads; "" for a regular file
}

// tools are what Build runs.
var tools = []string{"apt-get", "apt-cache", "dpkg-deb", "xz"}

// checkTools returns what is missing of tools.
func checkTools() error {
	missing := lists.Where(tools, func(name string) bool {
		_, err := exec.LookPath(name)
		return err != nil
	})
	if len(missing) > 0 {
		return fmt.Errorf("no %s on this machine: a guest is built of Debian's packages; needed: %s, of Debian 12 or later", strings.Join(missing, ", "), strings.Join(tools, ", "))
	}
	return nil
}

// run runs a tool in dir and returns what it prints.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(problem.String()), "\n")
		err = fmt.Errorf("%s %s: %w: %s", name, args[0], err, first)
	}
	return out, err
}

// kernel returns the name of the package of Debian's newest kernel.
func kernel(ctx context.Context) (string, error) {
	out, err := run(ctx, "", "apt-cache", "depends", kernelPackage)
	if err != nil {
		return "", fmt.Errorf("%w; after `apt-get update` apt may know the package", err)
	}
	for line := range strings.Lines(string(out)) {
		if _, name, is := strings.Cut(line, "Depends: "); is && strings.HasPrefix(name, "linux-image-") {
			return strings.TrimSpace(name), nil
		}
	}
	return "", fmt.Errorf("apt knows no kernel: %s depends on no linux-image; a guest is built of the packages of Debian 12 or later", kernelPackage)
}

// download fetches packages into dir, and says on progress how much that is.
func download(ctx context.Context, dir string, names []string, progress io.Writer) error {
	get := append([]string{"download", "-qq", "-o", "APT::Sandbox::User=root"}, names...) // apt's own user could not write there
	uris, err := run(ctx, dir, "apt-get", append(get, "--print-uris")...)
	if err != nil {
		return fmt.Errorf("%w; after `apt-get update` apt may know where the packages are", err)
	}
	total := 0
	for line := range strings.Lines(string(uris)) { // 'URI' FILE SIZE HASH
		if f := strings.Fields(line); len(f) >= 3 {
			size, _ := strconv.Atoi(f[2])
			total += size
		}
	}
	fmt.Fprintf(progress, "downloads %s of Debian, %d MB: %s, perftest, rping and what they need\n", unit.Count(len(names), "package"), (total+500_000)/1_000_000, names[0])
	if _, err := run(ctx, dir, "apt-get", get...); err != nil {
		return fmt.Errorf("%w; is the network there?", err)
	}
	return nil
}

// unpack reads the packages in dir.
func unpack(ctx context.Context, dir string) (tree, error) {
	debs, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil {
		return nil, err
	}
	all := tree{}
	for _, deb := range debs {
		if err := all.add(ctx, deb); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(deb), err)
		}
	}
	return all, nil
}

// add reads one package.
func (t tree) add(ctx context.Context, deb string) (err error) {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	isKernel := strings.HasPrefix(filepath.Base(deb), "linux-image-")
	err = t.read(tar.NewReader(out), func(name string) bool {
		if isKernel {
			return slices.ContainsFunc(kept, func(part string) bool { return strings.Contains(name, part) })
		}
		return !strings.HasPrefix(name, "usr/share/")
	})
	if err != nil {
		cmd.Process.Kill()
	}
	return errors.Join(err, cmd.Wait())
}

func (t tree) read(in *tar.Reader, wanted func(name string) bool) error {
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.Clean(h.Name), "/")
		if !wanted(name) {
			continue
		}
		switch h.Typeflag {
		case tar.TypeReg:
			data, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			t[name] = file{data: data}
		case tar.TypeSymlink:
			t[name] = file{link: h.Linkname}
		}
	}
}

// find returns the contents of the file of that base name whose path contains part, through symbolic links
// in its folder.
func (t tree) find(part, base string) ([]byte, error) {
	for range 5 {
		next := ""
		for name, f := range t {
			if filepath.Base(name) != base || !strings.Contains("/"+name, part) {
				continue
			}
			if f.link == "" {
				return f.data, nil
			}
			next = filepath.Base(f.link)
		}
		if next == "" {
			break
		}
		base = next
	}
	return nil, fmt.Errorf("%s: %w in the packages", base, fs.ErrNotExist)
}
