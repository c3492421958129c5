package sim

import (
	"fmt"
	"testing"
)

// incast is four hosts that send to a fifth, one after the other, for 40 ms.
func incast(congestion string) string {
	text := fmt.Sprintf(`
name: incast
topology:
  switches: [s1, s2]
  hosts: [a, b, c, d, e]
  links: [a--s1, b--s1, c--s1, d--s1, s1--s2, s2--e]
  rate: 40Gbit/s
  delay: 1us
%s
flows:
`, congestion)
	for i, from := range []string{"a", "b", "c", "d"} {
		text += fmt.Sprintf("  - {name: %s, from: %s, to: e, transport: rc, start: %dms}\n", from, from, 5*i)
	}
	return text + "duration: 40ms\n"
}

// With DCQCN an incast shares the link in equal parts, without pauses; without it the link is
// as full, by thousands of pauses.
func TestDCQCNSharesALink(t *testing.T) {
	for _, congestion := range []string{"", "congestion: {}"} {
		w, _ := play(t, incast(congestion))
		v, err := w.Run()
		if err != nil {
			t.Fatal(err)
		}
		var sum, squares float64
		marked, cnps := int64(0), int64(0)
		for _, f := range v.Flows {
			sum += float64(f.Final)
			squares += float64(f.Final) * float64(f.Final)
			marked, cnps = marked+f.Messages.Marked, cnps+f.Messages.CNPs
		}
		jain := sum * sum / 4 / squares
		if sum < 35e9 || jain < 0.95 {
			t.Errorf("%q: %.2f Gbit/s, Jain's index %.3f", congestion, sum/1e9, jain)
		}
		switch {
		case congestion == "" && (v.PFC.XOFF < 1000 || marked+cnps > 0):
			t.Errorf("without: %d pauses, %d marks, %d CNPs", v.PFC.XOFF, marked, cnps)
		case congestion != "" && (v.PFC.XOFF > 20 || cnps == 0 || marked < cnps):
			t.Errorf("with DCQCN: %d pauses, %d marks, %d CNPs", v.PFC.XOFF, marked, cnps)
		}
		if v.LosslessLost != 0 {
			t.Errorf("%d frames lost", v.LosslessLost)
		}
	}
}
