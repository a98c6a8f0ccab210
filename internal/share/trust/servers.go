// This file records the servers with which a home was synchronized, in a file outside of the home.
// Data in the home about servers is not trusted, because it may come from a clone.

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
	TokenFile string    `json:"token_file,omitempty"` // file that contains the token ("" if the user named no file)
	Since     time.Time `json:"since"`
}

const serversFile = "servers"

// Servers returns the servers of a home, in the order in which they were first named. Lines that
// cannot be read are ignored.
func (l List) Servers(home string) []Server {
	path := realPath(home)
	return slices.DeleteFunc(parseServers(l.readFile(serversFile)), func(s Server) bool { return s.Home != path })
}

func parseServers(b []byte) (servers []Server) {
	for line := range bytes.Lines(b) {
		var s Server
		if json.Unmarshal(line, &s) != nil {
			continue
		}
		if s.Home != "" && s.URL != "" {
			servers = append(servers, s)
		}
	}
	return servers
}

// AddServer records a home's server and the file with its token. If tokenFile is "", the recorded
// file is kept.
func (l List) AddServer(ctx context.Context, home, url, tokenFile string, now time.Time) error {
	s := Server{realPath(home), url, tokenFile, now.UTC()}
	isServer := func(o Server) bool { return o.Home == s.Home && o.URL == s.URL }
	isRecorded := func(o Server) bool { return isServer(o) && (tokenFile == "" || o.TokenFile == tokenFile) }
	if slices.ContainsFunc(parseServers(l.readFile(serversFile)), isRecorded) {
		return nil
	}
	return l.replaceFile(ctx, serversFile, func(old []byte) ([]byte, error) {
		all := parseServers(old)
		if i := slices.IndexFunc(all, isServer); i < 0 {
			all = append(all, s)
		} else if tokenFile != "" {
			all[i].TokenFile = tokenFile
		}
		return encodeLines(all)
	})
}

// RemoveServer removes a home's server from the record. It reports whether the server was
// recorded.
func (l List) RemoveServer(ctx context.Context, home, url string) (wasRecorded bool, err error) {
	path := realPath(home)
	isServer := func(s Server) bool { return s.Home == path && s.URL == url }
	if !slices.ContainsFunc(parseServers(l.readFile(serversFile)), isServer) {
		return false, nil
	}
	return true, l.replaceFile(ctx, serversFile, func(old []byte) ([]byte, error) {
		return encodeLines(slices.DeleteFunc(parseServers(old), isServer))
	})
}
