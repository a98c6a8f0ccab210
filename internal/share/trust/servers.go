// The record of the servers that a home was pushed to or pulled from: a file of JSON
// lines of the user's own. What a home says of servers may have come with a clone.

package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Server is a server that the user named for a home.
type Server struct {
	Home      string    `json:"home"`
	URL       string    `json:"url"`
	TokenFile string    `json:"token_file,omitempty"` // where the token is read, "" where no file was named
	Since     time.Time `json:"since"`
}

const serversFile = "servers"

// Servers returns the servers of a home, in the order in which they were first named. A
// line that cannot be read counts for nothing.
func (l List) Servers(home string) []Server {
	path := realPath(home)
	return slices.DeleteFunc(parseServers(l.read(serversFile)), func(s Server) bool { return s.Home != path })
}

func parseServers(b []byte) (servers []Server) {
	for line := range bytes.Lines(b) {
		var s Server
		if json.Unmarshal(line, &s) == nil && s.Home != "" && s.URL != "" {
			servers = append(servers, s)
		}
	}
	return servers
}

// AddServer records a server of a home, with the file of its token, unless it is
// recorded so. Without a file, the one that was recorded stays.
func (l List) AddServer(ctx context.Context, home, url, tokenFile string, now time.Time) error {
	s := Server{realPath(home), url, tokenFile, now.UTC()}
	is := func(o Server) bool { return o.Home == s.Home && o.URL == s.URL }
	same := func(o Server) bool { return is(o) && (tokenFile == "" || o.TokenFile == tokenFile) }
	if slices.ContainsFunc(parseServers(l.read(serversFile)), same) {
		return nil
	}
	return l.replace(ctx, serversFile, func(old []byte) ([]byte, error) {
		all := parseServers(old)
		if i := slices.IndexFunc(all, is); i < 0 {
			all = append(all, s)
		} else if tokenFile != "" {
			all[i].TokenFile = tokenFile
		}
		return lines(all)
	})
}

// RemoveServer takes a server of a home off the record, and reports whether it was on it.
func (l List) RemoveServer(ctx context.Context, home, url string) (was bool, err error) {
	path := realPath(home)
	is := func(s Server) bool { return s.Home == path && s.URL == url }
	if !slices.ContainsFunc(parseServers(l.read(serversFile)), is) {
		return false, nil
	}
	return true, l.replace(ctx, serversFile, func(old []byte) ([]byte, error) {
		return lines(slices.DeleteFunc(parseServers(old), is))
	})
}
