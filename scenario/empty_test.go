package scenario

import (
	"reflect"
	"strings"
	"testing"
)

// A key without a value is as one that is not there: its default holds, of a link that of all links.
func TestKeysWithoutValues(t *testing.T) {
	const with = `name: x
duration: 1ms
topology:
  switches: [s1]
  hosts: [h1, h2]
  links: [h1--s1, s1--h2]
  rate: 1Gbit/s
  delay: 5us
  loss: 1%
  overrides: [{link: h1--s1, delay: , jitter: "", rate: , loss: ""}]
flows:
  - {name: A, from: h1, to: h2, start: , stop: , priority: , rate: "", frame: , ttl: }
`
	without := strings.NewReplacer(`, delay: , jitter: "", rate: , loss: ""`, "", `, start: , stop: , priority: , rate: "", frame: , ttl: `, "").Replace(with)
	got, want := compile(t, "x.yaml", with), compile(t, "x.yaml", without)
	if with == without || !reflect.DeepEqual(got.Links, want.Links) || !reflect.DeepEqual(got.Hosts, want.Hosts) || !reflect.DeepEqual(got.Switches, want.Switches) {
		t.Errorf("links %+v, hosts %+v,\nwant %+v, %+v", got.Links, got.Hosts, want.Links, want.Hosts)
	}
	_, err := Parse("x.yaml", []byte(strings.Replace(with, "name: x", "name:", 1)), known)
	if err == nil || err.Error() != "x.yaml:1: name: missing: a scenario has a name" {
		t.Errorf("without a name: %v", err)
	}
}
