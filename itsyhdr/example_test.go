package itsyhdr_test

import (
	"fmt"

	"softswitch/itsyhdr"
	"softswitch/unit"
)

// The padding of a pause frame carries a checking message.
func ExamplePut() {
	pad := make([]byte, 26)
	itsyhdr.Put(pad, itsyhdr.TLV{
		Kind: itsyhdr.KindChecking, Priority: 3, Initiator: unit.NodePort{Node: 5, Port: 2}, Seq: 9,
		Trigger: unit.NodePort{Node: 7, Port: 1}, Period: 12,
	})
	fmt.Printf("% x\n", pad)

	t, err := itsyhdr.Parse(pad)
	fmt.Println(t, err)
	// Output:
	// fe 18 02 49 54 01 11 60 00 05 02 00 09 00 07 01 00 0c 00 00 00 00 00 00 00 00
	// checking priority 3 from 5.2 seq 9 trigger 7.1 hops 0 period 12 <nil>
}

// A plain device leaves zeros, which is no fault.
func ExampleParse() {
	_, err := itsyhdr.Parse(make([]byte, 26))
	fmt.Println(err == itsyhdr.ErrNone)
	// Output: true
}
