package wireshark

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

	"softswitch/internal/safefile"
)

// folderPatience is the timeout for tshark, which answers within a second.
const folderPatience = 20 * time.Second

// Folder asks tshark for the user's Lua plugin folder.
func Folder(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, folderPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "tshark", "-G", "folders").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("decode wireshark: tshark, which knows the folder, is not installed (Debian package tshark); install it, or name Wireshark's personal plugin folder with --dir: Help > About Wireshark > Folders shows it")
	}
	if err != nil {
		return "", fmt.Errorf("decode wireshark: tshark -G folders: %w; name the folder with --dir", err)
	}
	const key = "Personal Lua Plugins:"
	for line := range strings.Lines(string(out)) {
		if dir, ok := strings.CutPrefix(line, key); ok {
			return strings.TrimSpace(dir), nil
		}
	}
	return "", fmt.Errorf("decode wireshark: `tshark -G folders` has no line %q: is it a Wireshark without Lua? Name the folder with --dir", key)
}

// Install writes the plugin into dir and reports it.
func Install(dir string, out io.Writer) error {
	path := filepath.Join(dir, PluginName)
	had, err := os.ReadFile(path)
	if err == nil && bytes.Equal(had, Plugin) {
		fmt.Fprintf(out, "%s is there already\n", path)
		return nil
	}
	if err := safefile.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("decode wireshark: %w", err)
	}
	if err := safefile.Replace(path, Plugin, 0o644); err != nil {
		return fmt.Errorf("decode wireshark: %w", err)
	}
	fmt.Fprintf(out, "installed %s\nWireshark loads it at its next start, or by Analyze > Reload Lua Plugins; try: tshark -G protocols | grep itsy\n", path)
	if user := os.Getenv("SUDO_USER"); user != "" && user != "root" && os.Geteuid() == 0 {
		fmt.Fprintf(out, "note: this is root's; for %s, run it again without sudo\n", user)
	}
	return nil
}
