package metrics

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	const evil = "evil.example"
	for _, tt := range []struct {
		served, host, origin string
		status               int
		want                 string
	}{
		{"127.0.0.1", "127.0.0.1:8080", "", 200, ""},
		{"127.0.0.1", "localhost:8080", "", 200, ""},
		{"127.0.0.1", "LOCALHOST", "", 200, ""},
		{"127.0.0.1", "[::1]:8080", "", 200, ""},
		{"0.0.0.0", "192.0.2.1:8080", "", 200, ""},
		{"core0", "core0:9470", "", 200, ""},
		{"core0", "Core0", "", 200, ""},
		{"127.0.0.1", "127.0.0.1:8080", "http://127.0.0.1:8080", 200, ""},
		{"core0", "core0:9470", "http://core0:9470", 200, ""},

		{"127.0.0.1", evil, "", 403, `host "evil.example": open it by an IP address, as localhost, or by the name`},
		{"", evil, "", 403, "host"},
		{"", "", "", 403, "host"},
		{"", ":80", "", 403, "host"},
		{"0.0.0.0", "core0:9470", "", 403, "host"},
		{"core0", "core0.evil.example", "", 403, "host"},
		{"127.0.0.1", "127.0.0.1.evil.example", "", 403, "host"},
		{"127.0.0.1", "localhost.evil.example", "", 403, "host"},
		{"127.0.0.1", "evil.example@127.0.0.1.evil.example", "", 403, "host"},
		{"127.0.0.1", "127.0.0.1:8080", "http://evil.example", 403, `origin "http://evil.example": not this page`},
		{"127.0.0.1", "127.0.0.1:8080", "https://127.0.0.1:8080", 403, "origin"},
		{"127.0.0.1", "127.0.0.1:8080", "http://127.0.0.1", 403, "origin"},
		{"127.0.0.1", "127.0.0.1:8080", "null", 403, "origin"},
		{"127.0.0.1", evil, "http://" + evil, 403, "host"},
	} {
		called := false
		h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }), tt.served)
		r := httptest.NewRequest("GET", "http://x/", nil)
		r.Host = tt.host
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || called != (tt.status == 200) || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("served %q, host %q, origin %q: status %d, %q, called %t; want %d, %q", tt.served, tt.host, tt.origin, w.Code, w.Body, called, tt.status, tt.want)
		}
	}
}
