package ui

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"softswitch/internal/safefile"
)

// scriptTag is how index.html names a script.
var scriptTag = regexp.MustCompile(`<script src="([a-z]+\.js)" defer></script>\n`)

// WriteHTML writes the page as one file, which plays the states that the stream holds and
// needs nothing else: no server and no network. It fails if there is nothing to play.
func (s *Stream) WriteHTML(w io.Writer) error {
	s.mu.Lock()
	run := struct {
		Topology json.RawMessage   `json:"topology"`
		States   []json.RawMessage `json:"states"`
	}{s.topology, slices.Clone(s.states)}
	s.mu.Unlock()
	if len(run.States) == 0 {
		return errNothing
	}
	return writeHTML(w, encode(run))
}

var errNothing = errors.New("page: there is no run to write")

// writeHTML writes the page with what it is to play.
func writeHTML(w io.Writer, run json.RawMessage) error {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := zip.Write(run); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	page := pageFile("index.html")
	scripts := `<script type="text/plain" id="recorded">` + base64.StdEncoding.EncodeToString(packed.Bytes()) + "</script>\n"
	page = scriptTag.ReplaceAllStringFunc(page, func(tag string) string {
		scripts += "<script>\n" + pageFile(scriptTag.FindStringSubmatch(tag)[1]) + "</script>\n"
		return ""
	})
	for _, part := range [][2]string{
		{`<link rel="stylesheet" href="page.css">`, "<style>\n" + pageFile("page.css") + "</style>"},
		{"</body>", scripts + "</body>"},
	} {
		if strings.Count(page, part[0]) != 1 {
			return fmt.Errorf("page: index.html has not one %q", part[0])
		}
		page = strings.Replace(page, part[0], part[1], 1)
	}
	_, err = io.WriteString(w, page)
	return err
}

// pageFile is a file that the page is made of.
func pageFile(name string) string {
	data, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is in the program
	}
	return string(data)
}

// SaveTo makes sure that a file can be written, unless path is empty. end writes it with
// writeHTML, if what it is to play was played; else what was there before stays.
func SaveTo(path string, writeHTML func(io.Writer) error) (end func(played bool) error, err error) {
	if path == "" {
		return func(bool) error { return nil }, nil
	}
	_, err = os.Stat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("html: %w", err)
	}
	write := func() error {
		var page bytes.Buffer
		if err := writeHTML(&page); err != nil {
			return err
		}
		return safefile.WriteFile(path, page.Bytes(), 0o666)
	}
	return func(played bool) (err error) {
		if played {
			if err = write(); err == nil {
				return nil
			}
			err = fmt.Errorf("html: %w", err)
		}
		if isNew {
			err = errors.Join(err, safefile.Remove(path))
		}
		return err
	}, nil
}
