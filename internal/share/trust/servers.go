// This file records the servers with which each home is synchronized. The record is outside of all homes, because data
// in a home may come from a clone and cannot be trusted.

package trust

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"
)

// Server is a server with which the user synchronizes a home.
type Server struct {
	Home       string    `json:"home"`
	URL        string    `json:"url"`
	TokenFile  string    `json:"token_file,omitempty"` // file with the token for the server ("" if the user named none)
	RecordTime time.Time `json:"since"`
}

const serversFile = "servers"

// Servers returns the servers of a home, in the order in which the user first named them. Lines that cannot be read
// are ignored.
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

// AddServer records a server of a home, and the file with the token for it. If tokenFile is "", a file that is already
// recorded is kept.
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
		return encodeJSONLines(all)
	})
}

// RemoveServer removes a server of a home from the record. wasRecorded reports whether it was there.
func (l List) RemoveServer(ctx context.Context, home, url string) (wasRecorded bool, err error) {
	path := realPath(home)
	isServer := func(s Server) bool { return s.Home == path && s.URL == url }
	if !slices.ContainsFunc(parseServers(l.readFile(serversFile)), isServer) {
		return false, nil
	}
	return true, l.replaceFile(ctx, serversFile, func(old []byte) ([]byte, error) {
		return encodeJSONLines(slices.DeleteFunc(parseServers(old), isServer))
	})
}
