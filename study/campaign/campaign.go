package campaign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"softswitch/internal/safefile"
	"softswitch/internal/version"
	"softswitch/study/shard"
)

// Campaign is a run that is played in shards.
type Campaign struct {
	dir string
	// Program is the build that began it. Other builds may give other results.
	Program   string   `json:"softswitch"`
	Arguments []string `json:"arguments"` // of softswitch, such as sim fuzz --n 100000
	Shards    int      `json:"shards"`
}

// described is the file that makes a folder a campaign.
const described = "campaign.json"

// Create makes a folder, which must not be there, of a campaign. files are copied into it
// under their own names, which are relative: shards are played in the folder. shards may be 0,
// for the usual number. What the command says of its flags goes to show. Unless all of it
// can be made there is no folder after it.
func Create(ctx context.Context, dir string, arguments, files []string, shards int, show io.Writer) (*Campaign, error) {
	c := &Campaign{Program: version.Exact(), Arguments: arguments, Shards: shards}
	err := safefile.CreateDir(dir, func(making string) error {
		c.dir = making
		return c.fill(ctx, files, show)
	})
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	c.dir = dir
	return c, nil
}

// fill puts into the folder what belongs there.
func (c *Campaign) fill(ctx context.Context, files []string, show io.Writer) error {
	for _, name := range files {
		if err := copyInto(c.dir, name); err != nil {
			return err
		}
	}
	n, err := c.items(ctx, show)
	switch {
	case err != nil:
		return err
	case c.Shards == 0:
		c.Shards = min(n, 16)
	case c.Shards > n:
		return fmt.Errorf("--shards %d: there are %d items; valid: 1 to %d", c.Shards, n, min(n, shard.MaxParts))
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(c.dir, described), append(data, '\n'))
}

// copyInto copies a file into a folder under its relative name.
func copyInto(dir, name string) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("%s: the folder gets a copy of it under its own name; valid: a path below the current folder", name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, name)
	return errors.Join(safefile.MkdirAll(filepath.Dir(to), 0o755), write(to, data))
}

// write writes a file and waits until it is on the disk.
func write(name string, data []byte) error {
	f, err := safefile.Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// Open reads a campaign.
func Open(dir string) (*Campaign, error) {
	data, err := os.ReadFile(filepath.Join(dir, described))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("campaign: %s is none: it has no %s; `softswitch campaign init` makes one", dir, described)
	}
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	c := &Campaign{dir: dir}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), c); err != nil {
		return nil, fmt.Errorf("campaign: %s: %w", filepath.Join(dir, described), err)
	}
	if c.Shards < 1 || c.Shards > shard.MaxParts || len(c.Arguments) == 0 {
		return nil, fmt.Errorf("campaign: %s: %d shards of %q; valid: 1 to %d of a command", filepath.Join(dir, described), c.Shards, c.Arguments, shard.MaxParts)
	}
	return c, nil
}

// path is the file of a shard.
func (c *Campaign) path(number int) string {
	return filepath.Join(c.dir, "shards", fmt.Sprintf("%d.json", number))
}

// Files are those of all shards; some may be missing.
func (c *Campaign) Files() []string {
	var files []string
	for i := range c.Shards {
		files = append(files, c.path(i+1))
	}
	return files
}

// command is what is played, for people.
func (c *Campaign) command() string { return "softswitch " + strings.Join(c.Arguments, " ") }

// Status is how far a campaign is.
type Status struct {
	Dir     string `json:"dir"`
	Command string `json:"command"`
	Shards  int    `json:"shards"`
	Done    int    `json:"done"`
	Missing []int  `json:"missing"`
	Damaged []int  `json:"damaged"` // there, but not whole
}

// Status looks at every shard.
func (c *Campaign) Status() (*Status, error) {
	s := &Status{Dir: c.dir, Command: c.command(), Shards: c.Shards, Missing: []int{}, Damaged: []int{}}
	for i := range c.Shards {
		_, err := shard.Read(c.path(i + 1))
		switch {
		case err == nil:
			s.Done++
		case errors.Is(err, fs.ErrNotExist):
			s.Missing = append(s.Missing, i+1)
		case errors.Is(err, fs.ErrPermission):
			return nil, err
		default:
			s.Damaged = append(s.Damaged, i+1)
		}
	}
	return s, nil
}

// Complete reports whether all shards are there.
func (s *Status) Complete() bool { return s.Done == s.Shards }

// WriteText writes it for people.
func (s *Status) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %s\n%d of %d shards are there\n", s.Dir, s.Command, s.Done, s.Shards)
	if err == nil && len(s.Missing) > 0 {
		_, err = fmt.Fprintf(w, "missing: %s\n", shard.Ranges(s.Missing))
	}
	if err == nil && len(s.Damaged) > 0 {
		_, err = fmt.Fprintf(w, "damaged, and to be played again: %s\n", shard.Ranges(s.Damaged))
	}
	return err
}
