// This file loads a stored session. If possible, it loads only the last turns, because new events usually do not change
// earlier turns.
//
// New events can change a turn in two ways. The turn may be near in time: it begins at most maxTurnInfluenceTime before
// a turn with new events. Or a new event contains the name of the turn, or has the same identifier as an event in the
// turn. To find such a turn without reading all turns, the entries CLIENT/SESSION/ids/0001 and so on, called pages,
// contain hashes of these names and identifiers. A page has one line for each of turnsPerPage turns.

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
	charsPerHash = 8 // number of characters in a 40-bit hash

	// maxTurnInfluenceTime is more than the largest time between the beginnings of two turns that can influence each
	// other. Such turns are at most three gaps of maxJoinedPromptGap apart: a prompt may be joined with a second
	// prompt, the second prompt with a third, and the next turn may begin one more gap later. Each end may be later by
	// maxDuplicateReportGap, because duplicate reports are joined too.
	maxTurnInfluenceTime = 3*maxJoinedPromptGap + 2*maxDuplicateReportGap
)

// storedSession contains the loaded entries of a stored session. An entry of version 0 does not exist.
type storedSession struct {
	key                   sessionKey
	summaryEntry          oxbow.Entry
	oldSummary            Summary       // decoded content of summaryEntry
	eventHashPages        []oxbow.Entry // entries with hashes of the names and identifiers in all turns of the session
	firstTurns            []Turn        // the session's first turns, which determine parts of its summary
	firstLoadedTurnNumber int           // number of the first turn that was read from the archive
	turnEntries           []oxbow.Entry
	parsedTurns           []Turn // decoded turnEntries, without turns that cannot be decoded
}

// loadSession loads a whole session: its summary and all turns. The entry of every turn is added to turnEntries. If the
// turn in an entry cannot be parsed, the turn is missing from parsedTurns. If an entry cannot be read from the memory,
// loadSession stops and returns the error.
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

// loadSummaryAndPages loads a session's summary and the entries with hashes of the turns' identifiers.
func (a *Archive) loadSummaryAndPages(ctx context.Context, key sessionKey) (stored storedSession, err error) {
	stored.key, stored.firstLoadedTurnNumber = key, 1
	stored.summaryEntry, err = a.getEntryIfExists(ctx, key.summaryName())
	if err != nil {
		return stored, err
	}
	// Ignore the error: if the summary is missing, the session is not in the archive, and oldSummary stays empty.
	_ = json.Unmarshal([]byte(stored.summaryEntry.Content), &stored.oldSummary)
	for n := 1; ; n++ {
		e, err := a.getEntryIfExists(ctx, key.pageName(n))
		isEnd := e.Version == 0 && n > stored.oldSummary.countHashPages()
		if err != nil || isEnd {
			return stored, err
		}
		stored.eventHashPages = append(stored.eventHashPages, e)
	}
}

func (s *Summary) countHashPages() int { return (s.TurnCount + turnsPerPage - 1) / turnsPerPage }

func (t sessionKey) pageName(n int) string { return fmt.Sprintf("%s/ids/%04d", t.summaryName(), n) }

// parseTurn returns the turn in an entry. It returns false unless the entry contains the turn with the number
// turnNumber of this session.
func (t sessionKey) parseTurn(e oxbow.Entry, turnNumber int) (Turn, bool) {
	turn, err := ParseTurn(e.Content)
	return turn, err == nil && turn.Client == t.client && turn.Session == t.session && turn.Number == turnNumber
}

// getEntryIfExists returns an entry by name. If it does not exist, the result has version 0.
func (a *Archive) getEntryIfExists(ctx context.Context, name string) (oxbow.Entry, error) {
	e, err := a.Memory.Store().Get(ctx, name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return oxbow.Entry{}, nil
	}
	return e, err
}

// loadLastTurns loads only the last turns of a session, because new events usually do not change earlier turns. It
// begins with the last turn and loads one turn after another, backward. It stops at a turn that begins more than
// maxTurnInfluenceTime before the turns that the new events can change, because the events cannot influence turns
// before this turn. hasEnoughTurns is false if the caller must load the whole session instead, in these cases:
//
// - The session does not exist or has no turns.
// - A turn cannot be read.
// - loadLastTurns has reached the first turn.
// - A turn that was not loaded may contain an event that also occurs in the parameter events or in a loaded turn.
func (a *Archive) loadLastTurns(
	ctx context.Context,
	key sessionKey,
	events []Event,
) (stored storedSession, hasEnoughTurns bool, err error) {
	stored, err = a.loadSummaryAndPages(ctx, key)
	if err != nil || stored.oldSummary.TurnCount == 0 {
		return stored, false, err
	}
	touched := newTurnRange(events)
	for n := stored.oldSummary.TurnCount; ; n-- {
		e, err := a.getEntryIfExists(ctx, key.turnName(n))
		turn, ok := key.parseTurn(e, n)
		if err != nil {
			return stored, false, err
		}
		if !ok || n == 1 {
			return stored, false, nil
		}
		stored.turnEntries = append(stored.turnEntries, e)
		stored.parsedTurns = append(stored.parsedTurns, turn)
		stored.firstLoadedTurnNumber = n
		if touched.extendRangeToTurn(&turn).Sub(turn.StartTime) > maxTurnInfluenceTime {
			break
		}
	}
	slices.Reverse(stored.turnEntries)
	slices.Reverse(stored.parsedTurns)
	if !stored.leavesUnloadedTurnsUnchanged(events) {
		return stored, false, nil
	}
	hasEnoughTurns, err = a.loadFirstTurns(ctx, &stored)
	return stored, hasEnoughTurns, err
}

// loadFirstTurns loads the session's first turns, because the session's summary contains the first prompt and the
// working directory from these turns. It stops as soon as it has found both, and at the latest before the turns that
// are already loaded. It returns false if a turn cannot be read.
func (a *Archive) loadFirstTurns(ctx context.Context, k *storedSession) (bool, error) {
	for n, s := 1, (Summary{}); n < k.firstLoadedTurnNumber &&
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

// turnRange describes which turns new events may change: all turns that begin at start or later, and turns that have a
// name or a prompt in common with the events.
type turnRange struct {
	start      time.Time
	eventNames map[string]bool // set of the turn names, prompt IDs and prompt texts in the events
}

// newTurnRange returns the range of the turns that the events may change. It begins at the time of the earliest event.
// events must not be empty.
func newTurnRange(events []Event) turnRange {
	t := turnRange{start: events[0].Time, eventNames: map[string]bool{}}
	for _, e := range events {
		if e.Time.Before(t.start) {
			t.start = e.Time
		}
		t.addEvent(&e)
	}
	return t
}

func (t *turnRange) addEvent(e *Event) {
	t.eventNames["turn "+e.TurnID] = e.TurnID != ""
	if e.Kind == KindPrompt && e.SubAgent == "" {
		t.eventNames["text "+e.Text], t.eventNames["id "+e.ID] = true, e.ID != ""
	}
}

// extendRangeToTurn extends the range t to the given turn if new events may change the turn. This is the case if one of
// the turn's events has the same turn ID, prompt ID or prompt text as a new event. Then t.start moves back to the start
// of the turn if the turn is earlier, and the IDs and prompt texts of the turn's events are added to t.eventNames. The
// result is t.start.
func (t *turnRange) extendRangeToTurn(turn *Turn) time.Time {
	if slices.ContainsFunc(turn.unmergedReports, func(e Event) bool {
		return t.eventNames["turn "+e.TurnID] ||
			(e.Kind == KindPrompt && (t.eventNames["text "+e.Text] || t.eventNames["id "+e.ID]))
	}) {
		for _, e := range turn.unmergedReports {
			t.addEvent(&e)
		}
		if turn.StartTime.Before(t.start) {
			t.start = turn.StartTime
		}
	}
	return t.start
}

// leavesUnloadedTurnsUnchanged reports whether the turns before firstLoadedTurnNumber, which were not loaded, stay
// unchanged if the events are added to the session. An earlier turn stays unchanged if it has no turn name or
// identifier in common with the events or the loaded turns. To find this out without reading the turns, the function
// compares hashes of the names and identifiers, which eventHashPages contains for each turn. It returns false if some
// hashes are missing.
func (k *storedSession) leavesUnloadedTurnsUnchanged(events []Event) bool {
	asked := map[string]bool{}
	ask := func(events []Event) {
		for _, e := range events {
			_, other := hashEventNames(&e)
			for _, h := range other {
				asked[h] = true
			}
		}
	}
	ask(events)
	for i := range k.parsedTurns {
		ask(k.parsedTurns[i].unmergedReports)
	}
	n := 1
	for _, p := range k.eventHashPages {
		if p.Version == 0 { // The page does not exist, so nothing is known about its turns.
			return false
		}
		for line := range strings.Lines(p.Content) {
			if n == k.firstLoadedTurnNumber {
				return true
			}
			for line = strings.TrimSpace(line); len(line) >= charsPerHash; line = line[charsPerHash:] {
				if asked[line[:charsPerHash]] {
					return false
				}
			}
			n++
		}
	}
	return n == k.firstLoadedTurnNumber
}

// hashEventNames returns hashes by which the archive finds the turns that may already contain an event. The archive
// stores storedHashes together with the turn that contains the event. If an event is read later, the archive searches
// for turns with at least one of the event's searchedHashes. The hashes match in these cases:
//
//   - If both events have a turn ID, only the turn IDs must be equal, because the same event ID may occur in several
//     turns. The ID of a prompt to the main agent is used as its turn ID if the prompt has none.
//   - If at most one of the two events has a turn ID, their kinds and event IDs must be equal. The hash prefix "owned"
//     marks an event with a turn ID, and "free" an event without.
func hashEventNames(e *Event) (storedHashes, searchedHashes []string) {
	id := string(e.Kind) + "\x00" + e.ID
	switch {
	case e.TurnID != "":
		storedHashes = []string{eventNameHash("turn", e.TurnID)}
		searchedHashes = storedHashes
	case e.Kind == KindPrompt && e.SubAgent == "" && e.ID != "":
		storedHashes = []string{eventNameHash("prompt", e.ID)}
		searchedHashes = storedHashes
	case e.ID != "":
		return []string{eventNameHash("free", id)}, []string{eventNameHash("free", id), eventNameHash("owned", id)}
	}
	if e.ID == "" {
		return storedHashes, searchedHashes
	}
	return append(
			slices.Clip(storedHashes),
			eventNameHash("owned", id),
		), append(
			slices.Clip(searchedHashes),
			eventNameHash("free", id),
		)
}

func eventNameHash(kind, name string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind + "\x00" + name)) // Ignore the error: writing to a hash never fails.
	return turnMetadataEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, h.Sum64())[:5])
}

// formatHashPageLine returns a line with the hashes of the identifiers in the turn's events. If the archive receives an
// event later, it compares the event's hashes with such lines to find the turns to which the event may belong.
func (t *Turn) formatHashPageLine() string {
	var all []string
	for i := range t.unmergedReports {
		own, _ := hashEventNames(&t.unmergedReports[i])
		all = append(all, own...)
	}
	slices.Sort(all)
	return " " + strings.Join(slices.Compact(all), "") + "\n"
}

// hashPageUpdateOps returns the operations that update the session's page entries. Each page entry contains the event
// hashes of up to turnsPerPage turns, with one line for each turn. The list turns contains the new versions of all
// turns beginning with turn number firstLoadedTurnNumber. The operations replace the lines of these turns, add missing
// pages, and remove pages that no longer contain any turns.
func (k *storedSession) hashPageUpdateOps(turns []Turn, labels []oxbow.Label) (ops []oxbow.Op) {
	total, first := k.firstLoadedTurnNumber-1+len(turns), (k.firstLoadedTurnNumber-1)/turnsPerPage
	for p := first; p*turnsPerPage < total || p < len(k.eventHashPages); p++ {
		var old oxbow.Entry
		if p < len(k.eventHashPages) {
			old = k.eventHashPages[p]
		}
		var b strings.Builder
		n := p * turnsPerPage
		for line := range strings.Lines(old.Content) {
			if n >= k.firstLoadedTurnNumber-1 {
				break
			}
			b.WriteString(line)
			n++
		}
		for ; n < min((p+1)*turnsPerPage, total); n++ {
			b.WriteString(turns[n-k.firstLoadedTurnNumber+1].formatHashPageLine())
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
