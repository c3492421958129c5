package strictyaml

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Cut is the part of a YAML file, which Read has read without a fault, that has these
// keys: their lines as they are written, in the order of the file.
func Cut(data []byte, keys ...string) string {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		panic("strictyaml: Cut of a file that Read refuses: " + err.Error())
	}
	var b strings.Builder
	for _, doc := range file.Docs {
		m, ok := doc.Body.(*ast.MappingNode)
		if !ok {
			continue
		}
		for i, p := range m.Values {
			key, ok := scalar(p.Key)
			switch {
			case !ok || !slices.Contains(keys, key):
			case m.IsFlowStyle: // several keys in a line
				b.WriteString(strings.TrimSpace(p.String()) + "\n")
			default:
				end := -1
				if i+1 < len(m.Values) {
					end = line(m.Values[i+1].Key)
				}
				b.WriteString(lines(data, line(p.Key), end))
			}
		}
	}
	return b.String()
}

// lines are those from one to before another, -1 for all that follow, but for comments
// and empty ones at their end and what ends a document.
func lines(data []byte, from, end int) string {
	all := strings.Split(string(data), "\n")
	if end < 0 {
		end = len(all) + 1
	}
	all = all[from-1 : end-1]
	for len(all) > 1 {
		last := strings.TrimSpace(all[len(all)-1])
		if last != "" && last[0] != '#' && last != "..." {
			break
		}
		all = all[:len(all)-1]
	}
	return strings.Join(all, "\n") + "\n"
}
