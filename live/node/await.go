package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"softswitch/internal/lists"
	"softswitch/internal/strictyaml"
	"softswitch/live"
)

// Await waits for at most that long until this network namespace has the interfaces of
// these names, and says on w which it waits for. With 0 it waits for none. The error names those that have not come;
// it is that of ctx if that ends first.
func Await(ctx context.Context, w io.Writer, names []string, wait time.Duration) error {
	if wait < 0 {
		return fmt.Errorf("--wait: %s: write a time that is not negative, such as 60s", wait)
	}
	missing := absent(names)
	if len(missing) == 0 {
		return nil
	}
	if wait == 0 {
		there := interfaces()
		named := lists.Map(missing, func(name string) string { return strconv.Quote(name) + strictyaml.DidYouMean(name, there) })
		return fmt.Errorf("%s: no such network interface; this network namespace has %s; --wait waits for one", strings.Join(named, ", "), strings.Join(there, ", "))
	}
	fmt.Fprintf(w, "waiting for %s, at most %s\n", strings.Join(missing, ", "), wait)
	patience, stop := context.WithTimeoutCause(ctx, wait, errNotThere)
	defer stop()
	err := live.Await(patience, names)
	if err == nil || context.Cause(patience) != errNotThere {
		return err
	}
	if missing = absent(names); len(missing) > 0 {
		return fmt.Errorf("after %s there is still no interface %s; there is: %s", wait, strings.Join(missing, ", "), strings.Join(interfaces(), ", "))
	}
	return nil
}

// absent are those of these names that no interface has now.
func absent(names []string) []string {
	return lists.Where(names, func(name string) bool {
		_, err := net.InterfaceByName(name)
		return err != nil
	})
}

var errNotThere = errors.New("interfaces are missing")

// interfaces are the names of those that there are.
func interfaces() []string {
	all, err := net.Interfaces()
	if err != nil {
		return []string{err.Error()}
	}
	return lists.Map(all, func(i net.Interface) string { return i.Name })
}
