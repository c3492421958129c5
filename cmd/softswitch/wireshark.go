package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"softswitch/view/wireshark"
)

func wiresharkCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "wireshark",
		Short: "Make Wireshark and tshark show deadlock detection",
		Long: `Make Wireshark and tshark show what deadlock detection puts on the wire: the ITSY TLV in
the padding of PFC frames and in messages, and Credit Loop Control Messages.`,
	}
	group(c, wiresharkInstall())
	return c
}

func wiresharkInstall() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "install [--dir DIR]",
		Short: "Install the dissector in your plugin folder",
		Long: `Install the dissector, a Lua plugin that is built into this program, in your personal
plugin folder, which tshark is asked for. Wireshark loads it at its next start, or by
Analyze > Reload Lua Plugins. Another version of it that is there is replaced.`,
		Example: `  softswitch wireshark install
  softswitch wireshark install --dir /usr/lib/x86_64-linux-gnu/wireshark/plugins`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if dir == "" {
				if dir, err = pluginFolder(cmd.Context()); err != nil {
					return err
				}
			}
			return installPlugin(dir, os.Stdout)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "plugin folder (default: your personal one)")
	c.MarkFlagDirname("dir")
	return c
}

// folderPatience bounds the question to tshark, which answers in a second at worst.
const folderPatience = 20 * time.Second

// pluginFolder asks tshark for the folder of the user's Lua plugins.
func pluginFolder(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, folderPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tshark", "-G", "folders").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("wireshark install: tshark, which knows the folder, is not installed (Debian package tshark); install it, or name Wireshark's personal plugin folder with --dir: Help > About Wireshark > Folders shows it")
	}
	if err != nil {
		return "", fmt.Errorf("wireshark install: tshark -G folders: %w; name the folder with --dir", err)
	}
	const key = "Personal Lua Plugins:"
	for line := range strings.Lines(string(out)) {
		if dir, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(dir), nil
		}
	}
	return "", fmt.Errorf("wireshark install: `tshark -G folders` has no line %q: is it a Wireshark without Lua? Name the folder with --dir", key)
}

// installPlugin puts the plugin into dir, in one piece, and says so.
func installPlugin(dir string, out io.Writer) error {
	path := filepath.Join(dir, wireshark.PluginName)
	had, err := os.ReadFile(path)
	if err == nil && bytes.Equal(had, wireshark.Plugin) {
		fmt.Fprintf(out, "%s is there already\n", path)
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("wireshark install: %w", err)
	}
	if err := replaceFile(path, wireshark.Plugin); err != nil {
		return fmt.Errorf("wireshark install: %w", err)
	}
	fmt.Fprintf(out, "installed %s\nWireshark loads it at its next start, or by Analyze > Reload Lua Plugins; try: tshark -G protocols | grep itsy\n", path)
	if user := os.Getenv("SUDO_USER"); user != "" && user != "root" && os.Geteuid() == 0 {
		fmt.Fprintf(out, "note: this is root's; for %s, run it again without sudo\n", user)
	}
	return nil
}

// replaceFile puts data in place of the file path: who reads it sees the old or the new.
func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
