package node

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"softswitch/dataplane"
	"softswitch/detect/catalog"
	"softswitch/node/config"
)

// TestRestartRefuses: a switch goes on if it is to restart with what it cannot run.
func TestRestartRefuses(t *testing.T) {
	cfg := config.Switch{Name: "s1", ID: 1}
	for p := range 65 {
		cfg.Ports = append(cfg.Ports, config.Port{Name: fmt.Sprintf("p%d", p)})
	}
	cfg.Fill()
	none, err := catalog.Named("test", catalog.None)
	if err != nil {
		t.Fatal(err)
	}
	sw, err := dataplane.NewSwitch(cfg.Build(none.New, 8, 0))
	if err != nil {
		t.Fatal(err)
	}
	s := newSwitchNode(sw, "")
	s.again = func(r restart) { t.Errorf("it restarts: %v", &r) }
	for args, want := range map[string]string{
		`{"detector": "itsypaper", "response": "none"}`: `restart: detector: "itsypaper" takes switches of at most 64 ports, and this one has 65; use none, itsy, `,
		`{"detector": "magic", "response": "none"}`:     `restart: detector: "magic" is no detector`,
		`{"detector": "itsy", "response": "magic"}`:     `response: "magic"`,
	} {
		if _, err := s.restart(nil, json.RawMessage(args)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}
