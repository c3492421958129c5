package fuzz

// Modes whose fabrics are as they are built: usual traffic, and of what real fabrics have besides one link
// per host and equal ports, some in each case.
const (
	Built      Mode = "built"       // judged by the oracle
	TruthBuilt Mode = "truth-built" // what moves is the judge
)

// builtParts draw what the fabrics of these modes have, each in a part of the cases. A part draws
// nothing when it leaves a case as it is but whether it does, so that parts can be looked at apart.
var builtParts = []func(*maker){
	(*maker).lags,
	(*maker).schedulers,
	(*maker).speak,
	(*maker).ports,
	(*maker).severalNICs, // last: it adds hosts, and draws itself what their links have
}

// built draws them. The fabric, its traffic and its thresholds are there.
func (m *maker) built() {
	for _, part := range builtParts {
		if m.one(2) {
			part(m)
			m.outlast()
		}
	}
}
