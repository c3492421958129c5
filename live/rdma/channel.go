package rdma

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"softswitch/host/ibperf"
	"softswitch/host/verbs"
)

// channel is the way of an exchange.
type channel interface {
	// read returns what is next, which has so many octets.
	read(octets int) ([]byte, error)
	// next returns what is next of lines, results and the end, which may be empty.
	next() ([]byte, error)
	write(b []byte) error
	// line is a line as this channel has it, and parseLine reads it.
	line(l ibperf.Line) []byte
	parseLine(b []byte) (ibperf.Line, error)
}

// tcpChannel is a TCP connection: lines are text.
type tcpChannel struct {
	*net.TCPConn
	in io.Reader
}

func (c tcpChannel) read(octets int) ([]byte, error) {
	b := make([]byte, octets)
	_, err := io.ReadFull(c.in, b)
	return b, err
}

// next tells by the first octets what comes.
func (c tcpChannel) next() ([]byte, error) {
	b, err := c.read(len(ibperf.Done))
	if err != nil || string(b) == ibperf.Done {
		return b, err
	}
	n := ibperf.ResultLen
	if ibperf.IsLine(b) {
		n = ibperf.LineLen
	}
	rest, err := c.read(n - len(b))
	return append(b, rest...), err
}

func (c tcpChannel) write(b []byte) error {
	_, err := c.Write(b)
	return err
}

func (tcpChannel) line(l ibperf.Line) []byte               { return l.Text() }
func (tcpChannel) parseLine(b []byte) (ibperf.Line, error) { return ibperf.ParseLine(b) }

// sendChannel is a connection of rdma_cm: each is a message of its own, and lines are binary.
type sendChannel struct {
	ctx context.Context
	*connection
}

// errEnded is the end of a connection while something is to come.
var errEnded = errors.New("the far end ended the connection")

func (c sendChannel) read(octets int) ([]byte, error) {
	b, err := c.next()
	switch {
	case err != nil:
		return nil, err
	case len(b) == 0:
		return nil, errEnded
	case len(b) != octets:
		return nil, fmt.Errorf("message of %d octets; valid: %d", len(b), octets)
	}
	return b, nil
}

func (c sendChannel) next() ([]byte, error) {
	b, _, err := c.message(c.ctx)
	return b, err
}

func (c sendChannel) write(b []byte) error {
	return c.carryOut(c.ctx, verbs.Request{Op: verbs.Send, Data: b})
}

func (sendChannel) line(l ibperf.Line) []byte               { return l.Binary() }
func (sendChannel) parseLine(b []byte) (ibperf.Line, error) { return ibperf.ParseBinary(b) }
