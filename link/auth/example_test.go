package auth

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"softswitch/itsyhdr"
	"softswitch/pfcframe"
	"softswitch/unit"
)

// examples are the frames of docs/format/auth.md, by the words of their blocks.
func examples(t *testing.T) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile("../../docs/format/auth.md")
	if err != nil {
		t.Fatal(err)
	}
	frames := map[string][]byte{}
	for _, part := range strings.Split(string(text), "```hex ")[1:] {
		name, block, _ := strings.Cut(part, "\n")
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			offset, octets, _ := strings.Cut(line, "  ")
			if want := fmt.Sprintf("%04x", len(frames[name])); offset != want {
				t.Fatalf("%s: a line begins with %s, want %s", name, offset, want)
			}
			b, err := hex.DecodeString(strings.Join(strings.Fields(octets), ""))
			if err != nil {
				t.Fatal(name, err)
			}
			frames[name] = append(frames[name], b...)
		}
	}
	return frames
}

const (
	exampleFile    = "s1--s2 2b7e151628aed2a6abf7158809cf4f3c"
	exampleCounter = 1796947200000000001
)

// signed are the frames of the example, made anew.
func signed(t *testing.T) map[string][]byte {
	t.Helper()
	keys, err := ParseKeys("example", []byte(exampleFile))
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Mode: Strict, Link: "s1--s2", Keys: keys.Of("s1--s2"), Self: 0x020000000005, First: exampleCounter, Gap: gap})
	e.Up(0)
	hello, pause := make([]byte, itsyhdr.MessageLen), make([]byte, pfcframe.Len)
	e.PutHello(hello, unit.NodePort{Node: 5, Port: 2}, e.Challenge(0))
	pad := pfcframe.Put(pause, pfcframe.Frame{Src: e.self.Bytes(), Enable: 8, Quanta: [8]uint16{3: 65535}})
	itsyhdr.Put(pad, itsyhdr.TLV{Priority: 3, Period: 7})
	e.Sign(pause, pauseTag)
	return map[string][]byte{"hello": hello, "pause": pause}
}

func TestDocument(t *testing.T) {
	got := examples(t)
	for name, want := range signed(t) {
		if !bytes.Equal(got[name], want) {
			t.Errorf("docs/format/auth.md, %s:\n%s, want\n%s", name, dump(got[name]), dump(want))
		}
	}
}

func dump(b []byte) string {
	var s strings.Builder
	for i := 0; i < len(b); i += 16 {
		fmt.Fprintf(&s, "%04x  % x\n", i, b[i:min(i+16, len(b))])
	}
	return s.String()
}

// OpenSSL computes the same codes, by the words of the document.
func TestAgainstOpenSSL(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip(err)
	}
	cmac := func(key string, message []byte) string {
		c := exec.Command(program, "mac", "-cipher", "AES-128-CBC", "-macopt", "hexkey:"+key, "-in", "-", "CMAC")
		c.Stdin = bytes.NewReader(message)
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.ToLower(strings.TrimSpace(string(out)))
	}
	_, key, _ := strings.Cut(exampleFile, " ")
	link := cmac(key, []byte("softswitch link s1--s2"))
	for name, at := range map[string]int{"hello": tagAt, "pause": pauseTag} {
		frame := examples(t)[name]
		counter := uint64(exampleCounter)
		if name == "pause" {
			counter++
		}
		tag := hex.EncodeToString(frame[at : at+TagLen])
		clear(frame[at : at+TagLen])
		h := head(counter)
		if want := fmt.Sprintf("%04x", uint16(counter)) + cmac(link, append(h[:], frame...))[:2*codeLen]; tag != want {
			t.Errorf("%s: the tag is %s, OpenSSL makes %s of it", name, tag, want)
		}
	}
}

// A witness believes the frames of the example, in the order in which they were sent.
func TestWitness(t *testing.T) {
	keys, err := ParseKeys("example", []byte(exampleFile+"\nother--link 000102030405060708090a0b0c0d0e0f"))
	if err != nil {
		t.Fatal(err)
	}
	frames := signed(t)
	w := NewWitness(keys)
	judge := func(what string, frame []byte, v Verdict, link string) {
		t.Helper()
		before := bytes.Clone(frame)
		if gotV, gotLink := w.Judge(frame); gotV != v || gotLink != link {
			t.Errorf("%s: %v by %q, want %v by %q", what, gotV, gotLink, v, link)
		}
		if !bytes.Equal(frame, before) {
			t.Errorf("%s: the frame was changed", what)
		}
	}
	forged := bytes.Clone(frames["pause"])
	forged[24] ^= 1
	plain := bytes.Clone(frames["pause"])
	clear(plain[pauseTag:])
	judge("a pause before a hello", frames["pause"], Unknown, "")
	judge("the hello", frames["hello"], Believed, "s1--s2")
	judge("the pause", frames["pause"], Believed, "s1--s2")
	judge("the pause where it comes", frames["pause"], Believed, "s1--s2")
	judge("a pause that was changed", forged, Wrong, "s1--s2")
	judge("a pause without a tag", plain, Missing, "")
	judge("no control frame", make([]byte, 60), Missing, "")
	judge("nothing", nil, Missing, "")
	judge("half a pause", frames["pause"][:30], Missing, "")
	w = NewWitness(Keys{AllLinks: keys["s1--s2"]})
	judge("the hello, with keys of no name", frames["hello"], Wrong, "")
}
