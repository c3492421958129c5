package pcapng

import (
	"bytes"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"softswitch/internal/testseed"
)

// blocks is what a Reader says of file, until its error.
func blocks(file io.Reader) (all []any, err error) {
	r, err := NewReader(file)
	if err != nil {
		return nil, err
	}
	for {
		b, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, b)
	}
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
	seed := testseed.New(t)
	var file bytes.Buffer
	w := newWriter(t, &file)
	want := random(rand.New(rand.NewPCG(seed, 0)), 2000)
	for _, b := range want {
		put(t, w, b)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := blocks(&file)
	if err != io.EOF || !reflect.DeepEqual(got, want) {
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
		want := ErrCut
		if ends[n] {
			want = io.EOF
		}
		if _, err := blocks(bytes.NewReader(file.Bytes()[:n])); err != want {
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

// FuzzReader: whatever is read, the Reader neither panics nor reads on after an error,
// and what it accepts a Writer can write again.
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
		all, err := blocks(bytes.NewReader(data))
		if err == nil {
			t.Fatal("a file without an end")
		}
		var again bytes.Buffer
		w := newWriter(t, &again)
		for _, b := range all {
			put(t, w, b)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		back, err := blocks(&again)
		if err != io.EOF || len(back) != len(all) {
			t.Errorf("%d blocks were read; written again they are %d, then %v", len(all), len(back), err)
		}
	})
}
