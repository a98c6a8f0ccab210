// This file reports the current state of servers and streams, and their problems.

package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// Status is the current state of a cluster.
type Status struct {
	Cluster  string         `json:"cluster"`
	Servers  []ServerStatus `json:"servers"`
	Streams  []StreamStatus `json:"streams"`
	Brains   int            `json:"brains"`
	Findings []Finding      `json:"findings"` // problems (empty for a healthy cluster)
}

// ServerStatus is the state of a server.
type ServerStatus struct {
	Name    string `json:"name"`
	Up      bool   `json:"up"` // the server answers, or is connected to a server that answers
	Version string `json:"version,omitempty"`
	// the server leads the cluster, and decides which servers store a stream
	Leads        bool          `json:"leads,omitempty"`
	SyncAlways   bool          `json:"sync_always,omitempty"`
	SyncInterval time.Duration `json:"sync_interval,omitempty"` // time between syncs (only if SyncAlways is not set)
}

// StreamStatus is the state of one stream. A stream contains either a part of the brains (memories in the cluster) or
// the directory, which lists all brains.
type StreamStatus struct {
	Name     string          `json:"name"`
	Leader   string          `json:"leader"` // "" for a stream without a leader
	Replicas []ReplicaStatus `json:"replicas"`
	Brains   int             `json:"brains"`
	Messages uint64          `json:"messages"`
	Bytes    uint64          `json:"bytes"`
}

// ReplicaStatus is the state of a stream on a server that does not lead the stream.
type ReplicaStatus struct {
	Server  string `json:"server"`
	Current bool   `json:"current"`
	Offline bool   `json:"offline,omitempty"`
	Joining bool   `json:"joining,omitempty"` // the server is joining or leaving the stream
	Lag     uint64 `json:"lag,omitempty"`     // number of messages of the stream that the server lacks
	// an audit found differing data on this server, so the server must not become the leader
	Fenced bool `json:"fenced,omitempty"`

	serverID string
}

// Status asks all servers, and returns the answers that arrive within Options.ReadWait. Servers and streams are sorted
// by name. Findings include all servers and streams that could not be read. Status returns an error only if the servers
// could not be asked, or if ctx is done.
func (c *Cluster) Status(ctx context.Context) (Status, error) {
	s := Status{Cluster: c.directory.clusterID}
	if err := c.addServerStatus(ctx, &s); err != nil {
		return s, err
	}
	reading, cancel := context.WithTimeout(ctx, c.options.ReadWait)
	defer cancel()
	fs, _, err := c.findServersWithLostStreams(reading)
	if err != nil {
		fs = append(fs, Finding{What: err.Error()})
	}
	s.Findings = append(s.Findings, fs...)
	brains := map[string]int{}
	err = c.readLeaderFences(reading)
	if err == nil {
		err = c.directory.eachBrain(reading, func(b brainDirectoryEntry) error {
			brains[b.streamName()]++
			s.Brains++
			return nil
		})
	}
	if err != nil {
		s.Findings = append(s.Findings, Finding{Stream: directoryStream, What: err.Error()})
	}
	names := c.streamNames()
	s.Streams = make([]StreamStatus, len(names))
	findings := make([][]Finding, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			s.Streams[i], findings[i] = c.streamStatus(ctx, name)
			s.Streams[i].Brains = brains[name]
		})
	}
	wg.Wait()
	s.Findings = append(s.Findings, slices.Concat(findings...)...)
	return s, ctx.Err()
}

// addServerStatus adds the states of the servers, and findings about them, to s. If a server does not answer, its state
// comes from the answers of other servers. If the system connection (c.options.System) is missing, addServerStatus does
// nothing.
func (c *Cluster) addServerStatus(ctx context.Context, s *Status) error {
	if c.options.System == nil {
		return nil
	}
	answers, err := serverSettings(ctx, c.options.System)
	if err != nil {
		return err
	}
	near := map[string]bool{}
	leads := ""
	for _, a := range answers {
		near[a.Server.Name] = true
		st := ServerStatus{Name: a.Server.Name, Up: true, Version: a.Data.Version}
		if j := a.Data.JetStream.Config; j != nil {
			st.SyncAlways, st.SyncInterval = j.SyncAlways, j.SyncInterval
		}
		if st.SyncAlways {
			st.SyncInterval = 0
		}
		if m := a.Data.JetStream.Meta; m != nil && m.Leader == st.Name {
			leads, st.Leads = st.Name, true
		}
		if err := a.checkSettings(); err != nil {
			s.Findings = append(s.Findings, Finding{Server: st.Name, What: err.Error()})
		}
		s.Servers = append(s.Servers, st)
	}
	for _, m := range clusterMembers(answers) {
		if near[m.Name] {
			continue
		}
		s.Servers = append(s.Servers, ServerStatus{Name: m.Name, Up: !m.Offline})
		s.Findings = append(
			s.Findings,
			Finding{Server: m.Name, What: "does not answer; start it, or replace it if its data is lost"},
		)
	}
	slices.SortFunc(s.Servers, func(a, b ServerStatus) int { return cmp.Compare(a.Name, b.Name) })
	if c.replicas > 1 && leads == "" {
		s.Findings = append(
			s.Findings,
			Finding{What: "the servers have no leader; see whether most of them run and reach each other"},
		)
	}
	return nil
}

// clusterMembers returns the servers of the cluster, according to the cluster's leader. If the leader is unknown, it
// combines the answers of all servers.
func clusterMembers(answers []serverSettingsAnswer) (members []memberInfo) {
	names := map[string]string{} // names of servers by ID
	for _, a := range answers {
		names[serverID(a.Server.Name)] = a.Server.Name
	}
	add := func(r memberInfo) {
		if n := names[r.ServerID]; n != "" {
			r.Name = n
		}
		if !slices.ContainsFunc(members, func(o memberInfo) bool { return o.ServerID == r.ServerID }) {
			members = append(members, r)
		}
	}
	for _, a := range answers {
		m := a.Data.JetStream.Meta
		if m == nil {
			continue
		}
		leads := m.Leader == a.Server.Name
		if leads {
			members = nil
			add(memberInfo{Name: m.Leader, ServerID: serverID(m.Leader)})
		}
		for _, r := range m.Replicas {
			add(r)
		}
		if leads {
			break
		}
	}
	slices.SortFunc(members, func(a, b memberInfo) int { return cmp.Compare(a.Name, b.Name) })
	return members
}

// streamStatus asks the servers for the state of a stream. It also returns findings about faults of the stream and its
// servers.
func (c *Cluster) streamStatus(ctx context.Context, name string) (s StreamStatus, findings []Finding) {
	s.Name = name
	found := func(server, what string, args ...any) {
		findings = append(findings, Finding{Stream: name, Server: server, What: fmt.Sprintf(what, args...)})
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.ReadWait)
	defer cancel()
	r, err := c.streamInfo(ctx, name)
	switch {
	case errors.Is(err, oxbow.ErrCorrupt):
		found("", "%v", err)
		return s, findings
	case err != nil:
		found("", "has no leader: %v", err)
		return s, findings
	}
	s.Messages, s.Bytes = r.State.Messages, r.State.Bytes
	if r.Cluster == nil {
		s.Leader = onlyServerName
		return s, findings
	}
	s.Leader = r.Cluster.Leader
	if s.Leader == "" {
		found("", "has no leader; see whether most of its servers run and reach each other")
	}
	if c.isFencedFromLeading(name, s.Leader) {
		found(s.Leader, "leads it although an audit found its data to differ; replace the server")
	}
	for _, o := range r.Cluster.Replicas {
		f := c.isFencedFromLeading(name, o.Name)
		s.Replicas = append(
			s.Replicas,
			ReplicaStatus{o.Name, o.Current, o.Offline, o.IsJoiningOrLeaving, o.MissingMessages, f, o.ServerID},
		)
		switch {
		case f:
			found(o.Name, "an audit found its data to differ, so that it does not lead; replace the server")
		case o.Offline:
			found(o.Name, "is offline")
		case !o.Current || (o.MissingMessages > 0 && o.SinceLastHeard > maxServerSilence):
			found(
				o.Name,
				"is behind, by %d messages as the leader counts; if it stays so, its copy does not catch up: replace "+
					"the server",
				o.MissingMessages,
			)
		}
	}
	if n := len(r.Cluster.Replicas) + 1; n != c.replicas {
		found("", "is held by %d servers, and %d must hold it", n, c.replicas)
	}
	return s, findings
}

// isFencedFromLeading reports whether the server must not lead the stream. This is the case if an audit has found that
// the server's data differs from the data on the other servers.
func (c *Cluster) isFencedFromLeading(stream, server string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leaderFences[leaderFence{stream, server}]
}
