package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Time limits of a call: for the node to be there, and for its answer.
const (
	dialMax = 2 * time.Second
	callMax = 10 * time.Second
)

// Call asks the node at path and stores its answer in result, unless that is nil.
// An error of the node's handler comes back as its text alone, any other begins
// with "control:". It waits at most 2 s for the node to be there and 10 s for the
// answer.
func Call(path, do string, args, result any) error {
	return CallWithin(callMax, path, do, args, result)
}

// CallWithin is Call, and waits at most limit for the answer.
func CallWithin(limit time.Duration, path, do string, args, result any) error {
	return call(limit, answerMax, path, do, args, result)
}

// call is CallWithin for answers of no more than most bytes.
func call(limit time.Duration, most int64, path, do string, args, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	body := []byte{}
	if args != nil {
		var err error
		if body, err = json.Marshal(args); err != nil {
			return fmt.Errorf("control: %s: %w", do, err)
		}
	}
	resp, err := post(ctx, path, do, bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return take(resp, most, do, result)
}

// take reads the answer to the request do into result, unless it is nil.
func take(resp *http.Response, most int64, do string, result any) error {
	if result == nil || resp.StatusCode == http.StatusNoContent {
		return nil
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err == nil && int64(len(answer)) > most:
		return fmt.Errorf("control: %s: an answer of more than %d bytes", do, most)
	case err == nil:
		err = json.Unmarshal(answer, result)
	}
	if err != nil {
		return fmt.Errorf("control: %s: %w", do, err)
	}
	return nil
}

// post asks the node at path, on a new connection, and returns its answer, or the
// answer's error.
func post(ctx context.Context, path, do string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://node/"+do, body)
	if err != nil {
		return nil, fmt.Errorf("control: %s: %w", do, err)
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return Dial(ctx, path)
		},
	}
	resp, err := transport.RoundTrip(req)
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return nil, fmt.Errorf("control: %w", err)
	case err != nil:
		return nil, fmt.Errorf("control: %s: %w", do, err)
	}
	return resp, refusal(do, resp)
}

// refusal is the error in an answer, nil if it has none; then the body is still unread.
func refusal(do string, resp *http.Response) error {
	if resp.StatusCode < 300 {
		return nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, requestMax))
	if err != nil {
		return fmt.Errorf("control: %s: %w", do, err)
	}
	return errors.New(strings.TrimSuffix(string(text), "\n"))
}

// Conn is the client's end of a Stream. It does not use http.Transport, which hangs up
// when a write fails and then loses what the node said before it went.
type Conn struct {
	in   io.ReadCloser
	out  *io.PipeWriter
	conn net.Conn
}

// Open asks the node at path for a stream, as Call asks for an answer, and returns it.
func Open(path, do string, args any) (*Conn, error) {
	query, err := toQuery(args)
	if err != nil {
		return nil, fmt.Errorf("control: %s: %w", do, err)
	}
	body, out := io.Pipe()
	req, err := http.NewRequest(http.MethodPost, "http://node/"+do+"?"+query, body)
	if err != nil {
		return nil, fmt.Errorf("control: %s: %w", do, err)
	}
	req.Close = true
	conn, err := Dial(context.Background(), path)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	c := &Conn{out: out, conn: conn}
	conn.SetDeadline(time.Now().Add(callMax))
	go func() { body.CloseWithError(req.Write(conn)) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("control: %s: no answer in %v", do, callMax)
	case err != nil:
		err = fmt.Errorf("control: %s: %w", do, err)
	default:
		err = refusal(do, resp)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	c.in = resp.Body
	return c, nil
}

// Read reads what the node writes, until io.EOF.
func (c *Conn) Read(b []byte) (int, error) { return c.in.Read(b) }

// Write sends more to the node.
func (c *Conn) Write(b []byte) (int, error) { return c.out.Write(b) }

// CloseWrite tells the node that no more is wanted; what is in transit can still be
// read.
func (c *Conn) CloseWrite() error { return c.out.Close() }

// Close hangs up.
func (c *Conn) Close() error {
	c.out.Close()
	return c.conn.Close()
}
