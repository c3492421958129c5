package shpiner

import "encoding/binary"

// ElectionLen is the size of an Election in octets.
const ElectionLen = headLen + 4

// AppendElection appends m to dst. It panics if a field of m does not fit: a class
// above 7, an SPUID of 0.
func AppendElection(dst []byte, m Election) []byte {
	if m.SPUID == 0 {
		panic(ErrSPUID.Error())
	}
	dst = appendHead(dst, ElectionLen, kindElection, m.Class, 0)
	return binary.BigEndian.AppendUint32(dst, m.SPUID)
}

// ParseElection reads the Election at the start of b; what follows it is ignored. The
// first field that is wrong is the error, and the message is then zero.
func ParseElection(b []byte) (Election, error) {
	if err := checkHead(b, kindElection); err != nil {
		return Election{}, err
	}
	switch {
	case tlvLen(b) != ElectionLen:
		return Election{}, ErrLength
	case len(b) < ElectionLen:
		return Election{}, ErrShort
	case phaseOf(b) != 0:
		return Election{}, ErrPhase
	}
	m := Election{Class: classOf(b), SPUID: binary.BigEndian.Uint32(b[headLen:])}
	if m.SPUID == 0 {
		return Election{}, ErrSPUID
	}
	return m, nil
}
