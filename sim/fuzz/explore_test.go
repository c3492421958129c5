package fuzz

import (
	"fmt"
	"os"
	"testing"
	"time"
	"strconv"

	"softswitch/detect"
	"softswitch/detect/itsypaper"
)

func TestExplore(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	mode := Mode(os.Getenv("MODE"))
	if n == 0 { t.Skip() }
	type st struct{ cases, dead, knots, strong, split, flood, invalid int; frames uint64; d time.Duration; max time.Duration; missed, fp, prem, late, young int }
	stats := map[string]*st{}
	_ = detect.NewNone
	f := itsypaper.New
	name := "itsypaper"
	if os.Getenv("D") == "none" { f = detect.NewNone; name="none" }
	for i := range n {
		c := New(1, i, mode)
		t0 := time.Now()
		o := c.Play(name, f)
		d := time.Since(t0)
		for _, k := range []string{c.Shape, "all"} {
			s := stats[k]
			if s == nil { s = &st{}; stats[k] = s }
			s.cases++
			s.frames += o.Frames
			s.d += d
			s.max = max(s.max, d)
			if o.Invalid != "" { s.invalid++; if k == "all" && s.invalid < 8 { fmt.Println(i, c.Shape, o.Invalid) } ; continue }
			if len(o.Knots) > 0 { s.dead++ }
			s.knots += len(o.Knots)
			s.missed += o.Missed(); s.fp += o.FalsePositives; s.prem += o.Premature; s.late += o.Late
			for _, q := range o.Knots { if q.Young { s.young++ }; if q.Flooded { s.flood++ } else if q.Strong { s.strong++ } else { s.split++ } }
		}
	}
	for _, k := range []string{"ring","eight-switch","eight-link","split-arms","tree","leaf-spine","fat-tree","graph","dead-servers","all"} {
		s := stats[k]
		if s == nil { continue }
		fmt.Printf("%-13s cases %5d dead %5d (%d%%) knots %d strong %d split %d flood %d | missed %d fp %d prem %d late %d young %d | invalid %d | frames/case %d ms/case %.1f max %.0f\n", k, s.cases, s.dead, 100*s.dead/s.cases, s.knots, s.strong, s.split, s.flood, s.missed, s.fp, s.prem, s.late, s.young, s.invalid, s.frames/uint64(s.cases), s.d.Seconds()*1000/float64(s.cases), s.max.Seconds()*1000)
	}
}
