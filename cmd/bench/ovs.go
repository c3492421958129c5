package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"softswitch/internal/timer"
)

// ovsSchema is the schema of the database from which ovs-vswitchd reads its configuration.
const ovsSchema = "/usr/share/openvswitch/vswitch.ovsschema"

func findOVS() error {
	if err := findPrograms("openvswitch-switch", "ovsdb-tool", "ovsdb-server", "ovs-vsctl", "ovs-vswitchd"); err != nil {
		return err
	}
	_, err := os.Stat(ovsSchema)
	return err
}

// ovsTimeout is the maximum time for Open vSwitch to start.
const ovsTimeout = 10 * time.Second

// startOVS starts a separate Open vSwitch, with its userspace datapath, as a learning bridge. Its
// database, sockets and logs are in dir; an Open vSwitch service of the machine is not touched.
func startOVS(b *bed, cpu int, dir string) (started []*child, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), ovsTimeout)
	defer cancel()
	var (
		db     = filepath.Join(dir, "conf.db")
		socket = filepath.Join(dir, "db.sock")
		env    = []string{"OVS_RUNDIR=" + dir, "OVS_LOGDIR=" + dir, "OVS_DBDIR=" + dir, "OVS_SYSCONFDIR=" + dir}
	)
	if err := run(ctx, env, "ovsdb-tool", "create", db, ovsSchema); err != nil {
		return nil, err
	}
	at := launch{room: b.dut, cpu: cpu, dir: dir, env: env}
	at.name, at.argv = "ovsdb-server", []string{"ovsdb-server", db, "--remote=punix:" + socket, "--unixctl=" + filepath.Join(dir, "db.ctl")}
	server, err := start(at)
	if err != nil {
		return nil, err
	}
	started = append(started, server)
	if err := awaitFile(ctx, server, socket); err != nil {
		return started, err
	}
	if err := run(ctx, env, "ovs-vsctl", "--db=unix:"+socket, "--no-wait",
		"--", "init", "--", "add-br", "br0",
		"--", "set", "bridge", "br0", "datapath_type=netdev", "fail-mode=standalone",
		"--", "add-port", "br0", "p0", "--", "add-port", "br0", "p1"); err != nil {
		return started, err
	}
	at.name, at.argv = "ovs-vswitchd", []string{"ovs-vswitchd", "unix:" + socket, "--unixctl=" + filepath.Join(dir, "vswitchd.ctl")}
	vswitchd, err := start(at)
	if err != nil {
		return started, err
	}
	// Stopped first.
	return append([]*child{vswitchd}, started...), nil
}

// awaitFile waits until a process has created a file.
func awaitFile(ctx context.Context, c *child, path string) error {
	for {
		_, err := os.Stat(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := timer.Sleep(ctx, 10*time.Millisecond); err != nil {
			return fmt.Errorf("%s: it has not made %s: %w", c.name, filepath.Base(path), err)
		}
		if err := c.died(); err != nil {
			return err
		}
	}
}
