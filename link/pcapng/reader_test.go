package pcapng

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"softswitch/internal/testkit"
)

// readAll is what Read tells of file, until its error.
func readAll(file io.Reader) (all []any, err error) {
	err = Read(file, func(block any) { all = append(all, block) })
	return all, err
}

// put writes one block.
func put(t testing.TB, w *Writer, block any) {
	t.Helper()
	var err error
	switch b := block.(type) {
	case Interface:
		_, err = w.AddInterface(b)
	case Packet:
		err = w.WritePacket(b)
	case Statistics:
		err = w.WriteStatistics(b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// random are blocks of all sorts.
func random(rng *rand.Rand, n int) (all []any) {
	all = []any{Interface{Name: "eth0"}}
	for interfaces := 1; len(all) < n; {
		switch rng.IntN(10) {
		case 0:
			all = append(all, Interface{Name: "eth", Description: "switch 5 port 2"[:rng.IntN(16)]})
			interfaces++
		case 1:
			all = append(all, Statistics{Interface: rng.IntN(interfaces), Time: rng.Int64N(1 << 62), Dropped: rng.Uint64(), End: rng.IntN(2) == 0})
		default:
			all = append(all, randomPacket(rng, interfaces))
		}
	}
	return all
}

func TestReaderReadsWriter(t *testing.T) {
	seed := testkit.Seed(t)
	var file bytes.Buffer
	w := newWriter(t, &file)
	want := random(rand.New(rand.NewPCG(seed, 0)), 2000)
	for _, b := range want {
		put(t, w, b)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(&file)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%d blocks were written; read %d, then %v", len(want), len(got), err)
	}
}

// TestReaderTellsWhereItEnds: a file cut at a block's end ends, any other is cut.
func TestReaderTellsWhereItEnds(t *testing.T) {
	var file bytes.Buffer
	w := newWriter(t, &file)
	addInterface(t, w, "eth0")
	write(t, w, Packet{Data: []byte("abcde"), Comment: "x"})
	ends := blockEnds(t, file.Bytes())
	for n := range file.Len() + 1 {
		var want error
		if !ends[n] {
			want = ErrCut
		}
		if _, err := readAll(bytes.NewReader(file.Bytes()[:n])); !errors.Is(err, want) {
			t.Errorf("of %d bytes: %v, want %v", n, err, want)
		}
	}
}

// small is a file with a block of each kind.
func small(t testing.TB) []byte {
	t.Helper()
	var file bytes.Buffer
	w := newWriter(t, &file)
	put(t, w, Interface{Name: "eth0", Description: "switch 1 port 0"})
	put(t, w, Packet{Data: []byte("abcde"), Comment: "hello", Direction: Outbound, Dropped: 3})
	put(t, w, Statistics{Time: 1, Dropped: 9, End: true})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// FuzzReader: whatever is read, there is no panic, and what is accepted a Writer can write
// again.
func FuzzReader(f *testing.F) {
	file := small(f)
	f.Add(file)
	f.Add(file[:40])
	f.Add(file[:len(file)-5])
	f.Add([]byte{})
	damaged := bytes.Clone(file)
	damaged[len(damaged)-20] = 0xff // an option's length
	f.Add(damaged)
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _ := readAll(bytes.NewReader(data))
		var again bytes.Buffer
		w := newWriter(t, &again)
		for _, b := range all {
			put(t, w, b)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		back, err := readAll(&again)
		if err != nil || len(back) != len(all) {
			t.Errorf("%d blocks were read; written again they are %d, then %v", len(all), len(back), err)
		}
	})
}
