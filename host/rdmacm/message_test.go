package rdmacm

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"softswitch/internal/testkit"
)

// random is a message of a kind with random fields.
func random(r *rand.Rand, k Kind) Message {
	private := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	address := func() netip.Addr { return netip.AddrFrom4([4]byte(private(4))) }
	m := Message{Kind: k, Transaction: r.Uint64(), LocalID: r.Uint32()}
	if k != REQ {
		m.RemoteID = r.Uint32()
	}
	switch k {
	case REQ, REP:
		m.QPN, m.PSN, m.Takes, m.Reads = r.Uint32N(1<<24), r.Uint32N(1<<24), uint8(r.Uint32()), uint8(r.Uint32())
		m.Private = private(privateREP)
		if k == REQ {
			m.Private = private(privateREQ)
			m.Port, m.FromPort, m.MTU, m.TrafficClass = uint16(r.Uint32()), uint16(r.Uint32()), 256<<r.IntN(5), uint8(r.Uint32())
			m.From, m.To = address(), address()
		}
	case REJ:
		m.Reason = Reason(r.Uint32())
	case DREQ:
		m.RemoteQPN = r.Uint32N(1 << 24)
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for range 100 {
		for k := REQ; k <= DREP; k++ {
			want := random(r, k)
			if got, err := Parse(want.Text()); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%+v, %v; want %+v", got, err, want)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(testkit.Seed(t), 0))
	for _, c := range []struct {
		at   int
		to   byte
		want string
	}{
		{0, 2, "version 2"},
		{1, 4, "class 0x4"},
		{3, 1, "method 1"},
		{17, 0x17, "attribute 0x17"},
		{headerLen + 12, 0x7, "service 0x7"}, // another prefix
		{headerLen + 43, 1 << 1, "service type 1"},
		{headerLen + 50, 0, "path MTU 0"},
		{headerLen + requestText + 1, 6 << 4, "IP version 6"},
	} {
		m := random(r, REQ)
		b := m.Text()
		b[c.at] = c.to
		if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("octet %d is %#x: %v; want %q", c.at, c.to, err, c.want)
		}
	}
	if _, err := Parse(nil); err == nil {
		t.Error("a datagram of 0 octets is taken")
	}
}

func FuzzParse(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 0))
	for k := REQ; k <= DREP; k++ {
		m := random(r, k)
		f.Add(m.Text())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(m.Text())
		again.Private, m.Private = bytes.Clone(again.Private), bytes.Clone(m.Private)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%+v, %v; want %+v", again, err, m)
		}
	})
}
