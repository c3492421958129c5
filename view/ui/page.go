package ui

import (
	"context"
	"fmt"
	"io"
	"sync"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
)

// Page is a page that is being served.
type Page struct {
	stream *Stream
	stop   context.CancelFunc
	work   sync.WaitGroup
	err    error // of the server, once work is done
}

// Open serves stream, and says where.
func Open(ctx context.Context, listen string, stream *Stream, act func(context.Context, Order) error, out io.Writer) (*Page, error) {
	srv, err := Listen(listen, stream, act)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	p := &Page{stream: stream, stop: stop}
	p.work.Go(func() { p.err = srv.Serve(ctx) })
	fmt.Fprintf(out, "page: %s\n", srv.URL())
	return p, nil
}

// OpenLab serves the page of the lab of a name, which need not be up yet.
func OpenLab(ctx context.Context, name, listen string, out io.Writer) (*Page, error) {
	stream := new(Stream)
	lab := NewLab(name, Choices{Detectors: catalog.Names(), Responses: respond.Names()}, stream)
	p, err := Open(ctx, listen, stream, lab.Act, out)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	serve := p.stop
	p.stop = func() {
		stop()
		serve()
	}
	p.work.Go(func() { lab.Run(ctx) })
	return p, nil
}

// ServeLab is OpenLab until ctx ends.
func ServeLab(ctx context.Context, name, listen string, out io.Writer) error {
	p, err := OpenLab(ctx, name, listen, out)
	if err != nil {
		return err
	}
	<-ctx.Done()
	return p.Close()
}

// Close ends the page; closing it again, or none, does nothing.
func (p *Page) Close() error {
	if p == nil {
		return nil
	}
	p.stop()
	p.work.Wait()
	return p.err
}

// AwaitViewer waits until a browser has the page open.
func (p *Page) AwaitViewer(ctx context.Context, progress io.Writer) error {
	if p == nil {
		return nil
	}
	fmt.Fprintln(progress, "the scenario begins when a browser has the page open")
	return p.stream.AwaitPage(ctx)
}

// AwaitEnd waits until the user has seen enough.
func (p *Page) AwaitEnd(ctx context.Context, progress io.Writer) {
	if p == nil {
		return
	}
	fmt.Fprintln(progress, "played; the page stays as it is until Ctrl-C")
	<-ctx.Done()
}
