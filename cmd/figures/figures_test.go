package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// The figures in the documentation are those that this program draws.
func TestFiguresAreCurrent(t *testing.T) {
	testkit.Docs(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("coordinates are rounded as on amd64")
	}
	for _, f := range drawings() {
		t.Run(f.name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("../../docs/figures", f.name+".svg"))
			if err != nil {
				t.Fatal(err)
			}
			fig, err := f.draw(nil)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := fig.WriteSVG(&got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Error("docs/figures is out of date: make figures")
			}
		})
	}
}

// TestMeasureBoundary: the table has a line for each rate and each loop, in order.
func TestMeasureBoundary(t *testing.T) {
	rates, switches, ttls := boundaryRates, boundarySwitches, boundaryTTLs
	t.Cleanup(func() { boundaryRates, boundarySwitches, boundaryTTLs = rates, switches, ttls })
	if boundaryRates, boundarySwitches, boundaryTTLs = rates[:3], switches[1:3], ttls[:2]; !testkit.Long() {
		boundaryRates, boundarySwitches, boundaryTTLs = rates[13:], switches[3:], ttls[:1] // which deadlock at once, or never
	}
	table, err := MeasureBoundary(t.Context(), io.Discard)
	if err != nil || len(table.Sweep) != 3 || len(table.Loops) != len(boundarySwitches)*len(boundaryTTLs) {
		t.Fatalf("%v\n%+v", err, table)
	}
	for i, s := range table.Sweep {
		if s.Rate != boundaryRates[i]*1_000_000 {
			t.Errorf("line %d is of %d bit/s", i, s.Rate)
		}
	}
	for i, l := range table.Loops {
		if want := (Loop{Switches: boundarySwitches[i/len(boundaryTTLs)], TTL: boundaryTTLs[i%len(boundaryTTLs)]}); l.Switches != want.Switches || l.TTL != want.TTL || l.Eq3 != want.Eq3() {
			t.Errorf("line %d is %+v, want of %+v", i, l, want)
		}
	}
}

func TestBoundaryTable(t *testing.T) {
	table := boundaryTable{
		LinkRate: Link,
		Sweep:    []Trial{{Rate: 4_950_000_000}, {Rate: 5_050_000_000, Deadlock: true, Onset: 5_788_000}},
		Loops: []boundaryRow{
			{Switches: 2, TTL: 4, Eq3: 20_000_000_000, First: 20_000_000_000},
			{Switches: 3, TTL: 8, Eq3: 15_000_000_000, First: 13_333_333_333, Below: 13_320_000_000, Above: 13_340_000_000, Distance: -110},
		},
	}
	var b bytes.Buffer
	if err := table.write(&b, "| ", " | ", " |", "---:"); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, l := range strings.Split(b.String(), "\n") {
		rows = append(rows, strings.Join(strings.Fields(l), " "))
	}
	want := `| Gbit/s | deadlock | after ms |
| ---: | ---: | ---: |
| 4.950 | no | - |
| 5.050 | yes | 5.788 |

| n | TTL | Eq. 3 | first link full | no deadlock | deadlock | off Eq. 3 |
| ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| 2 | 4 | 20.000 | 20.000 | never | never | - |
| 3 | 8 | 15.000 | 13.333 | 13.320 | 13.340 | -11.0 % |
`
	if got := strings.Join(rows, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"link_rate_bps":40000000000`, `"sweep":[`, `"boundary":[`, `"eq3_bps":15000000000`, `"deadlock_bps":13340000000`, `"distance_per_mille":-110`} {
		if !strings.Contains(string(text), key) {
			t.Errorf("%s is not in %s", key, text)
		}
	}
}
