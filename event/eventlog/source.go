package eventlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"softswitch/event"
)

// chunk is how much of a log is read at once, in bytes; no line is as long.
const chunk = 1 << 18

// source is one log.
type source struct {
	path   string
	file   *os.File // nil: not yet opened, or it does not exist
	at     int64    // bytes of the file that were read
	rest   []byte   // of these, a line that is not whole
	dry    bool     // the end was reached; until refresh there is no more
	node   event.Node
	events []event.Event
}

// fill reads more events if there are none left.
func (s *source) fill() error {
	for len(s.events) == 0 && !s.dry {
		if err := s.read(); err != nil {
			return err
		}
	}
	return nil
}

// read reads a chunk.
func (s *source) read() error {
	if s.file == nil {
		f, err := os.Open(s.path)
		if err != nil {
			s.dry = true
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return fmt.Errorf("eventlog: %w", err)
		}
		s.file = f
	}
	buf := make([]byte, len(s.rest), len(s.rest)+chunk)
	copy(buf, s.rest)
	n, err := s.file.Read(buf[len(buf):cap(buf)])
	buf = buf[:len(buf)+n]
	s.at += int64(n)
	if err != nil && err != io.EOF {
		s.dry = true
		return fmt.Errorf("eventlog: %w", err)
	}
	s.dry = n == 0
	end := bytes.LastIndexByte(buf, '\n') + 1
	s.rest = buf[end:]
	return s.decode(buf[:end])
}

// decode decodes whole lines.
func (s *source) decode(lines []byte) error {
	from := s.at - int64(len(s.rest)) - int64(len(lines))
	log, err := event.Decode(fmt.Sprintf("%s from byte %d", s.path, from), lines, false)
	if err != nil {
		err = fmt.Errorf("eventlog: %w", err)
	}
	if len(log.Events) == 0 {
		return err
	}
	s.node.ID, s.node.Name = log.Node.ID, log.Node.Name
	for i, name := range log.Node.Ports {
		if i == len(s.node.Ports) {
			s.node.Ports = append(s.node.Ports, "")
		}
		if name != "" {
			s.node.Ports[i] = name
		}
	}
	s.events = log.Events
	return err
}

// refresh makes fill look again; there says that the log exists.
func (s *source) refresh() (there bool, err error) {
	s.dry = false
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("eventlog: %w", err)
	}
	if s.file == nil {
		return true, nil
	}
	was, err := s.file.Stat()
	if err != nil {
		return true, fmt.Errorf("eventlog: %w", err)
	}
	if !os.SameFile(was, now) || now.Size() < s.at {
		s.close()
		s.at, s.rest = 0, nil
	}
	return true, nil
}

func (s *source) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}
