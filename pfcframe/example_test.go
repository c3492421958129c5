package pfcframe_test

import (
	"fmt"

	"softswitch/pfcframe"
	"softswitch/unit"
)

// Pause priority 3 for as long as a frame can, and resume priority 4.
func ExamplePut() {
	f := pfcframe.Frame{Src: [6]byte{2, 0, 0, 0, 0, 1}}
	f.Enable.Add(3)
	f.Quanta[3] = 65535
	f.Enable.Add(4)

	b := make([]byte, pfcframe.Len)
	pad := pfcframe.Put(b, f)
	fmt.Printf("% x\n%d octets of padding\n", b[:pfcframe.PadOffset], len(pad))
	// Output:
	// 01 80 c2 00 00 01 02 00 00 00 00 01 88 08 01 01 00 18 00 00 00 00 00 00 ff ff 00 00 00 00 00 00 00 00
	// 26 octets of padding
}

func ExampleParse() {
	b := make([]byte, pfcframe.Len)
	pfcframe.Put(b, pfcframe.Frame{Enable: 0x18, Quanta: [8]uint16{3: 65535}})

	f, _, err := pfcframe.Parse(b)
	if err != nil {
		fmt.Println(err)
		return
	}
	for c := range unit.Priority(unit.Priorities) {
		if f.Enable.Has(c) {
			fmt.Printf("priority %d: %d quanta\n", c, f.Quanta[c])
		}
	}
	_, _, err = pfcframe.Parse(b[:40])
	fmt.Println(err)
	// Output:
	// priority 3: 65535 quanta
	// priority 4: 0 quanta
	// pfcframe: frame is shorter than 60 bytes
}
