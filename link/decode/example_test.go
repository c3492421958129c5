package decode_test

import (
	"bytes"
	"fmt"
	"os"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"softswitch/link/decode"
	"softswitch/pfcframe"
)

func ExampleDecode() {
	frame := make([]byte, pfcframe.Len)
	pfcframe.Put(frame, pfcframe.Frame{Src: [6]byte{2, 0, 0, 0, 0, 1}, Enable: 0x08, Quanta: [8]uint16{3: 100}})

	var file bytes.Buffer
	w := pcapgo.NewWriter(&file)
	if err := w.WriteFileHeader(262144, layers.LinkTypeEthernet); err != nil {
		fmt.Println(err)
	}
	ci := gopacket.CaptureInfo{Timestamp: time.Unix(1, 0), CaptureLength: len(frame), Length: len(frame)}
	if err := w.WritePacket(ci, frame); err != nil {
		fmt.Println(err)
	}

	if err := decode.Decode(&file, os.Stdout, decode.Options{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 00:00:01.000000000 02:00:00:00:00:01 PFC 3:100
	// 1 frame: 1 PFC, 0 802.3x PAUSE, 0 ITSY messages, 0 malformed, 0 other
}
