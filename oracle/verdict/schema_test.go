package verdict_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"softswitch/detect"
	"softswitch/detect/itsy"
	"softswitch/oracle/verdict"
	"softswitch/sim"
	"softswitch/sim/simtest"
)

// compileSchema is what tells whether a verdict is as the schema says.
func compileSchema(t *testing.T) func([]byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(verdict.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("verdict.json", doc); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("verdict.json")
	return func(text []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
}

// TestSchema: verdicts are as the schema says, and what is not is refused.
func TestSchema(t *testing.T) {
	valid := compileSchema(t)
	for _, name := range []string{"pause", "itsy-fig2", "hu-case1-above"} {
		for _, response := range []string{"none", "drop+trigger"} {
			s := simtest.Shipped(t, name, "itsy")
			s.Response = response
			v, _ := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}})
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

// rdma is a scenario of which not all flows come to their end, and one has none.
const rdma = `
name: rdma
topology: {switches: [s1, s2], hosts: [a, b, c], links: [a--s1, b--s1, s1--s2, s2--c], rate: 10Gbit/s, delay: 1us}
flows:
  - {name: A, from: a, to: c, transport: rc, size: 1000000}
  - {name: B, from: b, to: c, transport: rc, size: 10000000}
  - {name: endless, from: b, to: c, transport: rc}
  - {name: udp, from: a, to: c, rate: 1Gbit/s}
duration: 5ms
`

// TestSchemaOfCompletion: so are verdicts that say how long flows took; those of UDP alone do
// not.
func TestSchemaOfCompletion(t *testing.T) {
	valid := compileSchema(t)
	s := simtest.Parse(t, "rdma.yaml", rdma, "itsy")
	v, _ := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}})
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := valid(text); err != nil {
		t.Error(err)
	}
	c := v.Completion
	if c == nil || c.All.Flows != 2 || c.All.Done != 1 || len(c.BySize) != 2 || c.BySize[0].Done != 1 || c.BySize[1].Done != 0 || c.Paused == 0 {
		t.Fatalf("completion %+v", c)
	}
	m := v.Flows[0].Messages
	if b := c.BySize[0]; b.From != 1e6 || b.Below != 1e7 || b.Time.P50 != m.Completion || b.Slowdown.Max != m.Slowdown || b.Bytes != 1e6 {
		t.Errorf("%+v of flow %+v", b, m)
	}
	if valid(bytes.Replace(text, []byte(`"by_size":`), []byte(`"sizes":`), 1)) == nil {
		t.Error("by_size by another name is valid")
	}
	s = simtest.Shipped(t, "pause", "itsy")
	v, _ = simtest.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}})
	if v.Completion != nil {
		t.Errorf("of UDP flows: %+v", v.Completion)
	}
}

// linked is two switches whose ends of their link are authenticated so; h2 pauses.
const linked = `
name: linked
topology:
  switches: [s1, s2]
  hosts: [h1, h2]
  links: [h1--s1, s1--s2, s2--h2]
  rate: 1Gbit/s
  delay: 1us
  overrides:
    - {link: s1--s2, auth: [%s]}
flows:
  - {name: f, from: h1, to: h2}
events:
  - {at: 1ms, do: slow, host: h2, rate: 100Mbit/s}
%s
duration: 10ms
`

// TestLinksThatDoNotAgree: a verdict lists the ends of authenticated links that did not agree, or
// refused what came, with the reason.
func TestLinksThatDoNotAgree(t *testing.T) {
	valid := compileSchema(t)
	const forged = "  - {at: 5ms, do: replay, link: s1--s2, from: s2, nth: 1}"
	for _, c := range []struct{ auth, events, want string }{
		{"strict", "", ""},
		{"accept", "", ""},
		{"strict, accept", "", ""},
		{"off", "", ""},
		{"strict, off", "", "s1--s2: s1 and its far end do not agree; refused 1 control frame: 1 without a tag"},
		{"accept, off", "", "s1--s2: s1 has had no answer from its far end, which has auth off, or is not there"},
		{"strict", forged, "s1--s2: s1 has refused 1 control frame: 1 a tag that was there before"},
	} {
		s := simtest.Parse(t, "linked.yaml", fmt.Sprintf(linked, c.auth, c.events), "itsy")
		v, _ := simtest.Run(t, s, sim.Options{Seed: 1, Detectors: map[string]detect.Factory{"itsy": itsy.New}})
		var said []string
		for _, f := range v.Auth {
			said = append(said, f.String())
		}
		if got := strings.Join(said, "\n"); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s %s: %q, want %q", c.auth, c.events, got, c.want)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(text); err != nil {
			t.Errorf("%s: %v", c.auth, err)
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
		"verdict": reflect.TypeFor[verdict.Verdict](), "drawn": reflect.TypeFor[verdict.Drawn](), "detections": reflect.TypeFor[verdict.Detection](),
		"initial_trigger": reflect.TypeFor[verdict.FoundTrigger](), "causes": reflect.TypeFor[verdict.FoundCause](), "actions": reflect.TypeFor[verdict.Action](), "lossless_lost_at": reflect.TypeFor[verdict.Loss](), "headroom_short": reflect.TypeFor[verdict.HeadroomShort](),
		"refusals": reflect.TypeFor[verdict.Refusal](), "flows": reflect.TypeFor[verdict.FlowResult](), "messages": reflect.TypeFor[verdict.MessageResult](),
		"completion": reflect.TypeFor[verdict.Completion](), "all": reflect.TypeFor[verdict.Completed](), "slowdown": reflect.TypeFor[verdict.Tail[float64]](),
		"pfc": reflect.TypeFor[verdict.PFCFrames](), "clocks": reflect.TypeFor[verdict.Clocks](), "headroom": reflect.TypeFor[verdict.Headroom](), "timeline": reflect.TypeFor[verdict.Moment](), "auth": reflect.TypeFor[verdict.AuthFault](),
		"latency_ns": reflect.TypeFor[verdict.Quantiles](),
		"hosts":      reflect.TypeFor[verdict.HostResult](), "nics": reflect.TypeFor[verdict.NICResult](),
	} {
		var want []string
		for _, f := range reflect.VisibleFields(typ) {
			if f.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, name)
		}
		if !slices.Equal(have[heading], want) {
			t.Errorf("docs/verdict.md, %s: has rows for\n%v, want\n%v", heading, have[heading], want)
		}
	}
	s := verdict.Summarize([]*verdict.Verdict{{}})
	s.Runs, s.Completion = nil, &verdict.Completion{}
	summary, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(summary, &keys); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, key := range have["summary"] {
		i := bytes.Index(summary, fmt.Appendf(nil, "%q:%s", key, keys[key]))
		if i <= at {
			t.Errorf("docs/verdict.md, summary: %s is no key, or in another place in %s", key, summary)
		}
		at = i
	}
	if len(keys) != len(have["summary"]) {
		t.Errorf("docs/verdict.md, summary: has rows for\n%v, want as many as in\n%s", have["summary"], summary)
	}
}
