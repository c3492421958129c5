package figures

import (
	"bytes"
	"os"
	"runtime"
	"testing"
)

// With DCQCN four connections come to equal shares, and nobody pauses them; the figure of
// the documentation is the one that is drawn.
func TestConvergence(t *testing.T) {
	v, err := playControl("dcqcn", nil)
	if err != nil {
		t.Fatal(err)
	}
	none, err := playControl("none", nil)
	if err != nil {
		t.Fatal(err)
	}
	if j := jain(v); j < 0.98 || v.PFC.XOFF*100 > none.PFC.XOFF {
		t.Errorf("Jain's index %.3f, %d pauses; without control %d", j, v.PFC.XOFF, none.PFC.XOFF)
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("coordinates are rounded as on amd64")
	}
	want, err := os.ReadFile("../../docs/figures/" + convergence + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	fig, err := drawConvergence(nil)
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
}
