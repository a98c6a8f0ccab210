// Leaders of streams: which server it is, and how another becomes it.

package jetstream

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// onlyServer is the leader of a stream that no other server holds.
const onlyServer = "the only server"

// replicaInfo is what the leader of a group has of another server of it.
type replicaInfo struct {
	Name    string        `json:"name"`
	Peer    string        `json:"peer"` // serverID of the name
	Current bool          `json:"current"`
	Offline bool          `json:"offline"`
	Pending bool          `json:"pending"` // joins or leaves
	Active  time.Duration `json:"active"`  // since it was heard
	Lag     uint64        `json:"lag"`
}

// is reports whether it is the server of a name. Servers that were started after it was
// lost do not have its name.
func (r *replicaInfo) is(server string) bool { return r.Name == server || r.Peer == serverID(server) }

// serverID returns the ID that servers have in groups.
func serverID(name string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := sha256.Sum256([]byte(name))
	id := sum[:8]
	for i, b := range id {
		id[i] = digits[int(b)%len(digits)]
	}
	return string(id)
}

// streamAnswer is what the servers have of a stream.
type streamAnswer struct {
	Created time.Time `json:"created"`
	Cluster *struct {
		Leader   string        `json:"leader"`
		Replicas []replicaInfo `json:"replicas"`
	} `json:"cluster"`
	State struct {
		Last     uint64 `json:"last_seq"`
		Messages uint64 `json:"messages"`
		Bytes    uint64 `json:"bytes"`
		Subjects int    `json:"num_subjects"`
	} `json:"state"`
	Error *apiError `json:"error"`

	refused bool // the call may succeed later, such as when the servers have elected a leader
}

// streamInfo asks for a stream. One that is missing is an error.
func (c *Cluster) streamInfo(ctx context.Context, stream string) (r streamAnswer, err error) {
	if err := c.link.ask(ctx, "$JS.API.STREAM.INFO."+stream, nil, &r); err != nil {
		return r, err
	}
	if r.Error != nil && r.Error.ErrCode == codeNoStream {
		return r, missing(stream)
	}
	r.refused = r.Error != nil
	return r, nil
}

// leader returns the name of the server that leads a stream, and those of the
// others.
func (c *Cluster) leader(ctx context.Context, stream string) (string, []string, error) {
	for {
		r, err := c.streamInfo(ctx, stream)
		switch {
		case err != nil:
			return "", nil, err
		case r.Cluster == nil && !r.refused:
			return onlyServer, nil, nil
		case r.Cluster != nil && r.Cluster.Leader != "":
			var others []string
			for _, o := range r.Cluster.Replicas {
				others = append(others, o.Name)
			}
			return r.Cluster.Leader, others, nil
		}
		if !wait(ctx, 20*time.Millisecond) {
			return "", nil, unavailable(ctx, errAway)
		}
	}
}

// stepDown makes another server the leader of a stream, and waits until it is.
func (c *Cluster) stepDown(ctx context.Context, stream, leader string) error {
	return c.lead(ctx, stream, leader, "")
}

// lead moves the lead of a stream from a server to the one preferred, "" for any,
// and waits for it.
func (c *Cluster) lead(ctx context.Context, stream, from, preferred string) error {
	var what any
	if preferred != "" {
		what = map[string]any{"placement": map[string]any{"preferred": preferred}}
	}
	var r struct {
		Error *apiError `json:"error"`
	}
	if err := c.link.ask(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+stream, what, &r); err != nil {
		return err
	}
	if r.Error != nil {
		return fmt.Errorf("stream %s: %w", stream, r.Error)
	}
	for deadline := time.Now().Add(2 * time.Second); ; {
		now, _, err := c.leader(ctx, stream)
		if err != nil || now != from {
			return err
		}
		if time.Now().After(deadline) || !wait(ctx, awayPause) {
			return fmt.Errorf("%w: stream %s is still led by %s", oxbow.ErrBusy, stream, from)
		}
	}
}
