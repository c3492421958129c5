package control

import (
	"io"
	"testing"
)

// TestGather: errors of one text are said once.
func TestGather(t *testing.T) {
	ends := []Endpoint{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	err := gather(ends, []error{io.EOF, nil, io.ErrShortWrite, io.EOF})
	if want := "a, d: EOF\nc: short write"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := gather(ends[:1], []error{nil}); err != nil {
		t.Errorf("no error is %v", err)
	}
}
