package verdict

import (
	"fmt"
	"strings"

	"softswitch/internal/lists"

	"softswitch/link/auth"
	"softswitch/node/observe"
	"softswitch/unit"
)

// countAuth fills in what is wrong with authenticated links. That frames were refused before
// the ends had agreed is not: a link begins so.
func (v *Verdict) countAuth(switches []observe.Switch) {
	v.Auth = nil
	for _, s := range switches {
		for _, port := range s.Ports {
			if port.Auth == nil {
				continue
			}
			fault := AuthFault{
				Link: port.Auth.Link, Switch: s.Name, Mode: port.Auth.Mode,
				Agreed: port.Auth.Agreed, Behind: port.Auth.Behind, Refused: port.RefusedBy(),
			}
			wrong := port.Up && !fault.Agreed || fault.Behind > 0
			for why := auth.Missing; why < auth.Verdicts; why++ {
				wrong = wrong || why != auth.Unknown && fault.Refused[why.String()] > 0
			}
			if wrong {
				v.Auth = append(v.Auth, fault)
			}
		}
	}
}

// String is the fault for people: "core0--agg1-0: agg1-0 has refused 3 control frames: 3 with
// ...".
func (f AuthFault) String() string {
	var parts []string
	n := uint64(0)
	for why := auth.Missing; why < auth.Verdicts; why++ {
		if k := f.Refused[why.String()]; k > 0 {
			n += k
			parts = append(parts, fmt.Sprintf("%d %s", k, why.Says()))
		}
	}
	text := fmt.Sprintf("%s: %s", f.Link, f.Switch)
	switch {
	case !f.Agreed && n == 0:
		text += " has had no answer from its far end, which has auth off, or is not there"
	case !f.Agreed:
		text += fmt.Sprintf(" and its far end do not agree; refused %s", unit.Count(n, "control frame"))
	case n > 0:
		text += fmt.Sprintf(" has refused %s", unit.Count(n, "control frame"))
	}
	if f.Behind > 0 {
		parts = append(parts, "its clock went back: its far end had believed a greater counter")
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, "; ")
	}
	return text
}

func (v *Verdict) writeAuth(t *table) {
	t.ends("auth        ", lists.Map(v.Auth, AuthFault.String))
}

// tableEnds is how many faults of ends of links, of one kind, the table has.
const tableEnds = 8

// ends writes faults of ends of links.
func (t *table) ends(title string, faults []string) {
	for i, f := range faults[:min(len(faults), tableEnds)] {
		t.wrap(or("            ", i == 0, title), f)
	}
	if n := len(faults) - tableEnds; n > 0 {
		t.line("            and %s of links", unit.Count(n, "more end"))
	}
}
