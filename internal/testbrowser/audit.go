package testbrowser

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

//go:embed audit.js
var audit string

// controls are the roles that a user acts on.
var controls = []string{"application", "button", "checkbox", "combobox", "Iframe", "link", "listbox", "radio", "slider", "switch", "tab", "textbox"}

// Audit is what keeps people from using the page who do not see it, or not well: what a
// program can check of WCAG 2.2, by the page (audit.js: contrast, language, title, ids,
// headings, order of the focus, size of targets, live regions) and by the tree that the
// browser gives to a screen reader (names of controls, 4.1.2).
func (b *Tab) Audit() (faults []string) {
	b.t.Helper()
	code := audit[strings.Index(audit, "() =>"):]
	if err := json.Unmarshal([]byte(b.Value("JSON.stringify(("+strings.TrimRight(code, "\n; ")+")())")), &faults); err != nil {
		b.t.Fatal(err)
	}
	tree := value(b, func(ctx context.Context, to *chromedp.Target) (accessibility.GetFullAXTreeResult, error) {
		return cdp.Call(ctx, to, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	})
	n := 0
	for _, node := range tree.Nodes {
		role := text(node.Role)
		for _, control := range controls {
			if node.Ignored || role != control {
				continue
			}
			if n++; text(node.Name) == "" {
				faults = append(faults, fmt.Sprintf("a %s has no name (4.1.2)", role))
			}
		}
	}
	if n == 0 {
		faults = append(faults, "the tree of the browser has no control: nothing was checked")
	}
	return faults
}

// text is a value of the tree, which is a text; "" if it is none.
func text(v *accessibility.Value) (s string) {
	if v == nil || json.Unmarshal(v.Value, &s) != nil {
		return ""
	}
	return s
}
