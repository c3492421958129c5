package config

import (
	"strings"
	"testing"
)

func TestParseListen(t *testing.T) {
	for _, tt := range []struct{ text, host, port, fault string }{
		{text: "127.0.0.1:9100", host: "127.0.0.1", port: "9100"},
		{text: ":9100", host: "127.0.0.1", port: "9100"},
		{text: "9100", host: "127.0.0.1", port: "9100"},
		{text: "0.0.0.0:0", host: "0.0.0.0", port: "0"},
		{text: "[::1]:65535", host: "::1", port: "65535"},
		{text: "lab.example:80", host: "lab.example", port: "80"},
		{text: "localhost", fault: `"localhost": port "localhost"; valid: host:port with a port of 0 to 65535`},
		{text: "localhost:", fault: `port ""; valid`},
		{text: ":65536", fault: `port "65536"; valid`},
		{text: ":-1", fault: `port "-1"; valid`},
		{text: "", fault: `port ""; valid`},
	} {
		host, port, err := ParseListen(tt.text)
		switch {
		case tt.fault == "" && (err != nil || host != tt.host || port != tt.port):
			t.Errorf("%q: %q, %q, %v; want %q, %q", tt.text, host, port, err, tt.host, tt.port)
		case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
			t.Errorf("%q: %v, want %q", tt.text, err, tt.fault)
		}
	}
}
