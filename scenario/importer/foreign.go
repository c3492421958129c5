package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"softswitch/internal/lists"
)

// OtherProgram returns the error for data, the content of a file that was given as a scenario but is one of another
// program: it names the command that makes a scenario of it. name is "-" for standard input. The
// error is nil for any other file.
func OtherProgram(name string, data []byte) error {
	what, imports := "", ""
	switch text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))); {
	case isSONiC(text):
		what, imports = "SONiC's config_db.json", "sonic %s"
	case isGraphML(text):
		what, imports = "a graph in GraphML", "graphml %s"
	case containerlab.Match(text):
		what, imports = "a topology of containerlab", "containerlab %s --rate 100Gbit/s"
	case isHPCC(text):
		what, imports = "a topology of HPCC's simulator", "hpcc %s"
	default:
		return nil
	}
	place, file := name, name
	if name == "-" {
		place, file = "<stdin>", "FILE"
	}
	return fmt.Errorf("%s: this is %s, not a scenario; `softswitch import "+imports+" > fabric.yaml` makes one of it", place, what, file)
}

// isSONiC reports whether data has tables of a SONiC switch configuration.
func isSONiC(data []byte) bool {
	var tables struct {
		Port     json.RawMessage `json:"PORT"`
		Metadata json.RawMessage `json:"DEVICE_METADATA"`
	}
	return bytes.HasPrefix(data, []byte("{")) && json.Unmarshal(data, &tables) == nil && (tables.Port != nil || tables.Metadata != nil)
}

// graphML is the element of a graph, below a declaration, comments and a name space.
var graphML = regexp.MustCompile(`<([a-z]+:)?graphml[\s>]`)

func isGraphML(data []byte) bool { return bytes.HasPrefix(data, []byte("<")) && graphML.Match(data) }

// containerlab is the nodes below a topology. A scenario has switches there.
var containerlab = regexp.MustCompile(`(?m)^topology:[ \t\r]*(#.*)?\n([ \t#].*\n|\r?\n)*?[ \t]+nodes:`)

// isHPCC reports whether data begins with two lines of numbers: how many nodes, switches and links there
// are, and the numbers of that many switches.
func isHPCC(data []byte) bool {
	first, rest, _ := strings.Cut(string(data[:min(len(data), 1<<16)]), "\n")
	second, _, _ := strings.Cut(rest, "\n")
	counts, switches := strings.Fields(first), strings.Fields(second)
	numbers := func(words []string) bool {
		return len(lists.Where(words, func(w string) bool { _, err := strconv.Atoi(w); return err != nil })) == 0
	}
	return len(counts) == 3 && numbers(counts) && len(switches) > 0 && numbers(switches)
}
