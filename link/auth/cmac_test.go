package auth

import (
	"bytes"
	"crypto/aes"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"testing"

	"softswitch/internal/testkit"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestRFC4493 has the vectors of section 4.
func TestRFC4493(t *testing.T) {
	m := newMAC([macKeyLen]byte(unhex(t, "2b7e151628aed2a6abf7158809cf4f3c")))
	if got, want := m.k1[:], unhex(t, "fbeed618357133667c85e08f7236a8de"); !bytes.Equal(got, want) {
		t.Errorf("K1 = %x, want %x", got, want)
	}
	if got, want := m.k2[:], unhex(t, "f7ddac306ae266ccf90bc11ee46d513b"); !bytes.Equal(got, want) {
		t.Errorf("K2 = %x, want %x", got, want)
	}
	message := unhex(t, "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
	for n, want := range map[int]string{
		0:  "bb1d6929e95937287fa37d129b756746",
		16: "070a16b46b4d4144f79bdd9dd04a287c",
		40: "dfa66747de9ae63030ca32611497c827",
		64: "51f0bebf7e3b9d92fc49741779363cfe",
	} {
		if got := m.SumOf(message[:n]); !bytes.Equal(got[:], unhex(t, want)) {
			t.Errorf("%d octets: %x, want %s", n, got, want)
		}
		if n >= macLen {
			if got := m.Sum([macLen]byte(message), message[macLen:n]); !bytes.Equal(got[:], unhex(t, want)) {
				t.Errorf("%d octets, the first block apart: %x, want %s", n, got, want)
			}
		}
	}
}

// slow is CMAC by the letter of section 2.4, with big numbers for the subkeys.
func slow(key [macKeyLen]byte, message []byte) []byte {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err)
	}
	subkey := make([]byte, macLen)
	block.Encrypt(subkey, subkey)
	shift := func(b []byte) []byte {
		n := new(big.Int).SetBytes(b)
		n.Lsh(n, 1)
		if n.Bit(128) == 1 {
			n.SetBit(n, 128, 0)
			n.Xor(n, big.NewInt(0x87))
		}
		return n.FillBytes(make([]byte, macLen))
	}
	subkey = shift(subkey)
	if len(message) == 0 || len(message)%macLen != 0 {
		subkey = shift(subkey)
		message = append(bytes.Clone(message), 0x80)
		for len(message)%macLen != 0 {
			message = append(message, 0)
		}
	}
	x := make([]byte, macLen)
	for i := 0; i < len(message); i += macLen {
		for k := range macLen {
			x[k] ^= message[i+k]
			if i+macLen == len(message) {
				x[k] ^= subkey[k]
			}
		}
		block.Encrypt(x, x)
	}
	return x
}

func TestMACAgainstReference(t *testing.T) {
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	random := func(b []byte) []byte {
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for range 2000 {
		key := [macKeyLen]byte(random(make([]byte, macKeyLen)))
		message := random(make([]byte, r.IntN(100)))
		m := newMAC(key)
		for range 2 { // a code does not depend on the one before
			if got, want := m.SumOf(message), slow(key, message); !bytes.Equal(got[:], want) {
				t.Fatalf("seed %d: key %x, message %x: %x, want %x", seed, key, message, got, want)
			}
			if len(message) < macLen {
				continue
			}
			if got, want := m.Sum([macLen]byte(message), message[macLen:]), slow(key, message); !bytes.Equal(got[:], want) {
				t.Fatalf("seed %d: key %x, message %x, the first block apart: %x, want %x", seed, key, message, got, want)
			}
		}
	}
}

func TestSumAllocatesNothing(t *testing.T) {
	m, frame := newMAC([macKeyLen]byte{1}), make([]byte, 60)
	if n := testing.AllocsPerRun(100, func() { m.Sum([macLen]byte{2}, frame) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkSum(b *testing.B) {
	m, frame := newMAC([macKeyLen]byte{1}), make([]byte, 60)
	b.ReportAllocs()
	for b.Loop() {
		m.Sum([macLen]byte{2}, frame)
	}
}
