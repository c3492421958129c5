package plot

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strconv"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"figure": figureText}).Parse(pageText))

// figureText is a figure of the table.
func figureText(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// WriteHTML writes the figure, and a table of what it shows, as a page that needs nothing else.
func (c *Chart) WriteHTML(w io.Writer) error {
	var svg bytes.Buffer
	if err := c.Figure().WriteSVG(&svg); err != nil {
		return err
	}
	_, picture, _ := bytes.Cut(svg.Bytes(), []byte("<svg")) // without what declares a file
	return page.Execute(w, struct {
		*Chart
		Picture template.HTML
	}{c, template.HTML("<svg" + string(picture))})
}
