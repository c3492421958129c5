package learn

import (
	"flag"
	"io"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write docs/learn.md and its replays")

// answers are what is right, by the page's figures of today.
var answers = []int{2, 2, 2, 2, 1, 2, 3, 2, 1, 1, 2, 2}

// TestRightAnswers: the answers that the text explains are those that the runs give, and no other is.
func TestRightAnswers(t *testing.T) {
	right, asked, err := (&Course{Answers: answers, In: strings.NewReader(""), Out: io.Discard}).Take(t.Context())
	if err != nil || right != asked || asked != 12 {
		t.Errorf("%d of %d are right: %v", right, asked, err)
	}
	wrong := make([]int, len(answers))
	for i, a := range answers {
		wrong[i] = 3 - min(a, 2)
	}
	right, asked, err = (&Course{Answers: wrong, In: strings.NewReader(""), Out: io.Discard}).Take(t.Context())
	if err != nil || right != 0 || asked != 12 {
		t.Errorf("of answers that are all wrong %d of %d are right: %v", right, asked, err)
	}
}

// TestAsked: what is no choice is asked again; a course that is left ends with an error.
func TestAsked(t *testing.T) {
	var out strings.Builder
	right, asked, err := (&Course{Steps: []int{1}, In: strings.NewReader("x\n9\n2\n1\n"), Out: &out}).Take(t.Context())
	if err != nil || right != 1 || asked != 2 {
		t.Errorf("%d of %d are right: %v", right, asked, err)
	}
	for _, want := range []string{`"x": valid: 1 to 3`, `"9": valid: 1 to 3`, "Yes.", "No: that of s1, its neighbour.", "h2 stops s1", "1 of 2 answers were right."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &out)
		}
	}
	for _, c := range []Course{{Steps: []int{7}}, {Steps: []int{1}, Answers: []int{4}}, {Steps: []int{1}}} {
		c.In, c.Out = strings.NewReader(""), io.Discard
		if _, _, err := c.Take(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "learn: ") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestPage holds docs/learn.md against the course; -rewrite writes it, and its replays.
func TestPage(t *testing.T) {
	const file, replays = "../../docs/learn.md", "../../docs/learn.html"
	page, err := Page("learn.html")
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := WriteReplays(replays); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != page {
		t.Error("docs/learn.md is not the course; make learn")
	}
	if _, err := os.Stat(replays); err != nil {
		t.Error(err)
	}
}
