package ui

import (
	"context"
	"fmt"
	"io"
	"sync"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	netnslab "softswitch/netns-lab"
	"softswitch/unit"
)

// Page is a page that is being served.
type Page struct {
	stream *Stream
	lab    *Lab // nil for a simulation
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
	p := Serve(ctx, srv, out)
	p.stream = stream
	return p, nil
}

// Serve has srv serve until ctx ends or the page is closed, and says where.
func Serve(ctx context.Context, srv *Server, out io.Writer) *Page {
	ctx, stop := context.WithCancel(ctx)
	p := &Page{stop: stop}
	p.work.Go(func() { p.err = srv.Serve(ctx) })
	fmt.Fprintf(out, "page: %s\n", srv.URL())
	return p
}

// OpenLab serves the page of the lab of a name, which need not be up yet; orders is the door to it.
func OpenLab(ctx context.Context, name, listen string, orders func(*netnslab.State) Orders, out io.Writer) (*Page, error) {
	lab := newLab(name, orders)
	p, err := Open(ctx, listen, lab.stream, lab.Act, out)
	if err != nil {
		return nil, err
	}
	p.follow(ctx, lab)
	return p, nil
}

// FollowLab is a page that nobody sees, of the lab of a name, for [Page.SaveTo].
func FollowLab(ctx context.Context, name string) *Page {
	lab := newLab(name, nil)
	lab.stream.record()
	p := &Page{stream: lab.stream, stop: func() {}}
	p.follow(ctx, lab)
	return p
}

// Recording is what the page has shown so far.
func (p *Page) Recording() (Recording, error) { return p.stream.Recording() }

func newLab(name string, orders func(*netnslab.State) Orders) *Lab {
	return NewLab(name, Choices{Detectors: catalog.Names(), Responses: respond.Names()}, new(Stream), orders)
}

func (p *Page) follow(ctx context.Context, lab *Lab) {
	ctx, stop := context.WithCancel(ctx)
	serve := p.stop
	p.lab, p.stop = lab, func() {
		stop()
		serve()
	}
	p.work.Go(func() { lab.Run(ctx) })
}

// SaveTo has the lab looked at from now on whether a browser has the page open or not, and
// is [SaveTo] of what is seen; path may be empty.
func (p *Page) SaveTo(path string) (end func(played bool) error, err error) {
	if path != "" {
		p.stream.record()
	}
	return SaveTo(path, p.stream.WriteHTML)
}

// Until says when the run ends: what the page of a lab shows, and its recording, stop there until
// AwaitEnd.
func (p *Page) Until(end unit.Time) {
	if p != nil && p.lab != nil {
		p.lab.until(end)
	}
}

// Judged tells the page what became of the run, after a last look at the lab as it was at the end.
func (p *Page) Judged(text string) {
	if p != nil {
		p.lab.judged(text)
	}
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

// AwaitEnd shows what goes on in the lab after the run, until the user has seen enough.
func (p *Page) AwaitEnd(ctx context.Context, progress io.Writer) {
	if p == nil {
		return
	}
	p.Until(unit.Never)
	fmt.Fprintln(progress, "played; the page stays until Ctrl-C")
	<-ctx.Done()
}
