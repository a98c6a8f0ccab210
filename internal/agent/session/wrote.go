// This file finds the calls with which a client wrote a file.

package session

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// maxCallReportDelay is the maximum time between a file's change and the report of the call that changed it.
const maxCallReportDelay = time.Minute

// CheckFileWrite finds the tool calls of the client that wrote a file. changeTime is the time of the file's latest
// change. The result hasWritten is true if one of the calls made this change. For this, the client must have reported
// the call at most maxDuplicateReportGap before changeTime and at most maxCallReportDelay after changeTime.
//
// The result foreignTextCalls describes calls whose text the agent may have copied into the file. Each of these calls
// returned text by others without stored fingerprints, and came before a write of the file in the same turn. Only the
// latest write and the writes after the time since are considered. A call that only read the agent's own files is left
// out. These are the files in agentFiles and the files that the agent wrote earlier in the turn.
func (a *Archive) CheckFileWrite(
	ctx context.Context,
	client, file string,
	since, changeTime time.Time,
	agentFiles []string,
) (foreignTextCalls []string, hasWritten bool, err error) {
	f := TurnFilter.And(oxbow.Filter{
		Terms: []oxbow.Term{{Key: "client", Values: []string{client}}},
		After: since.Add(-maxTimeSinceLastEvent),
	})
	hits, err := a.Memory.Recall(ctx, oxbow.Query{Limit: oxbow.MaxLimit, Filter: f})
	for _, h := range hits {
		t, err := ParseTurn(h.Entry.Content)
		if err != nil {
			continue
		}
		for i := range t.Events {
			e := &t.Events[i]
			after := e.Time.Sub(changeTime)
			near := after >= -maxDuplicateReportGap && after <= maxCallReportDelay
			isTooOld := !near && !e.Time.After(since)
			if isTooOld || !e.WritesFile(file) {
				continue
			}
			hasWritten = hasWritten || near
			for _, s := range unfingerprintedCalls(t.Events[:i], t.Dir(), agentFiles...) {
				if !slices.Contains(foreignTextCalls, s) && len(foreignTextCalls) < maxTaintingCallsPerTurn {
					foreignTextCalls = append(foreignTextCalls, s)
				}
			}
		}
	}
	return foreignTextCalls, hasWritten, err
}

// WritesFile reports whether the event is a call that wrote the file.
func (e *Event) WritesFile(file string) bool {
	file = path.Clean(replaceBackslashes(file))
	return e.Kind == KindToolCall && e.Call != nil && slices.ContainsFunc(e.Call.WrittenFiles, func(p string) bool {
		p = replaceBackslashes(p)
		if !isAbsolutePath(p) {
			p = path.Join(replaceBackslashes(e.Dir), p)
		}
		rest, ok := cutPrefixFold(path.Clean(p), file, len(file) > 1 && file[1] == ':')
		return ok && rest == ""
	})
}
