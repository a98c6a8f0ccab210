// This file checks the flags of a server that other machines can reach, and determines the server's URL.

package cli

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// publicFlags contains the flags that allow other machines to reach a server. With the zero value, no other machine
// can.
type publicFlags struct {
	listenAll         bool
	certFile, keyFile string // certificate and key for TLS
	publicURL         string // URL at which clients on other machines reach the server
}

// serverAddress is the address at which a server listens, and the URL at which clients reach it.
type serverAddress struct {
	addr              string // address at which the server listens
	publicURL         string // URL at which clients reach the server, without a path ("" if clients use addr)
	publicHost        string // host name in publicURL, without a port
	certFile, keyFile string // certificate and key for TLS ("" without TLS)
}

// resolveAddress returns the address for a server that listens at addr. It returns an error if the flags do not allow
// the server to listen there.
func (p publicFlags) resolveAddress(addr string) (server serverAddress, err error) {
	u, err := p.parsePublicURL()
	if err != nil {
		return server, err
	}
	if u != nil {
		server.publicURL, server.publicHost = u.Scheme+"://"+u.Host, u.Hostname()
	}
	host, port, err := splitHostPort(addr)
	if err != nil {
		return server, err
	}
	server.addr = net.JoinHostPort(host, port)
	server.certFile = p.certFile
	server.keyFile = p.keyFile
	return server, p.checkAddress(u, host, port)
}

// checkAddress returns an error if a server with these flags must not listen at the host and the port. A server may
// always listen at a host that only this machine can reach. Any other host needs the flag --listen-all, and a public
// URL that uses https. The argument site is the public URL, or nil if none is given. checkAddress also returns an error
// if the certificate is given without its key, or the key without the certificate.
func (p publicFlags) checkAddress(site *url.URL, host, port string) error {
	switch {
	case (p.certFile == "") != (p.keyFile == ""):
		return usageErrorf("give both: --tls-cert FILE --tls-key FILE", "of --tls-cert and --tls-key one is missing")
	case isLoopbackHost(host):
		return nil
	case !p.listenAll:
		return usageErrorf("listen on 127.0.0.1:"+port+", and let other machines in by a tunnel (ssh -L "+port+
			":127.0.0.1:"+port+" HOST) or by a proxy that speaks TLS (--public-url https://NAME); or consent to it: "+
			"oxbow serve --listen-all --tls-cert FILE --tls-key FILE --public-url https://NAME:"+port,
			"--http %s would let other machines in", net.JoinHostPort(host, port))
	case site == nil:
		return usageErrorf("say how clients call this server, such as --public-url https://memory.example.org:"+
			port, "--listen-all needs --public-url: a server is called by no other name")
	case site.Scheme != "https":
		return usageErrorf(
			"give a URL of https, with --tls-cert and --tls-key here, or with a proxy that speaks TLS before this "+
				"server",
			"tokens would travel in plain text to %s",
			p.publicURL,
		)
	}
	return nil
}

// parsePublicURL returns the public URL, or nil if none is given.
func (p publicFlags) parsePublicURL() (*url.URL, error) {
	if p.publicURL == "" {
		return nil, nil
	}
	u, err := url.Parse(p.publicURL)
	if err != nil || !isServerRootURL(u) {
		return nil, usageErrorf(
			"write https://NAME, or https://NAME:PORT; pages and API are at its root",
			"--public-url %q is not the URL of a server",
			p.publicURL,
		)
	}
	if u.Scheme == "http" && !isLoopbackHost(u.Hostname()) {
		return nil, usageErrorf(
			"give a URL of https, and a proxy that speaks TLS before this server",
			"tokens would travel in plain text to %s",
			p.publicURL,
		)
	}
	// Remove the default port, because browsers leave it out of the origin and the host that they send.
	if u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	return u, nil
}

// isServerRootURL reports whether a URL names only a server. It must use http or https and have a host, but no user,
// path, query or fragment.
func isServerRootURL(u *url.URL) bool {
	if u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	hasHostOnly := u.Hostname() != "" && u.User == nil && strings.Trim(u.Path, "/") == ""
	return hasHostOnly && u.RawQuery == "" && u.Fragment == ""
}

// splitHostPort splits an address into host and port. A missing host becomes 127.0.0.1.
func splitHostPort(addr string) (host, port string, err error) {
	if _, err := strconv.ParseUint(addr, 10, 16); err == nil {
		addr = ":" + addr
	}
	host, port, err = net.SplitHostPort(addr)
	if err != nil {
		return "", "", usageErrorf("write HOST:PORT, such as 127.0.0.1:8333", "--http %q is not an address", addr)
	}
	return cmp.Or(host, "127.0.0.1"), port, nil
}

// isLoopbackHost reports whether only this machine can reach the host.
func isLoopbackHost(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}
