package roce

import (
	"bytes"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
)

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for _, op := range []Opcode{SendFirst, SendMiddle, SendLast, SendOnly, WriteFirst, WriteMiddle, WriteLast, WriteOnly, ReadRequest, ReadFirst, ReadMiddle, ReadLast, ReadOnly, Acknowledge, Datagram, Congestion} {
		h := Header{Opcode: op, AckReq: r.IntN(2) == 0, BECN: r.IntN(2) == 0, DestQP: r.Uint32N(QPMask + 1), PSN: r.Uint32N(PSNMask + 1), Pad: uint8(r.IntN(4))}
		switch {
		case op.hasRETH():
			h.Address, h.RKey, h.Length = r.Uint64(), r.Uint32(), r.Uint32()
		case op.hasAETH():
			h.Syndrome, h.MSN = SequenceError, r.Uint32N(PSNMask+1)
		case op == Datagram:
			h.QKey, h.SrcQP = r.Uint32(), r.Uint32N(QPMask+1)
		}
		b := bytes.Repeat([]byte{0xee}, op.Len()+100)
		h.Put(b)
		if !bytes.Equal(b[op.Len():], bytes.Repeat([]byte{0xee}, 100)) {
			t.Errorf("%#x: octets behind the headers were written", op)
		}
		got, payload, err := Parse(b, len(b))
		if want := 100 - ICRCLen - int(h.Pad); got != h || payload != want || err != nil {
			t.Errorf("%+v, payload %d, %v; want %+v, %d", got, payload, err, h, want)
		}
		if again, p, err := Parse(b[:op.Len()], len(b)); again != got || p != payload || err != nil {
			t.Errorf("%#x: of the headers alone %+v, %d, %v", op, again, p, err)
		}
	}
}

func TestRefused(t *testing.T) {
	ack := Header{Opcode: Acknowledge, Syndrome: Acked}
	good := make([]byte, Acknowledge.Len()+ICRCLen)
	ack.Put(good)
	for _, c := range []struct {
		at   int
		to   byte
		n    int
		want error
	}{
		{0, 17, len(good), nil},
		{0, 17, len(good) - 1, ErrShort},
		{0, 17, BTHLen, ErrShort},
		{0, 0x03, len(good), ErrOpcode},
		{0, 0x05, len(good), ErrOpcode},
		{0, 0x09, len(good), ErrOpcode},
		{0, 0x31, len(good), ErrOpcode},
		{1, 1, len(good), ErrVersion},
		{1, 1 << 4, len(good), ErrPad},
		{12, 0x9f, len(good), ErrSyndrome},
		{12, 0x65, len(good), ErrSyndrome},
	} {
		b := bytes.Clone(good)
		b[c.at] = c.to
		if _, _, err := Parse(b[:min(len(b), c.n)], c.n); !errors.Is(err, c.want) {
			t.Errorf("octet %d is %#x, %d octets: %v; want %v", c.at, c.to, c.n, err, c.want)
		}
	}
}

// The packet of Wireshark's and others' documents on how an ICRC is made is not in any
// standard; scapy, which has its own code, is asked in host's tests. Here: what switches
// change does not count, everything else does.
func TestInvariantCRC(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	ip := make([]byte, 20+8+12+64+ICRCLen)
	for i := range ip {
		ip[i] = uint8(r.Uint32())
	}
	Seal(ip)
	mutable := map[int]bool{1: true, 8: true, 10: true, 11: true, 26: true, 27: true, 32: true}
	for i := range ip {
		ip[i] ^= 0x10
		if Sealed(ip) != mutable[i] {
			t.Errorf("octet %d changed: sealed is %v", i, !mutable[i])
		}
		ip[i] ^= 0x10
	}
	if !Sealed(ip) {
		t.Error("what was sealed is not")
	}
}

// The CRC is that of hash/crc32 over a copy in which ones were written, and takes no memory.
func TestInvariantCRCReference(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 100 {
		ip := make([]byte, ipLen+udpLen+BTHLen+r.IntN(100))
		for i := range ip {
			ip[i] = uint8(r.Uint32())
		}
		b := append(bytes.Repeat([]byte{0xff}, 8), ip...)
		for _, i := range []int{1, 8, 10, 11, 26, 27, 32} {
			b[8+i] = 0xff
		}
		if got, want := InvariantCRC(ip), crc32.ChecksumIEEE(b); got != want {
			t.Fatalf("%x: %#x, want %#x", ip, got, want)
		}
		if n := testing.AllocsPerRun(10, func() { InvariantCRC(ip) }); n != 0 {
			t.Fatalf("%v allocations", n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "0a00ffff000000018000000100000000000000000000000000000040aabbccdd", "1100ffff00000001000000011f000001aabbccdd", "8100ffff4000000100000000000000000000000000000000000000000000000000"} {
		b, err := hex.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, len(b))
	}
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < len(b) || n > 10_000 {
			return
		}
		h, payload, err := Parse(b, n)
		if err != nil {
			return
		}
		if payload < 0 || h.Opcode.Len()+payload+int(h.Pad)+ICRCLen != n {
			t.Fatalf("payload %d of %d octets, %+v", payload, n, h)
		}
		again := make([]byte, h.Opcode.Len())
		h.Put(again)
		if got, _, err := Parse(again, n); got != h || err != nil {
			t.Fatalf("%+v, %v; want %+v", got, err, h)
		}
	})
}
