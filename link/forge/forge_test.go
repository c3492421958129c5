package forge

import (
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
	"softswitch/itsyhdr"
	"softswitch/pfcframe"
)

// What is made is well-formed, and of every kind.
func TestFrames(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	f := Fabric{Ports: []int{4, 1, 64}, Lossless: []int{3, 4}, Quanta: 1000}
	kinds := map[itsyhdr.Kind]int{}
	pauses, long := 0, 0
	for range 5000 {
		b := f.Frame(r, 0x020000010002)
		switch {
		case pfcframe.IsMACControl(b):
			_, pad, err := pfcframe.Parse(b)
			if err == nil {
				_, err = itsyhdr.Parse(pad)
			}
			if err != nil && err != itsyhdr.ErrNone {
				t.Fatalf("seed %d: %x: %v", seed, b, err)
			}
			pauses++
		case len(b) > itsyhdr.MessageLen:
			if !itsyhdr.IsMessage(b) {
				t.Fatalf("seed %d: %x is no message", seed, b)
			}
			long++
		default:
			_, tlv, err := itsyhdr.ParseMessage(b)
			if err != nil {
				t.Fatalf("seed %d: %x: %v", seed, b, err)
			}
			kinds[tlv.Kind]++
		}
		for range 3 {
			b = Mutate(r, b)
		}
	}
	if pauses < 1000 || long < 300 || len(kinds) != int(itsyhdr.KindHello)+1 {
		t.Errorf("seed %d: %d pauses, %d laps and quests, messages %v", seed, pauses, long, kinds)
	}
}
