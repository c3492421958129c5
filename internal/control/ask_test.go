package control

import (
	"errors"
	"io"
	"maps"
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

func TestAskByName(t *testing.T) {
	ends := []Endpoint{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	got, err := AskByName(t.Context(), ends, func(e Endpoint) (string, error) {
		if e.Name == "b" {
			return "", errors.New("gone")
		}
		return "of " + e.Name, nil
	})
	if want := map[string]string{"a": "of a", "c": "of c"}; !maps.Equal(got, want) || err == nil || err.Error() != "b: gone" {
		t.Errorf("got %v, %v; want %v and the error of b", got, err, want)
	}
}
