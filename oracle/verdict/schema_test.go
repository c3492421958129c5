package verdict_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/internal/testsim"
	"softswitch/oracle/verdict"
	"softswitch/sim"
)

// TestSchema: verdicts are as the schema says, and what is not is refused.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(verdict.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("verdict.json", doc); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("verdict.json")
	valid := func(text []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for _, name := range []string{"pause", "itsy-fig2", "hu-case1-above"} {
		for _, response := range []string{"none", "drop+trigger"} {
			s := testsim.Shipped(t, name, "itsy")
			s.Response = response
			v, _ := testsim.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}})
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := valid(text); err != nil {
				t.Errorf("%s, response %s: %v", name, response, err)
			}
			for _, bad := range []string{`"deadlock":`, `"sent":`, `"xoff":`} {
				if valid(bytes.Replace(text, []byte(bad), []byte(`"unknown":`), 1)) == nil {
					t.Errorf("%s without %s is valid", name, bad)
				}
			}
		}
	}
}

// TestDocumented: docs/verdict.md has a row for each field, under a heading for each type,
// in their order.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/verdict.md")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string][]string{}
	heading := ""
	for line := range strings.Lines(string(text)) {
		if h, ok := strings.CutPrefix(line, "### "); ok {
			heading = strings.Trim(h, "`\n")
		} else if m := regexp.MustCompile("^\\| (`[a-z0-9_, `]+`) \\|").FindStringSubmatch(line); m != nil && heading != "" {
			have[heading] = append(have[heading], regexp.MustCompile("[a-z0-9_]+").FindAllString(m[1], -1)...)
		}
	}
	for heading, typ := range map[string]reflect.Type{
		"verdict": reflect.TypeFor[verdict.Verdict](), "detections": reflect.TypeFor[verdict.Detection](),
		"initial_trigger": reflect.TypeFor[verdict.FoundTrigger](), "causes": reflect.TypeFor[verdict.FoundCause](), "measures": reflect.TypeFor[verdict.Measure](),
		"refusals": reflect.TypeFor[verdict.Refusal](), "flows": reflect.TypeFor[verdict.FlowResult](),
		"pfc": reflect.TypeFor[verdict.PFCFrames](), "timeline": reflect.TypeFor[verdict.Moment](),
		"summary": reflect.TypeFor[verdict.Summary](), "latency_ns": reflect.TypeFor[verdict.Quantiles](),
	} {
		var want []string
		for _, f := range reflect.VisibleFields(typ) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, name)
		}
		if !slices.Equal(have[heading], want) {
			t.Errorf("docs/verdict.md, %s: has rows for\n%v, want\n%v", heading, have[heading], want)
		}
	}
}
