// This file finds the leader of a stream, and moves the lead to another server.

package jetstream

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// onlyServerName is the name of the leader if there is a single server.
const onlyServerName = "the only server"

// memberInfo is what a leader reports about another server. The leader leads a stream or the whole cluster.
type memberInfo struct {
	Name               string        `json:"name"`
	ServerID           string        `json:"peer"` // ID of the server (see serverID)
	Current            bool          `json:"current"`
	Offline            bool          `json:"offline"`
	IsJoiningOrLeaving bool          `json:"pending"` // the server is joining or leaving
	SinceLastHeard     time.Duration `json:"active"`  // time since the leader last received a message from the server
	MissingMessages    uint64        `json:"lag"`
}

// isServer reports whether r describes the server with the given name. If r.Name is another name, isServer compares the
// server IDs, because r.Name may be unknown. For example, a server that started after another server was lost knows the
// ID of the lost server, but not its name.
func (r *memberInfo) isServer(server string) bool {
	return r.Name == server || r.ServerID == serverID(server)
}

// serverID returns the ID that NATS derives from a server's name and uses in its lists of servers.
func serverID(name string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(name))
	id := sum[:8]
	for i, b := range id {
		id[i] = digits[int(b)%len(digits)]
	}
	return string(id)
}

// streamAnswer is the servers' answer about a stream.
type streamAnswer struct {
	Created time.Time `json:"created"`
	Cluster *struct {
		Leader   string       `json:"leader"`
		Replicas []memberInfo `json:"replicas"`
	} `json:"cluster"`
	State struct {
		Last     uint64 `json:"last_seq"`
		Messages uint64 `json:"messages"`
		Bytes    uint64 `json:"bytes"`
		Subjects int    `json:"num_subjects"`
	} `json:"state"`
	Error *apiError `json:"error"`

	isRetryUseful bool // the request may succeed later, for example after an election
}

// streamInfo asks for information about a stream. It returns an error if the request fails or if the stream is missing.
// If the server reports another error, the error is in r.Error, and r.isRetryUseful is true, because the request may
// succeed later.
func (c *Cluster) streamInfo(ctx context.Context, stream string) (r streamAnswer, err error) {
	if err := c.requestSender.requestAPI(ctx, "$JS.API.STREAM.INFO."+stream, nil, &r); err != nil {
		return r, err
	}
	if r.Error != nil && r.Error.ErrCode == errorCodeNoStream {
		return r, missingStreamError(stream)
	}
	r.isRetryUseful = r.Error != nil
	return r, nil
}

// findLeader returns the name of the stream's leader and the names of all servers that follow the leader. If the server
// is not part of a cluster, it returns onlyServerName and no followers. If no leader exists, it waits until one is
// elected, and returns an error when ctx is done.
func (c *Cluster) findLeader(ctx context.Context, stream string) (string, []string, error) {
	for {
		r, err := c.streamInfo(ctx, stream)
		switch {
		case err != nil:
			return "", nil, err
		case r.Cluster == nil && !r.isRetryUseful:
			return onlyServerName, nil, nil
		case r.Cluster != nil && r.Cluster.Leader != "":
			var otherServers []string
			for _, o := range r.Cluster.Replicas {
				otherServers = append(otherServers, o.Name)
			}
			return r.Cluster.Leader, otherServers, nil
		}
		if !sleepUnlessCanceled(ctx, 20*time.Millisecond) {
			return "", nil, unavailableError(ctx, errNoServer)
		}
	}
}

// moveLeadAway makes the servers choose a new leader for a stream. It waits until oldLeader no longer leads the stream.
// If this takes too long, the error matches [oxbow.ErrBusy].
func (c *Cluster) moveLeadAway(ctx context.Context, stream, oldLeader string) error {
	return c.moveStreamLeadership(ctx, stream, oldLeader, "")
}

// moveStreamLeadership makes another server the leader of a stream. from is the name of the present leader, and
// preferred is the name of the wanted leader. If preferred is "", the servers choose the new leader.
// moveStreamLeadership waits until from no longer leads the stream. If this takes too long, the error matches
// [oxbow.ErrBusy].
func (c *Cluster) moveStreamLeadership(ctx context.Context, stream, from, preferred string) error {
	var what any
	if preferred != "" {
		what = map[string]any{"placement": map[string]any{"preferred": preferred}}
	}
	var r struct {
		Error *apiError `json:"error"`
	}
	if err := c.requestSender.requestAPI(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+stream, what, &r); err != nil {
		return err
	}
	if r.Error != nil {
		return fmt.Errorf("stream %s: %w", stream, r.Error)
	}
	for deadline := time.Now().Add(2 * time.Second); ; {
		now, _, err := c.findLeader(ctx, stream)
		if err != nil || now != from {
			return err
		}
		if time.Now().After(deadline) || !sleepUnlessCanceled(ctx, noServerRetryPause) {
			return fmt.Errorf("%w: stream %s is still led by %s", oxbow.ErrBusy, stream, from)
		}
	}
}
