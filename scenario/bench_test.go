package scenario

import "testing"

// BenchmarkCompile makes the plan of the largest fat-tree: 2880 switches, 3.3 million
// routes.
func BenchmarkCompile(b *testing.B) {
	const text = "name: x\ntopology: {fattree: {k: 48}, rate: 1Gbit/s}\nduration: 1s\n"
	b.ReportAllocs()
	for b.Loop() {
		s, err := Parse("x", []byte(text), known)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Compile(s); err != nil {
			b.Fatal(err)
		}
	}
}
