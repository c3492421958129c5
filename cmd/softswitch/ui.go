package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"

	"softswitch/detect/catalog"
	"softswitch/detect/respond"
	"softswitch/lab"
	"softswitch/view/ui"
)

// pageAddress is where the live page listens unless it is told otherwise.
const pageAddress = "127.0.0.1:8080"

func labUI(name *string) *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "ui",
		Short: "Show a lab that is up in a browser",
		Long: `Show a lab that is up in a browser: which links are busy, paused or down, how full the
buffers are, how labels travel, where a deadlock is and who started it; with a time line
to go back on, and buttons to fail links, to make hosts misbehave and to restart the
switches with another detector or response.

The address that is printed holds a token; a page without it can look on only. The page
listens on loopback unless it is told otherwise, is not encrypted, and needs nothing from
any other machine. It rests while no browser has it open. Ctrl-C ends it and leaves the
lab as it is.`,
		Example: "  sudo softswitch lab deploy -t scenarios/fattree-on-loop.yaml\n  sudo softswitch lab ui\n  sudo softswitch lab ui --listen 0.0.0.0:9000",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := lab.Load(*name); err != nil {
				return err
			}
			p, err := openLabPage(cmd.Context(), *name, listen, os.Stdout)
			if err != nil {
				return err
			}
			<-cmd.Context().Done()
			return p.close()
		},
	}
	c.Flags().StringVar(&listen, "listen", pageAddress, "address of the page; port 0 is any that is free")
	return c
}

// pageOptions are those of commands that play something and can show it.
type pageOptions struct {
	show   bool
	listen string
}

func (p *pageOptions) flags(c *cobra.Command) {
	c.Flags().BoolVar(&p.show, "ui", false, "show it in a browser, until Ctrl-C")
	c.Flags().StringVar(&p.listen, "listen", pageAddress, "with --ui: address of the page; port 0 is any that is free")
}

// page is a page that is being served.
type page struct {
	stream *ui.Stream
	stop   context.CancelFunc
	work   sync.WaitGroup
	err    error // of the server, once work is done
}

// openPage serves stream, and says where.
func openPage(ctx context.Context, listen string, stream *ui.Stream, act func(context.Context, ui.Order) error, out io.Writer) (*page, error) {
	srv, err := ui.Listen(listen, stream, act)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	p := &page{stream: stream, stop: stop}
	p.work.Go(func() { p.err = srv.Serve(ctx) })
	fmt.Fprintf(out, "page: %s\n", srv.URL())
	return p, nil
}

// openLabPage serves the page of the lab of a name, which need not be up yet.
func openLabPage(ctx context.Context, name, listen string, out io.Writer) (*page, error) {
	stream := new(ui.Stream)
	lab := ui.NewLab(name, ui.Choices{Detectors: catalog.Names(), Responses: respond.Names()}, stream)
	p, err := openPage(ctx, listen, stream, lab.Act, out)
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

// close ends the page; closing it again, or none, does nothing.
func (p *page) close() error {
	if p == nil {
		return nil
	}
	p.stop()
	p.work.Wait()
	return p.err
}

// awaitViewer waits until a browser has the page open.
func (p *page) awaitViewer(ctx context.Context, progress io.Writer) error {
	if p == nil {
		return nil
	}
	fmt.Fprintln(progress, "the scenario begins when a browser has the page open")
	return p.stream.AwaitPage(ctx)
}

// awaitEnd waits until the user has seen enough.
func (p *page) awaitEnd(ctx context.Context, progress io.Writer) {
	if p == nil {
		return
	}
	fmt.Fprintln(progress, "played; the page stays as it is until Ctrl-C")
	<-ctx.Done()
}
