// This file replaces a server that has lost its data. Another running server takes its place. The cluster is audited
// before and after.

package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/oxbow-memory/oxbow"
)

// ReplaceOptions configure [Cluster.Replace].
type ReplaceOptions struct {
	DryRun bool          // stop before the server is removed
	Wait   time.Duration // maximum time until the servers that stay have all data (the default is 10 minutes)
	// called when a step of replacing the server begins, and repeatedly while Replace waits for other servers to copy
	// its data
	Progress func(ReplaceReport)
}

// ReplaceStep is a step in the replacement of a server by another server.
type ReplaceStep string

// These are the steps in the replacement of a server by another server, in their order.
const (
	StepAuditBefore ReplaceStep = "audit-before"
	StepRemove      ReplaceStep = "remove"
	StepWait        ReplaceStep = "wait" // wait until all streams have all replicas again
	StepAuditAfter  ReplaceStep = "audit-after"
	StepDone        ReplaceStep = "done"
)

// ReplaceReport is the state of the replacement of a server.
type ReplaceReport struct {
	Step    ReplaceStep `json:"step"`    // the latest step that was begun while the server was being replaced
	Streams int         `json:"streams"` // number of streams, including the directory
	Whole   int         `json:"whole"`   // number of streams that have all their replicas again
	Before  AuditReport `json:"before"`
	After   AuditReport `json:"after"`
	// problems that prevent the next step of replacing the server, or data that were lost
	Findings []Finding `json:"findings"`
}

// serverReplacement is a replacement that is in progress.
type serverReplacement struct {
	cluster           *Cluster
	oldServer         string
	options           ReplaceOptions
	isOldServerMember bool // the server is still a member of the cluster
	report            ReplaceReport
}

// Replace removes a server that is not running, and waits until other servers have the data of that
// server. Before the call, start a new server with a different name and an empty directory. Replace
// removes nothing if another server is down, if too few servers run, or if an audit finds a
// difference among the remaining servers. After an interruption, the same call continues the
// replacement. The error matches [oxbow.ErrBusy] if servers must be stopped or started first, and
// [oxbow.ErrCorrupt] if an audit finds a problem.
func (c *Cluster) Replace(ctx context.Context, oldServer string, o ReplaceOptions) (ReplaceReport, error) {
	if c.replicas == 1 || c.options.System == nil {
		return ReplaceReport{}, fmt.Errorf(
			"%w: one server is no cluster; to move it, back up and restore",
			oxbow.ErrUnsupported,
		)
	}
	if o.Wait == 0 {
		o.Wait = 10 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(ReplaceReport) {}
	}
	r := &serverReplacement{cluster: c, oldServer: oldServer, options: o}
	err := r.runSteps(ctx)
	return r.report, err
}

func (r *serverReplacement) runSteps(ctx context.Context) error {
	if err := r.checkReady(ctx); err != nil {
		return err
	}
	r.beginStep(StepAuditBefore)
	rep, before, err := r.cluster.auditAndFindLongestCopies(ctx)
	r.report.Before = rep
	if err != nil {
		return err
	}
	if err := r.checkFindings(rep.Findings, "nothing was removed"); err != nil || r.options.DryRun {
		return err
	}
	if r.isOldServerMember {
		r.beginStep(StepRemove)
		if err := r.removeServer(ctx); err != nil {
			return err
		}
	}
	if err := r.awaitReplicas(ctx); err != nil {
		return err
	}
	if err := r.deleteOldServerFences(ctx); err != nil {
		return err
	}
	r.beginStep(StepAuditAfter)
	rep, after, err := r.cluster.auditAndFindLongestCopies(ctx)
	r.report.After = rep
	if err != nil {
		return err
	}
	if err := r.checkFindings(slices.Concat(rep.Findings, findBrainsWithLostChanges(before, after)), "server "+r.oldServer+
		" is removed; keep its data until this is mended"); err != nil {
		return err
	}
	r.beginStep(StepDone)
	return nil
}

func (r *serverReplacement) beginStep(s ReplaceStep) {
	r.report.Step = s
	r.options.Progress(r.report)
}

// checkReady returns an error if the old server cannot be replaced now, for example because the new server has not
// started. It also sets r.isOldServerMember.
func (r *serverReplacement) checkReady(ctx context.Context) error {
	answers, err := serverSettings(ctx, r.cluster.options.System)
	if err != nil {
		return err
	}
	up, joined := map[string]bool{}, 0
	for _, a := range answers {
		up[a.Server.Name] = true
	}
	var names []string
	for _, m := range clusterMembers(answers) {
		names = append(names, m.Name)
		switch {
		case m.isServer(r.oldServer):
			r.isOldServerMember = true
		case !up[m.Name]:
			return fmt.Errorf(
				"%w: server %s is down, too; nothing was removed. Start it first: one server is replaced at a time",
				oxbow.ErrBusy,
				m.Name,
			)
		default:
			joined++
		}
	}
	switch {
	case up[r.oldServer]:
		return fmt.Errorf(
			"%w: server %s runs; nothing was removed. Stop it first, and do not start it again with its data",
			oxbow.ErrBusy,
			r.oldServer,
		)
	case joined < r.cluster.replicas:
		return fmt.Errorf(
			"%w: %d servers run besides %s, and %d must hold each brain; nothing was removed. Start one of another "+
				"name with an empty directory first",
			oxbow.ErrBusy,
			joined,
			r.oldServer,
			r.cluster.replicas,
		)
	case !r.isOldServerMember && r.hasAllReplicas(ctx):
		return fmt.Errorf(
			"%w: there is no server %s, or not any more, and all streams are whole; there are %s",
			oxbow.ErrNotFound,
			r.oldServer,
			strings.Join(names, ", "),
		)
	}
	return nil
}

// checkFindings returns an error if fs, the findings of an audit, contains a problem with anything but the server that
// is replaced. Such findings are added to the report. The text auditName ends the error, and tells the user what was
// done, such as "nothing was removed".
func (r *serverReplacement) checkFindings(fs []Finding, auditName string) error {
	for _, f := range fs {
		if f.Server != r.oldServer && !strings.Contains(f.Server, serverID(r.oldServer)) {
			r.report.Findings = append(r.report.Findings, f)
		}
	}
	if n := len(r.report.Findings); n > 0 {
		f := r.report.Findings[0]
		return fmt.Errorf(
			"%w: the audit found %d differences, the first: %s %s %s: %s; %s",
			oxbow.ErrCorrupt,
			n,
			f.Stream,
			f.Server,
			f.Brain,
			f.What,
			auditName,
		)
	}
	return nil
}

// removeServer removes the server r.oldServer, which is to be replaced, from the cluster. It repeats the request until
// the servers have removed the server. If this takes longer than r.options.Wait, the error matches [oxbow.ErrBusy].
func (r *serverReplacement) removeServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, r.options.Wait)
	defer cancel()
	m := nats.NewMsg("$JS.API.SERVER.REMOVE")
	var err error
	m.Data, err = json.Marshal(map[string]string{"peer": r.oldServer, "peer_id": serverID(r.oldServer)})
	if err != nil {
		return err
	}
	for {
		try, cancel := context.WithTimeout(ctx, 4*r.cluster.options.maxAttemptTime)
		a, err := r.cluster.options.System.RequestMsgWithContext(try, m)
		cancel()
		var answer struct {
			Success bool      `json:"success"`
			Error   *apiError `json:"error"`
		}
		if err == nil {
			err = json.Unmarshal(a.Data, &answer)
		}
		switch {
		case err == nil && answer.Success, answer.Error != nil && answer.Error.ErrCode == errorCodeUnknownServer:
			return nil
		case answer.Error != nil && answer.Error.ErrCode != errorCodeMemberChange && answer.Error.ErrCode != errorCodeUnavailable:
			return fmt.Errorf("remove server %s: %w; nothing was removed", r.oldServer, answer.Error)
		}
		if !sleepUnlessCanceled(ctx, 5*noServerRetryPause) {
			return fmt.Errorf(
				"%w: the servers do not remove %s (%v); see that most of them run, and call it again",
				oxbow.ErrBusy,
				r.oldServer,
				err,
			)
		}
	}
}

// awaitReplicas waits until hasAllReplicas returns true. If this takes longer than r.options.Wait, the error matches
// [oxbow.ErrBusy].
func (r *serverReplacement) awaitReplicas(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, r.options.Wait)
	defer cancel()
	for {
		whole := r.hasAllReplicas(waiting)
		r.beginStep(StepWait)
		if whole {
			return nil
		}
		if !sleepUnlessCanceled(waiting, 10*noServerRetryPause) {
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return fmt.Errorf(
				"%w: %d of %d streams are whole after %s: server %s is removed, and the others do not hold all that "+
					"it held. See their status; start those that are down, and call it again",
				oxbow.ErrBusy, r.report.Whole, r.report.Streams, r.options.Wait, r.oldServer,
			)
		}
	}
}

// hasAllReplicas reports whether the replacement of r.oldServer is complete for all streams. It also sets
// r.report.Streams to the number of streams, and r.report.Whole to the number of streams for which the replacement is
// complete. This is the case for a stream under these conditions:
//   - The required number of servers have a replica of the stream.
//   - All replicas are up to date.
//   - r.oldServer has no replica.
func (r *serverReplacement) hasAllReplicas(ctx context.Context) bool {
	names := r.cluster.streamNames()
	r.report.Streams, r.report.Whole = len(names), 0
	for _, name := range names {
		s, _ := r.cluster.streamStatus(ctx, name)
		isBehind := slices.ContainsFunc(s.Replicas, func(o ReplicaStatus) bool {
			return o.serverID == serverID(r.oldServer) || !o.Current || o.Offline || o.Joining
		})
		hasNewLeader := s.Leader != "" && s.Leader != r.oldServer
		hasAllCopies := len(s.Replicas)+1 == r.cluster.replicas && !isBehind
		if hasNewLeader && hasAllCopies {
			r.report.Whole++
		}
	}
	return r.report.Whole == len(names)
}

// deleteOldServerFences deletes the records (fences) which say that the replaced server must not become a leader.
func (r *serverReplacement) deleteOldServerFences(ctx context.Context) error {
	c := r.cluster
	if err := c.readLeaderFences(ctx); err != nil {
		return err
	}
	for p := range c.directory.partitionCount {
		if f := (leaderFence{streamName(p), r.oldServer}); c.isFencedFromLeading(f.stream, f.server) {
			if err := c.directory.bucket.Delete(ctx, f.directoryKey()); err != nil {
				return err
			}
		}
	}
	return c.readLeaderFences(ctx)
}

// findBrainsWithLostChanges returns a finding for each brain (memory) that has lost changes since the replacement of a
// server. Such a brain has fewer envelopes (messages with changes) than before, or as many envelopes with another hash
// of the last one.
func findBrainsWithLostChanges(before, after map[string]brainCopyOnServer) (findings []Finding) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		b, a := before[name], after[name]
		isOther := a.envelopeNumber == b.envelopeNumber && a.lastEnvelopeHash != b.lastEnvelopeHash
		if isOther || a.envelopeNumber < b.envelopeNumber {
			findings = append(
				findings,
				Finding{
					Brain: name,
					What: fmt.Sprintf("had %d envelopes before, and has %d, or others", b.envelopeNumber,
						a.envelopeNumber),
				},
			)
		}
	}
	return findings
}
