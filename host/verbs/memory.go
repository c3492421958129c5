package verbs

// Region is memory that the far end may write and read.
type Region struct {
	Key     uint32 // R_Key
	Address uint64 // of its first octet, as the far end names it
	Data    []byte
}

// Memory is all regions of a connection.
type Memory []Region

// at returns the length octets from an address on; ok is false where no region with this key has
// them all.
func (m Memory) at(key uint32, address uint64, length uint32) (b []byte, ok bool) {
	for _, r := range m {
		size := uint64(len(r.Data))
		if r.Key != key || address < r.Address {
			continue
		}
		if at := address - r.Address; at <= size && uint64(length) <= size-at {
			return r.Data[at : at+uint64(length)], true
		}
	}
	return nil, false
}
