package schema

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Comments are the comments of structs and their fields: "config.Buffer" and
// "config.Buffer.Pool". The one before a field counts, else the one behind it.
type Comments map[string]string

// ReadComments reads the Go files, tests aside, of folders of src. Each folder is
// called as its package.
func ReadComments(src fs.FS, folders ...string) (Comments, error) {
	c := Comments{}
	for _, folder := range folders {
		files, err := fs.Glob(src, folder+"/*.go")
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("folder %s: no Go file in it; run where the repository is", folder)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := fs.ReadFile(src, file)
			if err != nil {
				return nil, err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			c.add(path.Base(folder), parsed)
		}
	}
	return c, nil
}

func (c Comments) add(pkg string, file *ast.File) {
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range gen.Specs {
			t, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			st, ok := t.Type.(*ast.StructType)
			if !ok {
				continue
			}
			name := pkg + "." + t.Name.Name
			c[name] = gen.Doc.Text() + t.Doc.Text()
			c.fields(name, st)
		}
	}
}

func (c Comments) fields(object string, st *ast.StructType) {
	for _, f := range st.Fields.List {
		text := f.Doc.Text()
		if text == "" {
			text = f.Comment.Text()
		}
		for _, n := range f.Names {
			c[object+"."+n.Name] = text
		}
	}
}

// plain rewrites a comment for readers of Go as one for writers of YAML: on one line,
// fields by their keys, and without its own subject at the start ("Rate is the bit
// rate" -> "The bit rate").
func plain(comment string, names []fieldName, self, key string) string {
	text := strings.Join(strings.Fields(comment), " ")
	for _, is := range []string{" is ", " are ", ": "} {
		if rest, ok := strings.CutPrefix(text, self+is); ok {
			text = rest
			break
		}
	}
	for _, n := range names {
		if !strings.ContainsFunc(n.name, unicode.IsLower) {
			continue // MAC, XON: terms too
		}
		text = replaceWord(text, n.name, "`"+n.key+"`")
	}
	if rest, ok := strings.CutPrefix(text, self); ok && key != "" && !strings.EqualFold(self, key) && rest != "" && !isLetter(rest[:1]) {
		text = "`" + key + "`" + rest
	}
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.ContainsAny(text[len(text)-1:], ".:") {
		text += "."
	}
	return text
}

// replaceWord replaces a name that is a word inside a sentence; at the start of one it
// may be plain English.
func replaceWord(text, name, by string) string {
	var b strings.Builder
	done := 0
	for _, at := range regexp.MustCompile(`\b`+name+`\b`).FindAllStringIndex(text, -1) {
		before, after := text[:at[0]], text[at[1]:]
		if before != "" && !strings.HasSuffix(before, ". ") && !strings.HasSuffix(before, "`") && !strings.HasPrefix(after, "`") {
			b.WriteString(text[done:at[0]] + by)
			done = at[1]
		}
	}
	return b.String() + text[done:]
}

func isLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r == '_' || r == '`' || unicode.IsLetter(r) || unicode.IsDigit(r) })
}
