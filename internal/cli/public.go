// This file checks the flags of servers that other machines can reach, and determines their URL.

package cli

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// public contains the flags that let other machines reach a server. The zero value lets no other
// machine in.
type public struct {
	listenAll bool
	cert, key string // TLS files
	url       string // URL by which clients call the server
}

// site is the address at which a server listens, and the URL by which clients call it.
type site struct {
	addr      string // address to listen at
	public    string // URL that clients call, without a path ("" if it follows from addr)
	host      string // host name in public, without a port
	cert, key string // TLS files, or ""
}

// admit returns the site of a server that listens at addr, or an error if the flags do not allow
// it.
func (p public) admit(addr string) (at site, err error) {
	u, err := p.parsedURL()
	if err != nil {
		return at, err
	}
	if u != nil {
		at.public, at.host = u.Scheme+"://"+u.Host, u.Hostname()
	}
	host, port, err := hostPort(addr)
	if err != nil {
		return at, err
	}
	at.addr = net.JoinHostPort(host, port)
	at.cert = p.cert
	at.key = p.key
	return at, p.check(u, host, port)
}

// check returns an error if the server must not listen at the address.
func (p public) check(site *url.URL, host, port string) error {
	switch {
	case (p.cert == "") != (p.key == ""):
		return misusef("give both: --tls-cert FILE --tls-key FILE", "of --tls-cert and --tls-key one is missing")
	case isThisMachine(host):
		return nil
	case !p.listenAll:
		return misusef("listen on 127.0.0.1:"+port+", and let other machines in by a tunnel (ssh -L "+port+
			":127.0.0.1:"+port+" HOST) or by a proxy that speaks TLS (--public-url https://NAME); or consent to it: "+
			"oxbow serve --listen-all --tls-cert FILE --tls-key FILE --public-url https://NAME:"+port,
			"--http %s would let other machines in", net.JoinHostPort(host, port))
	case site == nil:
		return misusef("say how clients call this server, such as --public-url https://memory.example.org:"+
			port, "--listen-all needs --public-url: a server is called by no other name")
	case site.Scheme != "https":
		return misusef(
			"give a URL of https, with --tls-cert and --tls-key here, or with a proxy that speaks TLS before this "+
				"server",
			"tokens would travel in plain text to %s",
			p.url,
		)
	}
	return nil
}

// parsedURL returns the public URL, or nil if none is given.
func (p public) parsedURL() (*url.URL, error) {
	if p.url == "" {
		return nil, nil
	}
	u, err := url.Parse(p.url)
	if err != nil || !isServerRoot(u) {
		return nil, misusef(
			"write https://NAME, or https://NAME:PORT; pages and API are at its root",
			"--public-url %q is not the URL of a server",
			p.url,
		)
	}
	if u.Scheme == "http" && !isThisMachine(u.Hostname()) {
		return nil, misusef(
			"give a URL of https, and a proxy that speaks TLS before this server",
			"tokens would travel in plain text to %s",
			p.url,
		)
	}
	if u.Scheme == "https" { // browsers leave the default port out
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	return u, nil
}

// isServerRoot reports whether a URL is http or https, and has a host, but no user, path, query or fragment.
func isServerRoot(u *url.URL) bool {
	if u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	hasHostOnly := u.Hostname() != "" && u.User == nil && strings.Trim(u.Path, "/") == ""
	return hasHostOnly && u.RawQuery == "" && u.Fragment == ""
}

// hostPort splits an address into host and port. If the host is missing, it is 127.0.0.1.
func hostPort(addr string) (host, port string, err error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = ":" + addr
	}
	host, port, err = net.SplitHostPort(addr)
	if err != nil {
		return "", "", misusef("write HOST:PORT, such as 127.0.0.1:8333", "--http %q is not an address", addr)
	}
	return cmp.Or(host, "127.0.0.1"), port, nil
}

// isThisMachine reports whether only this machine can reach the host.
func isThisMachine(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
