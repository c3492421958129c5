// Guard refuses requests that a browser sends for a page of somebody else: it is what
// the live page and the metrics have in common against the web.
//
//	request --> Host is ours? --> Origin is ours? --> handler
//	                 |                 |
//	                 '-------403-------'
//
// A browser on this machine reaches what listens on its loopback, and so does every page that it
// has open: by a name that was made to lead here (DNS rebinding), which then stands in Host, or
// by sending a request, with its own address in Origin.
//
// Invariants:
//   - no-foreign-host: Host is an IP address, localhost, or the name that was asked to be served;
//   - no-foreign-origin: Origin is absent, or what Host says.
//
// What it does not do: it knows no users. Anyone who can connect, as every user of this machine can
// to loopback, gets an answer.

package metrics

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Guard refuses foreign requests, and gives next the others. served is the host that was asked
// to be served, a name or an address; "" for none.
func Guard(next http.Handler, served string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ours(r.Host, served) {
			http.Error(w, fmt.Sprintf("host %q: open it by an IP address, as localhost, or by the name that it was told to listen on", r.Host), http.StatusForbidden)
			return
		}
		if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
			http.Error(w, fmt.Sprintf("origin %q: not this page", o), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a Host header is an address, localhost or the name that is served, and not
// a name that anybody can have lead anywhere.
func ours(hostport, served string) bool {
	u, err := url.Parse("http://" + hostport)
	if err != nil {
		return false
	}
	name := u.Hostname()
	return name != "" && (strings.EqualFold(name, "localhost") || strings.EqualFold(name, served) || net.ParseIP(name) != nil)
}
