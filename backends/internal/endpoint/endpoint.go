// Package endpoint checks the addresses of servers that get a token and memory.
package endpoint

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"memdesk/model"
)

// Check reads the address under a key of the configuration: https, or plain http to this machine only,
// without user, query and fragment. Its errors are InvalidInput and do not repeat the address.
func Check(key, text string) (*url.URL, error) {
	bad := func(why string) (*url.URL, error) {
		return nil, model.Errorf(model.InvalidInput, "open", "%s %s", key, why)
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case text == "":
		return bad("is missing: https://host:port of the server")
	case err != nil || u.Host == "":
		return bad("is no URL: write https://host:port")
	case u.User != nil:
		return bad("must not hold a user or password: give the token by the key of the store that ends in _env or _file")
	case u.RawQuery != "" || u.Fragment != "":
		return bad("must not hold a query or fragment")
	case u.Scheme == "https":
		return u, nil
	case u.Scheme != "http":
		return bad("must be http or https")
	case !Local(u.Hostname()):
		return bad("is plain http to another machine: the token and the memory would travel in clear; use https, or a tunnel to this machine")
	}
	return u, nil
}

// Local reports whether a host is this machine.
func Local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// NoRedirect is a client's CheckRedirect: a redirect would carry the token and the
// content to somebody else.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
