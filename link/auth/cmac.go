package auth

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"fmt"
)

// macKeyLen and macLen are the length of a key and of a code in octets.
const (
	macKeyLen = 16
	macLen    = 16
)

// cmac makes codes of AES-CMAC, the message authentication code of RFC 4493 (NIST SP 800-38B with
// AES-128), with one key and without allocation. Go's library has it for itself alone
// (crypto/internal), and the modules that offer it allocate for each message. It must not be copied, and its calls must not overlap.
type cmac struct {
	block  cipher.Block
	k1, k2 [macLen]byte // subkeys, for a last block that is whole, and one that is not
	x      [macLen]byte
}

// newMAC is the MAC of a key.
func newMAC(key [macKeyLen]byte) *cmac {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(fmt.Sprintf("cmac: %v", err)) // only of a wrong length
	}
	m := &cmac{block: block}
	block.Encrypt(m.x[:], m.x[:])
	m.k1 = double(m.x)
	m.k2 = double(m.k1)
	return m
}

// double is a subkey's next one: a shift by a bit in GF(2^128) (RFC 4493, section 2.3).
func double(b [macLen]byte) (d [macLen]byte) {
	for i := range b {
		d[i] = b[i] << 1
		if i+1 < macLen {
			d[i] |= b[i+1] >> 7
		}
	}
	d[macLen-1] ^= 0x87 * (b[0] >> 7)
	return d
}

// Sum is the code of head followed by message; head is a whole block.
func (m *cmac) Sum(head [macLen]byte, message []byte) [macLen]byte {
	m.x = head
	if len(message) == 0 {
		subtle.XORBytes(m.x[:], m.x[:], m.k1[:])
		m.block.Encrypt(m.x[:], m.x[:])
		return m.x
	}
	m.block.Encrypt(m.x[:], m.x[:])
	return m.finish(message)
}

// SumOf is the code of a message of any length.
func (m *cmac) SumOf(message []byte) [macLen]byte {
	m.x = [macLen]byte{}
	return m.finish(message)
}

// finish chains all of message, the last block with its subkey.
func (m *cmac) finish(message []byte) [macLen]byte {
	for len(message) > macLen {
		subtle.XORBytes(m.x[:], m.x[:], message[:macLen])
		m.block.Encrypt(m.x[:], m.x[:])
		message = message[macLen:]
	}
	subkey := &m.k1
	if len(message) < macLen {
		subkey = &m.k2
		m.x[len(message)] ^= 0x80
	}
	subtle.XORBytes(m.x[:], m.x[:], message)
	subtle.XORBytes(m.x[:], m.x[:], subkey[:])
	m.block.Encrypt(m.x[:], m.x[:])
	return m.x
}
