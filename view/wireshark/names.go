package wireshark

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"softswitch/internal/safefile"
	"softswitch/link/decode"
	"softswitch/unit"
)

// WriteNames writes the names of the ports of a scenario into dir, in a file that the preference itsy.names
// may name, and reports it. A line is a port: number, or "-" for a host's, address and name.
func WriteNames(dir, scenario string, names []decode.PortName, out io.Writer) error {
	base := filepath.Base(scenario)
	path := filepath.Join(dir, strings.TrimSuffix(base, filepath.Ext(base))+".names")
	var b bytes.Buffer
	for _, p := range names {
		number := "-"
		if p.Number != (unit.NodePort{}) {
			number = fmt.Sprintf("%d.%d", p.Number.Node, p.Number.Port)
		}
		fmt.Fprintln(&b, number, p.MAC, p.Name)
	}
	if err := safefile.Replace(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("decode wireshark: %w", err)
	}
	fmt.Fprintf(out, "wrote %s\nchoose it in Preferences > Protocols > ITSY, or by: tshark -o itsy.names:%s\n", path, path)
	return nil
}
