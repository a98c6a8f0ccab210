// This file reads sessions and their turns from the archive.

package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// ListSessions returns the summaries of the sessions that match the filter f and were active at the time since or
// later. The filter may select a client and a project. The latest session comes first. Without a filter, ListSessions
// examines the sessions that were written last: at least limit sessions if so many exist. With a filter, it examines at
// most [oxbow.MaxLimit] sessions. The result may contain more than limit sessions.
func (a *Archive) ListSessions(ctx context.Context, f oxbow.Filter, since time.Time, limit int) ([]Summary, error) {
	heads, err := a.findSummaryEntries(ctx, f, limit)
	all := []Summary{}
	for _, e := range heads {
		var s Summary
		if json.Unmarshal([]byte(e.Content), &s) == nil && !s.LastTime.Before(since) {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b Summary) int { return b.LastTime.Compare(a.LastTime) })
	return all, err
}

// findSummaryEntries returns the entries that contain summaries of sessions. If the filter f is empty and the store can
// count entries, findSummaryEntries reads only the newest entries. It reads more and more entries until it has found at
// least as many summaries as the parameter limit, or has read all entries. This needs no index. In all other cases,
// findSummaryEntries searches for the summaries that match f, and returns at most [oxbow.MaxLimit] summaries.
func (a *Archive) findSummaryEntries(
	ctx context.Context,
	f oxbow.Filter,
	limit int,
) (summaries []oxbow.Entry, err error) {
	if oxbow.CapabilitiesOf(a.Memory).Counter == nil || !f.IsZero() {
		hits, err := a.Memory.Recall(ctx, oxbow.Query{Limit: oxbow.MaxLimit,
			Filter: f.And(oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{turnCountLabelKey}}}})})
		for _, h := range hits {
			summaries = append(summaries, h.Entry)
		}
		return summaries, err
	}
	for n := 4*limit + 64; ; n *= 4 {
		page, total, err := a.Memory.Newest(ctx, oxbow.Filter{}, 0, n)
		if err != nil {
			return nil, err
		}
		summaries = summaries[:0]
		for _, e := range page {
			if _, ok := e.Label(turnCountLabelKey); ok {
				summaries = append(summaries, e)
			}
		}
		if len(summaries) >= limit || n >= total {
			return summaries, nil
		}
	}
}

// FindSessions returns the sessions with the given ID. The parameter id may be the ID of a session, or have the form
// CLIENT/SESSION, in which SESSION is the ID. If no session has this ID, FindSessions returns the sessions whose ID or
// CLIENT/SESSION begins with id.
func (a *Archive) FindSessions(ctx context.Context, id string) ([]Summary, error) {
	if e, err := a.getEntryIfExists(ctx, id); err != nil || e.Version != 0 {
		var s Summary
		isSummary := err == nil && json.Unmarshal([]byte(e.Content), &s) == nil
		if isSummary && s.TurnCount > 0 {
			return []Summary{s}, nil
		}
	}
	all, err := a.ListSessions(ctx, oxbow.Filter{}, time.Time{}, oxbow.MaxLimit)
	if err != nil {
		return nil, err
	}
	exact := func(s Summary) bool { return s.Session == id }
	if i := slices.IndexFunc(all, exact); i >= 0 {
		return slices.DeleteFunc(all, func(s Summary) bool { return !exact(s) }), nil
	}
	return slices.DeleteFunc(all, func(s Summary) bool {
		return !strings.HasPrefix(s.Session, id) && !strings.HasPrefix(s.Client+"/"+s.Session, id)
	}), nil
}

// ReadTurns returns the turns of a session, or nil if the session does not exist.
func (a *Archive) ReadTurns(ctx context.Context, client, session string) ([]Turn, error) {
	return a.ReadTurnsFrom(ctx, client, session, 1)
}

// ReadTurnsFrom is like ReadTurns, but begins with the turn firstNumber. If firstNumber is not positive, it counts
// from the end, where 0 is the last turn.
func (a *Archive) ReadTurnsFrom(
	ctx context.Context,
	client, session string,
	firstNumber int,
) (turns []Turn, err error) {
	t := sessionKey{client, session}
	var s Summary
	head, err := a.getEntryIfExists(ctx, t.summaryName())
	if err != nil {
		return nil, err
	}
	// Ignore the error: if the session's summary is missing, the session is not in the archive.
	_ = json.Unmarshal([]byte(head.Content), &s)
	if firstNumber <= 0 {
		firstNumber += s.TurnCount
	}
	for n := max(firstNumber, 1); ; n++ {
		e, err := a.getEntryIfExists(ctx, t.turnName(n))
		isEnd := e.Version == 0 && n > s.TurnCount
		if err != nil || isEnd {
			return turns, err
		}
		if turn, ok := t.parseTurn(e, n); ok {
			turns = append(turns, turn)
		}
	}
}

// RemoveSession removes a session and returns how many turns it had. The turns stay in the archive's history until the
// archive is compacted.
func (a *Archive) RemoveSession(ctx context.Context, client, session string) (int, error) {
	k, err := a.loadSession(ctx, sessionKey{client, session})
	if err != nil || k.summaryEntry.Version == 0 {
		return 0, err
	}
	turns := removalOps(k.turnEntries)
	return len(turns), a.Memory.Apply(
		ctx,
		slices.Concat(turns, removalOps([]oxbow.Entry{k.summaryEntry}), removalOps(k.eventHashPages))...,
	)
}
