// This file compares the streams on each server's disk with the streams that the cluster should
// have. Differences show which server has lost its streams.

package jetstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
)

// serverStreams describes the streams of a server.
type serverStreams struct {
	serverName string
	isLeader   bool            // the server leads the cluster, so that its answer determines which streams exist
	streams    map[string]bool // streams on the server's disk (true if the server replicates the stream)
}

// askServerStreams asks all servers which streams they have on disk. Only streams in the account of the connection nc
// count. system is a connection to the servers' system account. The result is sorted by server name.
func askServerStreams(ctx context.Context, nc, system *nats.Conn) ([]serverStreams, error) {
	m, err := nc.RequestWithContext(ctx, "$SYS.REQ.USER.INFO", nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the account: %w", err)
	}
	var user struct {
		Data struct {
			Account string `json:"account"`
		} `json:"data"`
	}
	if err := json.Unmarshal(m.Data, &user); err != nil {
		return nil, fmt.Errorf("ask for the account: %w", err)
	}
	var all []serverStreams
	what := fmt.Appendf(nil, `{"account":%q,"streams":true}`, user.Data.Account)
	err = askServers(ctx, system, "JSZ", what, func(data []byte) error {
		var a struct {
			Server struct {
				Name string `json:"name"`
			} `json:"server"`
			Data struct {
				Disabled bool `json:"disabled"`
				Meta     struct {
					Leader string `json:"leader"`
				} `json:"meta_cluster"`
				Accounts []struct {
					Name    string `json:"name"`
					Streams []struct {
						Name    string `json:"name"`
						Cluster struct {
							Group string `json:"raft_group"`
						} `json:"cluster"`
					} `json:"stream_detail"`
				} `json:"account_details"`
			} `json:"data"`
		}
		if err := json.Unmarshal(data, &a); err != nil {
			return settingError("Options.System is not a connection to the system account: the answer is %.80q", data)
		}
		if a.Data.Disabled {
			return nil
		}
		h := serverStreams{a.Server.Name, a.Data.Meta.Leader == a.Server.Name, map[string]bool{}}
		for _, acc := range a.Data.Accounts {
			for _, s := range acc.Streams {
				h.streams[s.Name] = s.Cluster.Group != ""
			}
		}
		all = append(all, h)
		return nil
	})
	slices.SortFunc(all, func(a, b serverStreams) int { return strings.Compare(a.serverName, b.serverName) })
	return all, err
}

// serversWithStream returns the names of the servers that have the stream. The result storingServers contains all
// servers with data of the stream on disk. The result replicatingServers contains the servers in storingServers that
// still replicate the stream.
func serversWithStream(all []serverStreams, stream string) (storingServers, replicatingServers []string) {
	for _, h := range all {
		part, has := h.streams[stream]
		if has {
			storingServers = append(storingServers, h.serverName)
		}
		if part {
			replicatingServers = append(replicatingServers, h.serverName)
		}
	}
	return storingServers, replicatingServers
}

// checkNoStreamsExist returns an error if a server has streams of a cluster on disk, even if the servers' leader
// answers that no streams exist. It also returns an error if fewer than o.Replicas servers answer, because the other
// servers may have streams. It is called before a new cluster is created. If o.System is nil, or if o.Replicas is 1, it
// checks nothing.
func checkNoStreamsExist(ctx context.Context, nc *nats.Conn, o *Options) error {
	if o.System == nil || o.Replicas == 1 {
		return nil
	}
	all, err := askServerStreams(ctx, nc, o.System)
	if err != nil {
		return err
	}
	for _, h := range all {
		for s := range h.streams {
			if s == directoryStream || strings.HasPrefix(s, streamPrefix) {
				return fmt.Errorf(
					"%w: the servers answer that there is no directory, and %s has stream %s: they forgot it. "+
						"Nothing is made again; start no server with another directory, and see their status",
					oxbow.ErrCorrupt,
					h.serverName,
					s,
				)
			}
		}
	}
	if len(all) < o.Replicas {
		return &tooFewServersError{len(all), o.Replicas, o.Replicas}
	}
	return nil
}

// findServersWithLostStreams returns a finding for each server that has lost streams. isLeaderAffected is true if the
// leader of the servers has lost streams. This is worse, because such a leader denies that the streams exist. Without a
// system connection (c.options.System), or with a single replica, the result is empty.
func (c *Cluster) findServersWithLostStreams(
	ctx context.Context,
) (findings []Finding, isLeaderAffected bool, err error) {
	if c.options.System == nil || c.replicas == 1 {
		return nil, false, nil
	}
	all, err := askServerStreams(ctx, c.natsConn, c.options.System)
	if err != nil {
		return nil, false, err
	}
	known, err := c.existingStreams(ctx)
	for _, name := range c.streamNames() {
		have, keep := serversWithStream(all, name)
		mend := "stop it, and start it with an empty directory, so that the others send it again"
		if len(keep) <= c.replicas/2 {
			mend = "most do not: stop all, copy their directories, and restore from a backup or from the cache " +
				"directory of a node"
		}
		for _, h := range all {
			switch {
			case err == nil && h.isLeader && !known[name] && len(have) > 0:
				isLeaderAffected = true
				findings = append(
					findings,
					Finding{
						Stream: name,
						Server: h.serverName,
						What: fmt.Sprintf(
							"leads the servers and has forgotten the stream, which %s have; %s",
							strings.Join(have, " "),
							mend,
						),
					},
				)
			case slices.Contains(have, h.serverName) && !slices.Contains(keep, h.serverName):
				findings = append(
					findings,
					Finding{
						Stream: name,
						Server: h.serverName,
						What: "takes no part in keeping the stream: it has forgotten it, or cannot read what it " +
							"had; " + mend,
					},
				)
			}
		}
	}
	return findings, isLeaderAffected, err
}

// streamNames returns the sorted names of the streams that the cluster must have: one for the directory, and one for
// each partition.
func (c *Cluster) streamNames() []string {
	names := []string{directoryStream}
	for p := range c.directory.partitionCount {
		names = append(names, streamName(p))
	}
	slices.Sort(names)
	return names
}

// existingStreams returns the names of the streams that exist according to the leader of the cluster.
func (c *Cluster) existingStreams(ctx context.Context) (map[string]bool, error) {
	known := map[string]bool{}
	for {
		var r struct {
			Total   int       `json:"total"`
			Streams []string  `json:"streams"`
			Error   *apiError `json:"error"`
		}
		err := c.requestSender.requestAPI(ctx, "$JS.API.STREAM.NAMES", map[string]int{"offset": len(known)}, &r)
		if err == nil && r.Error != nil {
			err = r.Error
		}
		if err != nil {
			return nil, fmt.Errorf("ask for the names of streams: %w", err)
		}
		for _, s := range r.Streams {
			known[s] = true
		}
		if len(r.Streams) == 0 || len(known) >= r.Total {
			return known, nil
		}
	}
}
