package live

import (
	"sync/atomic"

	"softswitch/unit"
)

// atomicPorts is a set of ports of one node that goroutines change without a lock, a word at a time. Words that
// the node has no port for stay untouched.
type atomicPorts struct {
	used int // words
	word [unit.MaxPorts / 64]atomic.Uint64
}

// init makes it one of a node of n ports.
func (s *atomicPorts) init(n int) { s.used = (n + 63) / 64 }

func (s *atomicPorts) load() unit.PortSet {
	var w [unit.MaxPorts / 64]uint64
	for i := range s.used {
		w[i] = s.word[i].Load()
	}
	return unit.PortsOfWords(w)
}

func (s *atomicPorts) store(set unit.PortSet) {
	w := set.Words()
	for i := range s.used {
		s.word[i].Store(w[i])
	}
}

// add puts all of set into s.
func (s *atomicPorts) add(set unit.PortSet) {
	w := set.Words()
	for i := range s.used {
		if w[i] != 0 {
			s.word[i].Or(w[i])
		}
	}
}

// remove takes p out.
func (s *atomicPorts) remove(p unit.Port) { s.word[p>>6].And(^uint64(1 << (p & 63))) }
