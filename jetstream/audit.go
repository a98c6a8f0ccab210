// This file implements the audit. The audit compares the copies of each brain (a memory in a stream) that the servers
// have. If a server's copy differs from the copies on all other servers, the server must not lead the stream any more.

package jetstream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// AuditReport is the result of an audit.
type AuditReport struct {
	Streams  int       `json:"streams"`
	Brains   int       `json:"brains"`
	Messages int       `json:"messages"`
	Findings []Finding `json:"findings"`
}

// Finding is a problem with a server, stream or brain.
type Finding struct {
	// name of the stream ("" if the problem concerns a server and not a stream)
	Stream string `json:"stream,omitempty"`
	Server string `json:"server,omitempty"` // "" if the problem concerns all servers
	// name of the brain (a memory in the stream), or "" if the problem concerns the whole stream
	Brain string `json:"brain,omitempty"`
	What  string `json:"what"`
	// The server is fenced: it must not lead the stream any more, because its data differ.
	Fenced bool `json:"fenced,omitempty"`
}

// leaderFence records that a server must not become the leader of a stream, because the server's data differs from the
// data on all other servers.
type leaderFence struct{ stream, server string }

// directoryKey returns the key under which the cluster's directory stores this leaderFence.
func (f leaderFence) directoryKey() string { return "fence." + f.stream + "." + f.server }

// brainCopyOnServer is a server's copy of a brain, which is a memory that several servers store. The audit compares the
// copies of all servers. The fields contain what the audit read from this copy.
type brainCopyOnServer struct {
	serverName          string
	seq, envelopeNumber uint64
	lastEnvelopeHash    chainHash
	messageCount        int
	readError           error
	// the brain was compacted while the audit read it from other servers, so their copies cannot be compared directly
	isCompactedDuringAudit bool
}

// Audit compares the servers' copies of all brains. It makes each server the leader of each stream
// in turn, and reads all messages and segments from that server. A server that differs from most
// others is fenced. This means that this process, and every process that connects later, moves the
// lead away from the server before reading from the stream. The next audit that finds no problem
// with the server removes the fence. Audit returns an error only if it could not complete the
// comparison.
func (c *Cluster) Audit(ctx context.Context) (AuditReport, error) {
	rep, _, err := c.auditAndFindLongestCopies(ctx)
	return rep, err
}

// auditAndFindLongestCopies compares the copies of each brain on all servers, as Audit describes. It also returns the
// copy with the most messages for each brain, by the name of the brain.
func (c *Cluster) auditAndFindLongestCopies(
	ctx context.Context,
) (report AuditReport, longestCopyByBrain map[string]brainCopyOnServer, err error) {
	if err := c.readLeaderFences(ctx); err != nil && !errors.Is(err, oxbow.ErrCorrupt) {
		return report, nil, err
	}
	fs, unread, err := c.findServersWithLostStreams(ctx)
	// Try again, because a server that has just started may not know its streams yet.
	for try := 0; err == nil && len(fs) > 0 && !unread && try < 5; try++ {
		sleepUnlessCanceled(ctx, 5*noServerRetryPause)
		fs, unread, err = c.findServersWithLostStreams(ctx)
	}
	report.Findings = fs
	if err != nil || unread {
		// Stop the audit. If unread is true, the leading server has itself lost streams. It denies that these streams
		// exist, so the audit cannot tell which other servers have lost their copies.
		return report, nil, err
	}
	byStream := map[string][]brainDirectoryEntry{}
	err = c.directory.eachBrain(ctx, func(b brainDirectoryEntry) error {
		byStream[b.streamName()] = append(byStream[b.streamName()], b)
		return nil
	})
	if err != nil {
		return report, nil, err
	}
	longestCopyByBrain = map[string]brainCopyOnServer{}
	for p := range c.directory.partitionCount {
		stream := streamName(p)
		report.Streams++
		report.Brains += len(byStream[stream])
		if err := c.auditStream(ctx, stream, byStream[stream], &report, longestCopyByBrain); err != nil {
			return report, longestCopyByBrain, err
		}
	}
	return report, longestCopyByBrain, nil
}

// auditStream compares the copies of the brains (memories) on the servers that store the stream. It adds the problems
// that it finds, and the number of messages, to the report. The map longestCopies contains the copy with the most
// envelopes for each brain. auditStream replaces this copy if a server has a copy with at least as many envelopes.
//
// auditStream also excludes the servers with problems from leading the stream, as updateLeaderFences describes. It
// excludes no server if every server that it has read has a problem.
func (c *Cluster) auditStream(
	ctx context.Context,
	stream string,
	brains []brainDirectoryEntry,
	report *AuditReport,
	longestCopies map[string]brainCopyOnServer,
) error {
	leader, otherServers, err := c.findLeader(ctx, stream)
	if errors.Is(err, oxbow.ErrCorrupt) {
		report.Findings = append(report.Findings, Finding{Stream: stream, What: err.Error()})
		return nil
	}
	if err == nil {
		err = c.reportRecreatedStream(ctx, stream, report)
	}
	if err != nil {
		return err
	}
	servers, err := c.reachableServers(ctx, stream, append([]string{leader}, otherServers...), report)
	if err != nil {
		return err
	}
	views := map[string][]brainCopyOnServer{} // the content of each server for each brain, by the brain's name
	bad := map[string]string{}
	var read []string
	for _, s := range servers {
		if i := slices.IndexFunc(report.Findings, func(f Finding) bool {
			return f.Stream == stream && f.Server == s
		}); i >= 0 {
			// The audit has already found a problem with this server, so do not read the brains from it.
			bad[s], report.Findings[i].Fenced = report.Findings[i].What, true
			continue
		}
		reason, fenced := c.readBrainsFromServer(ctx, stream, s, brains, views)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if reason == "" {
			read = append(read, s)
			continue
		}
		report.Findings = append(
			report.Findings,
			Finding{Stream: stream, Server: s, What: reason, Fenced: fenced},
		)
		if fenced {
			bad[s] = reason
		}
	}
	for _, b := range brains {
		for _, v := range views[b.Name] {
			report.Messages += v.messageCount
			if v.readError == nil && v.envelopeNumber >= longestCopies[b.Name].envelopeNumber {
				longestCopies[b.Name] = v
			}
		}
		for _, f := range findDifferingCopies(b, views[b.Name]) {
			f.Stream, f.Fenced = stream, len(servers) > 1
			bad[f.Server] = f.Brain + ": " + f.What
			report.Findings = append(report.Findings, f)
		}
	}
	if len(bad) > 0 && !slices.ContainsFunc(read, func(s string) bool { return bad[s] == "" }) {
		for i := range report.Findings {
			report.Findings[i].Fenced = report.Findings[i].Fenced &&
				report.Findings[i].Stream != stream
		}
		// Do not exclude any server from leading the stream, because every server that the audit has read has a
		// problem. Otherwise no server could lead the stream. Readers still notice damage in a brain, because each
		// message contains the hash of the previous message.
		return nil
	}
	return c.updateLeaderFences(ctx, stream, read, bad)
}

// readBrainsFromServer makes a server the leader of a stream, reads all brains in the stream from this server, and adds
// the copies to copiesByBrain. failureReason is "" if this succeeds. Otherwise it says why the server was not read, and
// nothing is added. lacksMessages is true if the reason is that the server lacks messages of the stream.
func (c *Cluster) readBrainsFromServer(
	ctx context.Context,
	stream, server string,
	brains []brainDirectoryEntry,
	copiesByBrain map[string][]brainCopyOnServer,
) (failureReason string, lacksMessages bool) {
	if err := c.makeLeader(ctx, stream, server); err != nil {
		failureReason = fmt.Sprintf("cannot be made the leader, so that it was not read: %v", err)
		if r, err := c.streamInfo(ctx, stream); err == nil && r.Cluster != nil {
			for _, o := range r.Cluster.Replicas {
				isBehind := !o.Current && o.MissingMessages > 0
				if isBehind && o.Name == server {
					return fmt.Sprintf(
						"is behind, by %d messages as the leader counts, and does not catch up, so that it was not "+
							"read",
						o.MissingMessages,
					), true
				}
			}
		}
		return failureReason, false
	}
	got := map[string]brainCopyOnServer{}
	for _, b := range brains {
		v := c.readBrainCopy(ctx, b, copiesByBrain[b.Name])
		if errors.Is(v.readError, oxbow.ErrBusy) || ctx.Err() != nil {
			return fmt.Sprintf("could not be read: %v", v.readError), false
		}
		v.serverName = server
		got[b.Name] = v
	}
	// Check that the server is still the leader of the stream. Otherwise the copies of the brains may have been read
	// from another server.
	if current, _, err := c.findLeader(ctx, stream); err != nil || current != server {
		return "lost the lead while it was read, so that it was not compared", false
	}
	for name, v := range got {
		copiesByBrain[name] = append(copiesByBrain[name], v)
	}
	return "", false
}

// reachableServers returns the servers in the list servers from which the audit can read the stream. It leaves out each
// server that is offline, and adds a finding about this server to the report. If c.options.System is set (a connection
// to the system account of NATS), reachableServers asks all servers for a reply. A server that does not reply and does
// not have the newest messages then also counts as offline.
func (c *Cluster) reachableServers(
	ctx context.Context,
	stream string,
	servers []string,
	report *AuditReport,
) ([]string,
	error) {
	r, err := c.streamInfo(ctx, stream)
	if err != nil || r.Cluster == nil {
		return servers, err
	}
	up := map[string]bool{}
	if c.options.System != nil {
		answers, err := serverSettings(ctx, c.options.System)
		if err != nil {
			return nil, err
		}
		for _, a := range answers {
			up[a.Server.Name] = true
		}
	}
	for _, o := range r.Cluster.Replicas {
		isSilent := c.options.System != nil && !o.Current && !up[o.Name]
		if o.Offline || isSilent {
			servers = slices.DeleteFunc(servers, func(s string) bool { return s == o.Name })
			report.Findings = append(
				report.Findings,
				Finding{Stream: stream, Server: o.Name, What: "is offline, so that it was not read"},
			)
		}
	}
	return servers, nil
}

// reportRecreatedStream adds a finding if somebody deleted the stream and created it again.
func (c *Cluster) reportRecreatedStream(ctx context.Context, stream string, report *AuditReport) error {
	info, err := c.streamInfo(ctx, stream)
	if err != nil {
		return err
	}
	known, err := getOrCreate(ctx, c.directory, "stream."+stream, func() (streamInfo, error) {
		return streamInfo{}, missingStreamError(stream)
	})
	if err == nil && !known.Created.Equal(info.Created) {
		report.Findings = append(
			report.Findings,
			Finding{
				Stream: stream,
				What: "the stream was made again, and what it held is lost: restore it from a backup or from the " +
					"cache directory of a node",
			},
		)
	}
	return err
}

// makeLeader makes a server the leader of a stream, and waits until it is the leader. If this takes longer than twice
// Options.ReadWait, it returns an error.
func (c *Cluster) makeLeader(ctx context.Context, stream, server string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.options.ReadWait)
	defer cancel()
	for {
		current, _, err := c.findLeader(ctx, stream)
		if err != nil || current == server {
			return err
		}
		if err := c.moveStreamLeadership(ctx, stream, current, server); err != nil &&
			!sleepUnlessCanceled(ctx, 100*time.Millisecond) {
			return err
		}
		if ctx.Err() != nil {
			return unavailableError(ctx, errNoServer)
		}
	}
}

// readBrainCopy reads the messages of a brain from the stream's leader, and checks them. The list earlierCopies
// contains the copies that the audit has read from servers before. readBrainCopy stops after the last message in these
// copies, because other processes may have written further messages since then. If the list is empty, or if the copies
// are empty, it reads all messages.
func (c *Cluster) readBrainCopy(
	ctx context.Context,
	b brainDirectoryEntry,
	earlierCopies []brainCopyOnServer,
) (v brainCopyOnServer) {
	r := &brainReplica{cluster: c, directoryEntry: b}
	end := uint64(0)
	for _, o := range earlierCopies {
		end = max(end, o.seq)
	}
	start := r.initialPosition()
	v.lastEnvelopeHash = start.ChainHash
	for from := uint64(1); end == 0 || from <= end; from = v.seq + 1 {
		m, ok, err := c.requestSender.nextMessage(ctx, b.streamName(), b.subjectName(), from)
		if err != nil || !ok {
			v.readError = err
			break
		}
		if end != 0 && m.Seq > end {
			e, _, err := decodeEnvelope(m.Data)
			v.isCompactedDuringAudit = err == nil && e.Snapshot != nil
			break
		}
		v.readError = v.addMessage(ctx, r, m)
		if v.readError != nil {
			break
		}
	}
	last, ok, err := c.requestSender.lastMessage(ctx, b.streamName(), b.subjectName())
	isLastKnown := err == nil && ok
	if v.readError != nil || !isLastKnown {
		return v
	}
	if last.Seq < v.seq {
		v.readError = r.damageError("its last message is %d, and %d is there", last.Seq, v.seq)
	}
	return v
}

// addMessage adds the message m to the copy v of a brain (a memory), after it has checked that m follows the messages
// in v. If m contains a snapshot, addMessage also checks that the stream's leader has all parts (segments) of the
// snapshot file. The copy then continues at the position of the snapshot. addMessage returns an error if a check fails.
func (v *brainCopyOnServer) addMessage(ctx context.Context, r *brainReplica, m streamMessage) error {
	e, hash, err := decodeEnvelope(m.Data)
	if err != nil {
		return err
	}
	v.messageCount++
	switch {
	case e.BrainName != r.directoryEntry.Name:
		return r.damageError("message %d is of brain %s", m.Seq, e.BrainName)
	case e.Snapshot != nil && v.seq != 0 && (e.EnvelopeNumber != v.envelopeNumber || e.PrevChainHash != v.lastEnvelopeHash):
		return r.damageError("the snapshot in message %d does not continue the chain", m.Seq)
	case e.Snapshot != nil:
		for _, g := range e.Snapshot.FileSegments {
			if err := r.checkLeaderHasSegment(ctx, g); err != nil {
				return err
			}
		}
		v.seq = m.Seq
		v.envelopeNumber = e.EnvelopeNumber
		v.lastEnvelopeHash = e.PrevChainHash
		return nil
	case e.EnvelopeNumber != v.envelopeNumber+1:
		return r.damageError("envelope %d follows %d, in message %d", e.EnvelopeNumber, v.envelopeNumber, m.Seq)
	case e.PrevChainHash != v.lastEnvelopeHash:
		return r.damageError("envelope %d does not continue the chain", e.EnvelopeNumber)
	}
	v.seq = m.Seq
	v.envelopeNumber = e.EnvelopeNumber
	v.lastEnvelopeHash = hash
	return nil
}

// checkLeaderHasSegment returns an error if the stream's leader does not have the whole segment, which is a part of a
// snapshot file.
func (r *brainReplica) checkLeaderHasSegment(ctx context.Context, g fileSegment) error {
	m, ok, err := r.cluster.requestSender.lastMessage(ctx, r.directoryEntry.streamName(), r.segmentSubject(g))
	if err != nil {
		return err
	}
	if ok {
		if part, err := zstdDecoder.DecodeAll(m.Data, nil); err == nil &&
			chainHash(sha256.Sum256(part)) == g.UncompressedHash {
			return nil
		}
	}
	return r.damageError("segment %d is missing or is not the one that its hash names", g.SegmentNumber)
}

// findDifferingCopies compares the servers' copies of the brain b. It returns a finding for each copy that is damaged,
// and for each copy that differs from the most frequent copy. If several copies are equally frequent, it uses the copy
// with the most envelopes (messages with changes). Copies of a brain that was compacted during the audit are not
// compared.
func findDifferingCopies(b brainDirectoryEntry, copies []brainCopyOnServer) (findings []Finding) {
	votes := map[string]int{}
	key := func(v brainCopyOnServer) string { return fmt.Sprint(v.seq, v.envelopeNumber, v.lastEnvelopeHash) }
	best, longest := "", uint64(0)
	for _, v := range copies {
		if v.readError != nil || v.isCompactedDuringAudit {
			continue
		}
		k := key(v)
		votes[k]++
		isLonger := votes[k] == votes[best] && v.envelopeNumber > longest
		isBetter := isLonger || votes[k] > votes[best]
		if best == "" || isBetter {
			best, longest = k, v.envelopeNumber
		}
	}
	for _, v := range copies {
		switch {
		case v.readError != nil:
			findings = append(findings, Finding{Server: v.serverName, Brain: b.Name, What: v.readError.Error()})
		case !v.isCompactedDuringAudit && key(v) != best:
			findings = append(
				findings,
				Finding{
					Server: v.serverName,
					Brain:  b.Name,
					What: fmt.Sprintf(
						"ends with envelope %d in message %d, unlike the others",
						v.envelopeNumber,
						v.seq,
					),
				},
			)
		}
	}
	return findings
}

// updateLeaderFences records which servers must not lead a stream, and why. It writes these records (fences) into the
// directory of the cluster. If such a server leads the stream, updateLeaderFences makes another server the leader. If a
// server in auditedServers is missing from reasonByBadServer, its problem is over, and its fence is removed.
func (c *Cluster) updateLeaderFences(
	ctx context.Context,
	stream string,
	auditedServers []string,
	reasonByBadServer map[string]string,
) error {
	for _, s := range auditedServers {
		f := leaderFence{stream, s}
		c.mu.Lock()
		oldFence := c.leaderFences[f] && reasonByBadServer[s] == ""
		if oldFence {
			delete(c.leaderFences, f)
		}
		c.mu.Unlock()
		if !oldFence {
			continue
		}
		if err := c.directory.bucket.Delete(ctx, f.directoryKey()); err != nil {
			return fmt.Errorf("delete %s of the directory: %w", f.directoryKey(), err)
		}
	}
	for s, reason := range reasonByBadServer {
		f := leaderFence{stream, s}
		c.mu.Lock()
		c.leaderFences[f] = true
		c.mu.Unlock()
		if _, err := c.directory.bucket.PutString(ctx, f.directoryKey(), reason); err != nil {
			return fmt.Errorf("write %s to the directory: %w", f.directoryKey(), err)
		}
	}
	return c.replaceFencedLeader(ctx, stream)
}

// replaceFencedLeader makes another server the leader of a stream if the present leader is fenced. A fenced server must
// not lead the stream, because an audit found that the server's data differs. If no other server can lead the stream,
// the error matches [oxbow.ErrCorrupt].
func (c *Cluster) replaceFencedLeader(ctx context.Context, stream string) error {
	c.mu.Lock()
	var fenced []string
	for f := range c.leaderFences {
		if f.stream == stream {
			fenced = append(fenced, f.server)
		}
	}
	c.mu.Unlock()
	if len(fenced) == 0 {
		return nil
	}
	leader, others, err := c.findLeader(ctx, stream)
	if err != nil || !slices.Contains(fenced, leader) {
		return err
	}
	for _, o := range others {
		if !slices.Contains(fenced, o) && c.makeLeader(ctx, stream, o) == nil {
			return nil
		}
	}
	return fmt.Errorf(
		"%w: stream %s is led by %s, whose data an audit found to differ, and no other server can lead it; start the "+
			"others, or replace %s",
		oxbow.ErrCorrupt,
		stream,
		leader,
		leader,
	)
}
