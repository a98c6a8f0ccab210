// This file records which servers the user has named for a home, with the file that contains each server's token.

package sharing

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/share/reconcile"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// ServersIn is the argument of ListServers. It is empty.
type ServersIn struct{}

// ServersOut lists the servers that are recorded for a home.
type ServersOut struct {
	Home    string         `json:"home"`
	Servers []trust.Server `json:"servers"`
}

// ListServers returns the servers with which the user synchronizes the home by the commands push and pull.
func ListServers(_ context.Context, w *verb.Workspace, _ ServersIn) (ServersOut, error) {
	p, err := w.FindPlace()
	if err != nil {
		return ServersOut{}, err
	}
	out := ServersOut{Home: p.Home, Servers: []trust.Server{}}
	out.Servers = append(out.Servers, w.Host.TrustList.Servers(p.Home)...)
	return out, nil
}

// ForgetServerIn is the argument of ForgetServer.
type ForgetServerIn struct {
	Server string `json:"server"            flag:"-" usage:"the URL of the server"`
	DryRun bool   `json:"dry_run,omitempty"          usage:"say what would be forgotten and change nothing"`
}

// ForgetServerOut is the result of ForgetServer: the server whose record was removed.
type ForgetServerOut struct {
	DryRun bool         `json:"dry_run,omitempty"`
	Server trust.Server `json:"server"`
}

// ForgetServer removes the record of a server, so that push and pull no longer use it by default. The state of the
// last synchronization stays in the home, so that a later call that names the server continues from there.
func ForgetServer(ctx context.Context, w *verb.Workspace, in ForgetServerIn) (out ForgetServerOut, err error) {
	err = verb.RequirePerson(w.WithSource(ctx), "says which servers are remembered", "oxbow remote forget URL")
	if err != nil {
		return out, err
	}
	p, err := w.FindPlace()
	if err != nil {
		return out, err
	}
	known := w.Host.TrustList.Servers(p.Home)
	i := slices.IndexFunc(known, func(s trust.Server) bool { return s.URL == strings.TrimRight(in.Server, "/") })
	if i < 0 {
		return out, verb.Advise(
			verb.InvalidValue("server", text.TruncateWithEllipsis(in.Server, 200), "is not remembered for "+
				p.Home),
			"oxbow remote lists those that are",
		)
	}
	out = (ForgetServerOut{in.DryRun, known[i]})
	if in.DryRun {
		return out, nil
	}
	_, err = w.Host.TrustList.RemoveServer(ctx, p.Home, known[i].URL)
	return out, err
}

// findServer returns the server with the URL serverName. If the server is recorded for the home, the result contains
// the recorded data. Otherwise it contains only the URL. If serverName is empty, findServer returns the only server
// that is recorded for the home. It then returns an error if no server or several servers are recorded.
func findServer(w *verb.Workspace, dir vfs.FS, p verb.Place, verbName, serverName string) (trust.Server, error) {
	known := w.Host.TrustList.Servers(p.Home)
	if s := (trust.Server{URL: strings.TrimRight(serverName, "/")}); s.URL != "" {
		if i := slices.IndexFunc(known, func(k trust.Server) bool { return k.URL == s.URL }); i >= 0 {
			s = known[i]
		}
		return s, checkServerAddress(s.URL)
	}
	if len(known) == 1 {
		return known[0], checkServerAddress(known[0].URL)
	}
	var urls []string
	for _, s := range known {
		urls = append(urls, s.URL)
	}
	if len(known) > 0 {
		return trust.Server{}, verb.Advise(verb.Invalidf("several servers are remembered"), "name one: "+
			strings.Join(urls, ", "))
	}
	met, err := reconcile.ReadStates(dir, filepath.Base(p.StorePath))
	if err != nil {
		return trust.Server{}, err
	}
	for _, s := range met {
		if checkServerAddress(s.URL) == nil {
			urls = append(urls, text.TruncateWithEllipsis(s.URL, 200))
		}
	}
	hint := "oxbow " + verbName + " https://HOST --token-file FILE names one, which is remembered then"
	if len(urls) > 0 {
		hint = "its files name " + strings.Join(urls, ", ") +
			", and may have come with a clone; if it is your server, name it: oxbow " + verbName +
			" URL --token-file FILE"
	}
	return trust.Server{}, verb.Advise(verb.Invalidf("no server is remembered for this home"), hint)
}

// checkServerAddress returns an error if the address is not the http or https URL of a server. It also returns an error
// if the token would be sent to another machine without encryption.
func checkServerAddress(address string) error {
	u, err := url.Parse(address)
	isServer := err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
	if !isServer {
		return verb.Advise(
			verb.InvalidValue("server", text.TruncateWithEllipsis(address, 200), "is not the URL of a server"),
			"write https://HOST, or http://127.0.0.1:8333 for one of this machine",
		)
	}
	isLoopback := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if u.Scheme == "http" && !isLoopback {
		return verb.Advise(
			verb.InvalidValue("server", text.TruncateWithEllipsis(address, 200), "would get the token in plain text"),
			"use https, or a tunnel: ssh -L 8333:127.0.0.1:8333 HOST, then http://127.0.0.1:8333",
		)
	}
	return nil
}

// maxTokenBytes is the maximum size, in bytes, of a file with a token.
const maxTokenBytes = 4 << 10

// serverToken returns the token for the server s. The token comes from the first of these sources that exists:
//
//   - the file whose path is the argument file, unless file is "". A relative path is relative to w.Dir.
//   - the environment variable OXBOW_TOKEN
//   - the file whose path is s.TokenFile
//
// If serverToken reads a file, it stores the file's path in s.TokenFile. It returns an error if none of these sources
// exists, or if the file does not contain exactly one word.
func serverToken(w *verb.Workspace, s *trust.Server, file string) (string, error) {
	if file != "" && !filepath.IsAbs(file) {
		file = filepath.Join(w.Dir, file)
	}
	if token := w.Host.Getenv("OXBOW_TOKEN"); file == "" && token != "" {
		return token, nil
	}
	file = cmp.Or(file, s.TokenFile)
	if file == "" {
		return "", verb.Advise(
			verb.Invalidf("the token for the server is missing"),
			"give --token-file FILE, or set OXBOW_TOKEN; the file of tokens of oxbow serve has it",
		)
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxTokenBytes+1))
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	isWord := token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f })
	if len(b) > maxTokenBytes || !isWord {
		return "", verb.Advise(
			verb.Invalidf("%s does not hold one word, the token", file),
			"its only line is the secret; the other words of a line of oxbow serve's file of tokens do not belong "+
				"there",
		)
	}
	s.TokenFile = file
	return token, nil
}
