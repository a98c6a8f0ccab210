// This file loads a stored session. It loads either the whole session or only the turns at its end
// that new events can change.
//
// If a turn begins more than maxJoinReach before every turn that the new events touch, the new events
// do not change it, unless an event names the turn or shares an identifier with the turn's events.
// The entries CLIENT/SESSION/ids/0001 (pages) contain hashes of these names and identifiers, so
// that other turns need not be read. A page has a line for each of turnsPerPage turns.

package session

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

const (
	turnsPerPage = 64
	hashChars    = 8 // characters of a 40-bit hash

	// maxJoinReach exceeds the maximum distance between prompts that are joined in two steps of
	// maxPromptGap, plus another maxPromptGap to the next prompt.
	maxJoinReach = 3*maxPromptGap + 2*maxDoubleGap
)

// storedSession is a stored session. Entries of version 0 do not exist.
type storedSession struct {
	key          sessionKey
	summaryEntry oxbow.Entry
	oldSummary   Summary       // parsed content of head
	hashPages    []oxbow.Entry // hashes for all turns
	firstTurns   []Turn        // first turns of the session that determine its summary
	firstNumber  int           // number of the first turn in turns
	turnEntries  []oxbow.Entry
	parsedTurns  []Turn // the parsed turns, except unreadable turns
}

// loadSession reads a whole session. Turns that cannot be read are skipped.
func (a *Archive) loadSession(ctx context.Context, t sessionKey) (storedSession, error) {
	k, err := a.loadSummaryAndPages(ctx, t)
	for n := 1; err == nil; n++ {
		var e oxbow.Entry
		e, err = a.getEntryIfExists(ctx, t.turnName(n))
		isEnd := e.Version == 0 && n > k.oldSummary.TurnCount
		if err != nil || isEnd {
			break
		}
		k.turnEntries = append(k.turnEntries, e)
		if turn, ok := t.parseTurn(e, n); ok {
			k.parsedTurns = append(k.parsedTurns, turn)
		}
	}
	return k, err
}

// loadSummaryAndPages reads the summary and the pages of a session.
func (a *Archive) loadSummaryAndPages(ctx context.Context, t sessionKey) (k storedSession, err error) {
	k.key, k.firstNumber = t, 1
	k.summaryEntry, err = a.getEntryIfExists(ctx, t.summaryName())
	if err != nil {
		return k, err
	}
	_ = json.Unmarshal([]byte(k.summaryEntry.Content), &k.oldSummary) // without a summary, the session is empty
	for n := 1; ; n++ {
		e, err := a.getEntryIfExists(ctx, t.pageName(n))
		isEnd := e.Version == 0 && n > k.oldSummary.countPages()
		if err != nil || isEnd {
			return k, err
		}
		k.hashPages = append(k.hashPages, e)
	}
}

func (s *Summary) countPages() int { return (s.TurnCount + turnsPerPage - 1) / turnsPerPage }

func (t sessionKey) pageName(n int) string { return fmt.Sprintf("%s/ids/%04d", t.summaryName(), n) }

// parseTurn returns the turn stored in an entry if it is turn n of this session.
func (t sessionKey) parseTurn(e oxbow.Entry, n int) (Turn, bool) {
	turn, err := ParseTurn(e.Content)
	return turn, err == nil && turn.Client == t.client && turn.Session == t.session && turn.Number == n
}

// getEntryIfExists returns the named entry, or an entry of version 0 if it does not exist.
func (a *Archive) getEntryIfExists(ctx context.Context, name string) (oxbow.Entry, error) {
	e, err := a.Memory.Store().Get(ctx, name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return oxbow.Entry{}, nil
	}
	return e, err
}

// loadLastTurns reads the last turns of a session, back to the first turn that the events can change or that can be
// joined with such a turn. It returns false if the session must be read from its start: it does not exist, a turn
// cannot be read, or an earlier turn contains an event with the same identifier.
func (a *Archive) loadLastTurns(
	ctx context.Context,
	t sessionKey,
	events []Event,
) (k storedSession, enough bool, err error) {
	k, err = a.loadSummaryAndPages(ctx, t)
	if err != nil || k.oldSummary.TurnCount == 0 {
		return k, false, err
	}
	touched := newTurnRange(events)
	for n := k.oldSummary.TurnCount; ; n-- {
		e, err := a.getEntryIfExists(ctx, t.turnName(n))
		turn, ok := t.parseTurn(e, n)
		if err != nil {
			return k, false, err
		}
		if !ok || n == 1 {
			return k, false, nil
		}
		k.turnEntries = append(k.turnEntries, e)
		k.parsedTurns = append(k.parsedTurns, turn)
		k.firstNumber = n
		if touched.startAfter(&turn).Sub(turn.StartTime) > maxJoinReach {
			break
		}
	}
	slices.Reverse(k.turnEntries)
	slices.Reverse(k.parsedTurns)
	if !k.isIndependent(events) {
		return k, false, nil
	}
	enough, err = a.loadFirstTurns(ctx, &k)
	return k, enough, err
}

// loadFirstTurns reads the session's first turns, up to the loaded turns, because they determine the
// summary. It returns false if a turn cannot be read.
func (a *Archive) loadFirstTurns(ctx context.Context, k *storedSession) (bool, error) {
	for n, s := 1, (Summary{}); n < k.firstNumber &&
		((s.FirstPrompt == "" && k.oldSummary.FirstPrompt != "") || (s.Dir == "" && k.oldSummary.Dir != "")); n++ {
		e, err := a.getEntryIfExists(ctx, k.key.turnName(n))
		turn, ok := k.key.parseTurn(e, n)
		if err != nil || !ok {
			return false, err
		}
		k.firstTurns = append(k.firstTurns, turn)
		s.addTurn(&turn)
	}
	return true, nil
}

// turnRange describes which turns new events may change. These are the turns from start on, and
// turns joined to the events by name or prompt text.
type turnRange struct {
	start time.Time
	names map[string]bool // turn names, prompt IDs and prompt texts
}

func newTurnRange(events []Event) turnRange {
	t := turnRange{start: events[0].Time, names: map[string]bool{}}
	for _, e := range events {
		if e.Time.Before(t.start) {
			t.start = e.Time
		}
		t.addEvent(&e)
	}
	return t
}

func (t *turnRange) addEvent(e *Event) {
	t.names["turn "+e.Turn] = e.Turn != ""
	if e.Kind == KindPrompt && e.SubAgent == "" {
		t.names["text "+e.Text], t.names["id "+e.ID] = true, e.ID != ""
	}
}

// startAfter examines a turn, and returns the time from which turns may change. If the turn has a name, a prompt ID or
// a prompt text in common with the new events, the turn itself may change, so that the range is extended to the turn's
// start and names.
func (t *turnRange) startAfter(turn *Turn) time.Time {
	if slices.ContainsFunc(turn.sourceReports, func(e Event) bool {
		return t.names["turn "+e.Turn] || (e.Kind == KindPrompt && (t.names["text "+e.Text] || t.names["id "+e.ID]))
	}) {
		for _, e := range turn.sourceReports {
			t.addEvent(&e)
		}
		if turn.StartTime.Before(t.start) {
			t.start = turn.StartTime
		}
	}
	return t.start
}

// isIndependent reports whether the turns before the loaded turns cannot be changed by the events. This is known from
// the hashes on the pages: no earlier turn has the turn name or the identifier of an event, or of an event in a loaded
// turn. It returns false if a page is missing.
func (k *storedSession) isIndependent(events []Event) bool {
	asked := map[string]bool{}
	ask := func(events []Event) {
		for _, e := range events {
			_, other := eventHashes(&e)
			for _, h := range other {
				asked[h] = true
			}
		}
	}
	ask(events)
	for i := range k.parsedTurns {
		ask(k.parsedTurns[i].sourceReports)
	}
	n := 1
	for _, p := range k.hashPages {
		if p.Version == 0 { // missing
			return false
		}
		for line := range strings.Lines(p.Content) {
			if n == k.firstNumber {
				return true
			}
			for line = strings.TrimSpace(line); len(line) >= hashChars; line = line[hashChars:] {
				if asked[line[:hashChars]] {
					return false
				}
			}
			n++
		}
	}
	return n == k.firstNumber
}

// eventHashes returns the hashes of an event's turn name and identifier (ownHashes), and the hashes that an
// event in the same turn but with another name would have (otherHashes). Events that name different
// turns may have the same identifier.
func eventHashes(e *Event) (ownHashes, otherHashes []string) {
	id := string(e.Kind) + "\x00" + e.ID
	switch {
	case e.Turn != "":
		ownHashes = []string{shortHash("turn", e.Turn)}
		otherHashes = ownHashes
	case e.Kind == KindPrompt && e.SubAgent == "" && e.ID != "":
		ownHashes = []string{shortHash("prompt", e.ID)}
		otherHashes = ownHashes
	case e.ID != "":
		return []string{shortHash("free", id)}, []string{shortHash("free", id), shortHash("owned", id)}
	}
	if e.ID == "" {
		return ownHashes, otherHashes
	}
	return append(
			slices.Clip(ownHashes),
			shortHash("owned", id),
		), append(
			slices.Clip(otherHashes),
			shortHash("free", id),
		)
}

func shortHash(kind, s string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind + "\x00" + s)) // never fails
	return metaEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64())[:5])
}

// pageLine returns the turn's line on a page.
func (t *Turn) pageLine() string {
	var all []string
	for i := range t.sourceReports {
		own, _ := eventHashes(&t.sourceReports[i])
		all = append(all, own...)
	}
	slices.Sort(all)
	return " " + strings.Join(slices.Compact(all), "") + "\n"
}

// pageOps returns the operations that update the pages after turns replace the loaded turns.
func (k *storedSession) pageOps(turns []Turn, labels []oxbow.Label) (ops []oxbow.Op) {
	total, first := k.firstNumber-1+len(turns), (k.firstNumber-1)/turnsPerPage
	for p := first; p*turnsPerPage < total || p < len(k.hashPages); p++ {
		var old oxbow.Entry
		if p < len(k.hashPages) {
			old = k.hashPages[p]
		}
		var b strings.Builder
		n := p * turnsPerPage
		for line := range strings.Lines(old.Content) {
			if n >= k.firstNumber-1 {
				break
			}
			b.WriteString(line)
			n++
		}
		for ; n < min((p+1)*turnsPerPage, total); n++ {
			b.WriteString(turns[n-k.firstNumber+1].pageLine())
		}
		name, content := k.key.pageName(p+1), b.String()
		switch {
		case content == "" && old.Version != 0:
			ops = append(ops, oxbow.Remove{Name: name, If: old.Version})
		case old.Version == 0:
			ops = append(ops, oxbow.Add{Name: name, Kind: oxbow.History, Content: content, Labels: labels})
		case content != old.Content || !slices.Equal(oxbow.SortLabels(slices.Clone(labels)), old.Labels):
			ops = append(ops, oxbow.Update{Name: name, Content: content, Labels: labels, If: old.Version})
		}
	}
	return ops
}
