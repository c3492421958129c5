package fuzz

// Mode Long is Usual on loops of many links, each of which is long for a frame: what a detector takes for
// a loop of a few links may be over, or be given up, before anything has come round.

// longShapes are the fabrics of mode Long.
var longShapes = []shape{
	{"long-ring", 2, func(m *maker) { m.loop(m.switches("s", m.between(12, 40), 1)) }},
	{"long-eight", 1, func(m *maker) { m.eights([2]int{12, 24}, [2]int{4, 16}) }},
	{"long-arms", 2, func(m *maker) { m.arms(m.between(10, 32)) }},
}

// longDelay draws the delay of a usual link of mode Long: some frames up to many.
func (m *maker) longDelay() {
	delay := m.ticks(4, 60)
	for i := range m.Links {
		m.Links[i].Delay += delay
	}
}

// longHops is how long a case of mode Long lasts after the last flow has stopped. A verification that takes
// longer than the wait for it begins again, with a wait that doubles each time; and a loop whose
// labels are outranked may be looked for only after 800 hops.
const longHops = 2500
