// This file stores turns as entries of a memory.
//
// A turn is an entry named CLIENT/SESSION/0001. A session's turns are numbered in the order of time. The entry
// CLIENT/SESSION contains the session's summary, which every change of the session updates. Therefore, if two writers
// change a session concurrently, one writer fails with a conflict and retries.
//
// The entries CLIENT/SESSION/ids/0001 list hashes of the names and identifiers in each turn. An entry cursor/…
// contains the position up to which a transcript was read.

package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// StoreFile is the name of the archive's file in a home.
const StoreFile = "sessions.oxbow"

// Archive stores turns in a memory. It is safe for concurrent use if the functions in the fields are.
type Archive struct {
	Memory *oxbow.Memory

	// FindProject returns the name and the root directory of the project that contains dir, or "" if they are not
	// known. A name without a root is a guess. FindProject may be nil.
	FindProject func(dir string) (name, root string)

	// FindCommits returns the commits in the directory dir during the time between from and to: the commit that was
	// checked out at the beginning, and the commits that were made until the end. The result is nil if the commits are
	// unknown. FindCommits may be nil.
	FindCommits func(dir string, from, to time.Time) []string

	// Redact removes secrets from a text. If Redact is set, the archive also removes the fenced blocks that hooks
	// insert. Redact may be nil.
	Redact func(string) string

	// Fingerprints finds texts that repeat text by others. It may be nil.
	Fingerprints *fingerprint.Store

	// MakeLabels returns labels for a turn, in addition to the labels that the archive makes from the turn's events.
	// Its result must depend only on the turn. MakeLabels may be nil.
	MakeLabels func(t *Turn) []oxbow.Label
}

// ArchiveReport counts the events and turns that were added to an archive.
type ArchiveReport struct {
	EventCount        int `json:"events"`            // number of events that were read
	InvalidInputCount int `json:"bad,omitempty"`     // number of lines and events that were not valid
	NewTurns          int `json:"turns"`             // number of turns that were added
	ChangedTurns      int `json:"changed,omitempty"` // number of existing turns that were changed

	ChangedSessions []ChangedSession `json:"-"` // sessions with new or changed turns

	// index in ChangedSessions of each session, so that addCounts finds a session quickly
	sessionIndexes map[sessionKey]int
}

// ChangedSession is a session with new or changed turns.
type ChangedSession struct {
	Client, Session, Project string

	FirstChangedTurn int // number of the session's first new or changed turn, counted from 1
}

// addCounts adds the counts and the changed sessions of another report. A session in both reports gets the lower
// FirstChangedTurn. Sessions are found by a map, because an export of a chat service may contain 100,000 sessions.
func (r *ArchiveReport) addCounts(o ArchiveReport) {
	r.EventCount += o.EventCount
	r.InvalidInputCount += o.InvalidInputCount
	r.NewTurns += o.NewTurns
	r.ChangedTurns += o.ChangedTurns
	if r.sessionIndexes == nil {
		r.sessionIndexes = map[sessionKey]int{}
	}
	for _, t := range o.ChangedSessions {
		key := sessionKey{t.Client, t.Session}
		i, ok := r.sessionIndexes[key]
		if !ok {
			r.sessionIndexes[key] = len(r.ChangedSessions)
			r.ChangedSessions = append(r.ChangedSessions, t)
			continue
		}
		t.FirstChangedTurn = min(t.FirstChangedTurn, r.ChangedSessions[i].FirstChangedTurn)
		r.ChangedSessions[i] = t
	}
}

// summaryName returns the name of the session's summary entry.
func (t sessionKey) summaryName() string { return toNamePart(t.client) + "/" + toNamePart(t.session) }

func (t sessionKey) turnName(n int) string { return fmt.Sprintf("%s/%04d", t.summaryName(), n) }

// toNamePart converts an identifier to a part of an entry name. If the identifier contains a slash or is longer than
// 100 bytes, it is changed and gets a hash as a suffix.
func toNamePart(s string) string {
	part := strings.ReplaceAll(s, "/", "_")
	if part != s || len(part) > 100 {
		sum := sha256.Sum256([]byte(s))
		part = toShortLine(part, 100) + "-" + hex.EncodeToString(sum[:6])
	}
	return part
}

// AddEvents adds events to the archive. An event that the archive already contains changes nothing.
func (a *Archive) AddEvents(ctx context.Context, events []Event) (ArchiveReport, error) {
	return a.addEventsAndFinalOp(ctx, events, nil)
}

// A TranscriptReader reads the part of a client's transcript after a cursor. The cursor is "" at the start of the
// transcript. One call reads only complete lines, and at most some megabytes. It returns the cursor for the next call,
// which is the same cursor if nothing was left to read.
type TranscriptReader func(ctx context.Context, client, path, cursor string) (events []Event, next string, err error)

// transcriptReadPosition is the content of an entry that records how far a transcript was read.
type transcriptReadPosition struct {
	Client string `json:"client"`
	Path   string `json:"path"`
	Cursor string `json:"cursor"`
}

// ImportTranscript adds the unread part of a transcript to the archive. An entry of the archive records how far the
// transcript was read. If ImportTranscript fails, the events that it has already added stay in the archive.
func (a *Archive) ImportTranscript(
	ctx context.Context,
	client, path string,
	read TranscriptReader,
) (r ArchiveReport, err error) {
	sum := sha256.Sum256([]byte(client + "\x00" + path))
	name := "cursor/" + hex.EncodeToString(sum[:12])
	for {
		at := transcriptReadPosition{Client: client, Path: path}
		e, err := a.getEntryIfExists(ctx, name)
		if err != nil {
			return r, err
		}
		if e.Version != 0 {
			if err := json.Unmarshal([]byte(e.Content), &at); err != nil {
				return r, fmt.Errorf("reading %s: %w", name, err)
			}
		}
		from := at.Cursor
		events, next, err := read(ctx, client, path, from)
		if err != nil {
			return r, err
		}
		if next == from && len(events) == 0 {
			return r, nil
		}
		at.Cursor = next
		b, err := json.Marshal(at)
		if err != nil {
			return r, err
		}
		one, err := a.addEventsAndFinalOp(ctx, events, func() (oxbow.Op, error) {
			now, err := a.getEntryIfExists(ctx, name)
			switch {
			case err != nil || next == from || now.Content == string(b):
				return nil, err
			case now.Version == 0:
				return oxbow.Add{Name: name, Content: string(b), Labels: appendLabel(nil, "cursor", client)}, nil
			}
			return oxbow.Update{Name: name, Content: string(b), Labels: now.Labels, If: now.Version}, nil
		})
		r.addCounts(one)
		if err != nil || next == from {
			return r, err
		}
	}
}

// maxBatchBytes limits a batch. A batch is committed once its contents have more bytes than this.
const maxBatchBytes = 512 << 10

// batchAdder collects the changes of several sessions, and commits them to the archive in batches. Few large commits
// are faster than one commit for each session.
type batchAdder struct {
	*Archive
	eventsBySession map[sessionKey][]Event
	batchSessions   []sessionKey // sessions that the operations in ops change
	ops             []oxbow.Op
	size            int
	// how many events were read, and how many turns are new or changed, in the current batch
	batchReport ArchiveReport
	totalReport ArchiveReport
}

// addEventsAndFinalOp adds events to the archive, like AddEvents. It also commits the operation that the function
// finalOp returns, in the same change as the last events or in a later change. If finalOp is nil or returns a nil
// operation, addEventsAndFinalOp commits only the events. If another process has changed the same session meanwhile,
// addEventsAndFinalOp calls finalOp again.
func (a *Archive) addEventsAndFinalOp(
	ctx context.Context,
	events []Event,
	finalOp func() (oxbow.Op, error),
) (ArchiveReport, error) {
	add := batchAdder{
		Archive:         a,
		eventsBySession: map[sessionKey][]Event{},
		totalReport:     ArchiveReport{EventCount: len(events)},
	}
	events = slices.Clone(events)
	for i := range events {
		events[i] = eventForArchive(events[i], a.Redact)
	}
	findRepeats(a.Fingerprints, events)
	for _, e := range events {
		if !e.isArchivable() {
			add.totalReport.InvalidInputCount++
			continue
		}
		t := sessionKey{e.Client, e.Session}
		add.eventsBySession[t] = append(add.eventsBySession[t], e)
	}
	for _, t := range slices.SortedFunc(maps.Keys(add.eventsBySession), func(a, b sessionKey) int {
		return strings.Compare(a.summaryName(), b.summaryName())
	}) {
		ops, r, err := a.sessionUpdateOps(ctx, t, add.eventsBySession[t])
		if err != nil {
			return add.totalReport, err
		}
		add.batchSessions, add.ops = append(add.batchSessions, t), append(add.ops, ops...)
		add.size += countContentBytes(ops)
		add.batchReport.addCounts(r)
		if add.size < maxBatchBytes {
			continue
		}
		if err := add.commitBatch(ctx); err != nil {
			return add.totalReport, err
		}
	}
	var err error
	if finalOp == nil {
		err = add.commitBatch(ctx)
	} else {
		err = add.commitWithFinalOp(ctx, finalOp)
	}
	return add.totalReport, err
}

// isArchivable reports whether the archive can store the event. Valid events can be stored, except reports of kind
// kindOmittedReports, which only the archive itself makes.
func (e *Event) isArchivable() bool { return e.isValid() && e.Kind != kindOmittedReports }

// isValid reports whether the event names a client, a session and a kind.
func (e *Event) isValid() bool { return e.Client != "" && IsValidID(e.Session) && e.Kind != "" }

// commitWithFinalOp commits the batch together with the operation that finalOp returns, so that a small transcript
// needs only one sync of the log. If finalOp returns nil or an error, only the batch is committed. The result contains
// the errors of finalOp and of the commits.
//
// After a conflict with another writer, commitWithFinalOp commits the batch alone, and then tries the operation again
// until it is committed. It calls finalOp before each try.
func (a *batchAdder) commitWithFinalOp(ctx context.Context, finalOp func() (oxbow.Op, error)) error {
	for {
		op, err := finalOp()
		if err != nil || op == nil {
			return errors.Join(a.commitBatch(ctx), err)
		}
		err = a.Memory.Apply(ctx, append(slices.Clip(a.ops), op)...)
		switch {
		case err == nil:
			a.endBatch()
			return nil
		case !isConcurrentChange(err):
			return err
		}
		if err := a.commitBatch(ctx); err != nil {
			return err
		}
	}
}

// commitBatch commits the batch as a single change. If another process has changed one of the sessions, commitBatch
// adds the events to each session in a separate change.
func (a *batchAdder) commitBatch(ctx context.Context) error {
	var err error
	if len(a.ops) > 0 {
		err = a.Memory.Apply(ctx, a.ops...)
	}
	if isConcurrentChange(err) {
		a.batchReport, err = ArchiveReport{}, nil
		for _, t := range a.batchSessions {
			r, err := a.addToSession(ctx, t, a.eventsBySession[t])
			a.batchReport.addCounts(r)
			if err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	a.endBatch()
	return nil
}

// endBatch adds the report of a committed batch to the total, and begins an empty batch.
func (a *batchAdder) endBatch() {
	a.totalReport.addCounts(a.batchReport)
	a.batchSessions = nil
	a.ops = nil
	a.size = 0
	a.batchReport = ArchiveReport{}
}

// addToSession adds events to one session. It retries as long as other processes change the session at the same time.
// If the session already contains all events, nothing is changed.
func (a *Archive) addToSession(ctx context.Context, t sessionKey, events []Event) (ArchiveReport, error) {
	for {
		ops, r, err := a.sessionUpdateOps(ctx, t, events)
		if err != nil {
			return ArchiveReport{}, err
		}
		if len(ops) == 0 {
			return r, nil
		}
		err = a.Memory.Apply(ctx, ops...)
		if !isConcurrentChange(err) {
			return r, err
		}
	}
}

// isConcurrentChange reports whether a commit failed because another process changed the same session of the archive
// meanwhile.
func isConcurrentChange(err error) bool {
	return errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound)
}

// isUnusedSession reports whether the events belong to a session that ended before anything was said or done. If the
// session has not ended, the result is false. Such sessions exist because Claude Code also reports a session's end when
// a person runs a command such as "claude plugin list".
func isUnusedSession(events []Event) bool {
	ended := false
	for _, e := range events {
		if e.Kind != KindSessionStart && e.Kind != KindSessionEnd {
			return false
		}
		ended = ended || e.Kind == KindSessionEnd
	}
	return ended
}

// countContentBytes returns the total size of the contents that the operations write, in bytes.
func countContentBytes(ops []oxbow.Op) int {
	size := 0
	for _, op := range ops {
		switch op := op.(type) {
		case oxbow.Add:
			size += len(op.Content)
		case oxbow.Update:
			size += len(op.Content)
		}
	}
	return size
}

// TransformTurnTexts applies fn to all texts in a turn's content, including the texts in the content's compressed part,
// and returns the new content. If the content is not a turn's, it returns the content unchanged and false.
func TransformTurnTexts(content string, fn func(string) string) (string, bool) {
	t, err := ParseTurn(content)
	if err != nil {
		return content, false
	}
	for i, e := range t.unmergedReports {
		t.unmergedReports[i] = eventForArchive(e, fn)
	}
	slices.SortFunc(t.unmergedReports, compareEvents)
	t.deriveEventsFromReports()
	return t.Content(), true
}

// maxCreationTimeDifference is the largest allowed difference between the creation time of a turn's entry and the start
// of the turn. An earlier prompt that is found later changes the start, but the creation time of an entry cannot
// change. If the difference becomes larger, the entry is removed and added again.
const maxCreationTimeDifference = 5 * time.Minute

// addsOnlyKnownPrompts reports whether the archive already contains everything that the events could add to the
// session. This is the case if both conditions are met:
//
//   - All events come from a client's list of prompts.
//   - The archive contains turns of the session that come from a transcript or from hooks. These turns already contain
//     the prompts of the session.
func (a *Archive) addsOnlyKnownPrompts(ctx context.Context, t sessionKey, events []Event) (bool, error) {
	if slices.ContainsFunc(events, func(e Event) bool { return !e.IsFromPromptList }) {
		return false, nil
	}
	k, err := a.loadSession(ctx, t)
	// Only a turn from a transcript or from hooks has a prompt ID.
	return slices.ContainsFunc(k.parsedTurns, func(t Turn) bool { return t.PromptID != "" }), err
}

// mayChangeAnyTurn reports whether the events may change any turn of the session, so that the whole session must be
// loaded. An event without a time may belong to any turn. Some clients keep a separate list of all prompts. A prompt
// from such a list may be the same as a prompt in any turn.
func mayChangeAnyTurn(events []Event) bool {
	return hasUntimedEvent(events) || slices.ContainsFunc(events, func(e Event) bool { return e.IsFromPromptList })
}

// sessionUpdateOps returns the operations that add the events to a session in the archive, and a report that counts the
// changed turns. It first loads only the session's last turns. If the events may belong to an earlier turn, it loads
// all turns.
//
// sessionUpdateOps returns no operations if the archive already contains the events. It also returns no operations if
// the session is new and has ended before anything was said or done.
func (a *Archive) sessionUpdateOps(
	ctx context.Context,
	t sessionKey,
	events []Event,
) ([]oxbow.Op, ArchiveReport, error) {
	isKnown, err := a.addsOnlyKnownPrompts(ctx, t, events)
	if isKnown || err != nil {
		return nil, ArchiveReport{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, ArchiveReport{}, err
	}
	k, enough, err := a.loadLastTurns(ctx, t, events)
	isUncertain := func(t Turn) bool { return mayChangeAnyTurn(t.unmergedReports) }
	if mayChangeAnyTurn(events) || slices.ContainsFunc(k.parsedTurns, isUncertain) {
		enough = false
	}
	if err != nil {
		return nil, ArchiveReport{}, err
	}
	if k.oldSummary.TurnCount == 0 && isUnusedSession(events) {
		return nil, ArchiveReport{}, nil
	}
	if enough {
		if ops, r, ok := a.turnOps(&k, events); ok {
			return ops, r, nil
		}
	}
	k, err = a.loadSession(ctx, t)
	if err != nil {
		return nil, ArchiveReport{}, err
	}
	ops, r, _ := a.turnOps(&k, events)
	return ops, r, nil
}

// turnOps returns the operations that add the events to the loaded turns and update the session's summary. It returns
// false if an event may belong to a turn that is not loaded. The caller must then load the whole session.
func (a *Archive) turnOps(stored *storedSession, events []Event) (ops []oxbow.Op, r ArchiveReport, ok bool) {
	events = slices.Clone(events)
	given := map[string][]oxbow.Label{} // labels of the session's archived turns, by the turn's identity
	for _, t := range stored.parsedTurns {
		events = append(events, t.UnmergedReports()...)
		given[t.uniqueTurnKey()] = stored.turnEntries[t.Number-stored.firstLoadedTurnNumber].Labels
	}
	turns, early := stored.key.buildTurns(events, stored.firstLoadedTurnNumber)
	sum, ok := stored.computeNewSummary(turns)
	dependsOnEarlier := early || !ok
	if dependsOnEarlier && stored.firstLoadedTurnNumber > 1 {
		return nil, r, false
	}
	for i, t := range turns {
		var old oxbow.Entry
		if i < len(stored.turnEntries) {
			old = stored.turnEntries[i]
		}
		content := t.Content()
		if content == old.Content && old.Version != 0 {
			continue
		}
		labels := a.turnLabels(&t, given[t.uniqueTurnKey()])
		if len(ops) == 0 {
			r.ChangedSessions = []ChangedSession{{Client: t.Client, Session: t.Session, FirstChangedTurn: t.Number}}
		}
		switch {
		case old.Version == 0:
			r.NewTurns++
			ops = append(
				ops,
				oxbow.Add{Name: stored.key.turnName(t.Number), Kind: oxbow.History, Content: content, Labels: labels,
					Created: t.StartTime},
			)
		case old.Created.Sub(t.StartTime).Abs() > maxCreationTimeDifference && !t.StartTime.IsZero():
			r.ChangedTurns++
			ops = append(ops, oxbow.Remove{Name: old.Name, If: old.Version},
				oxbow.Add{Name: old.Name, Kind: oxbow.History, Content: content, Labels: labels, Created: t.StartTime})
		default:
			r.ChangedTurns++
			ops = append(ops, oxbow.Update{Name: old.Name, Content: content, Labels: labels, If: old.Version})
		}
	}
	// The new events may have joined two turns, so that there are fewer turns than entries. Remove the unneeded
	// entries.
	ops = append(ops, removalOps(stored.turnEntries[min(len(turns), len(stored.turnEntries)):])...)
	if len(ops) == 0 {
		return nil, r, true
	}
	sum.Project, _ = a.resolveProject(sum.Dir, stored.summaryEntry.Labels)
	for i := range r.ChangedSessions {
		r.ChangedSessions[i].Project = sum.Project
	}
	return append(ops, stored.summaryUpdateOps(sum, turns)...), r, true
}

// removalOps returns the operations that remove the entries. It skips an entry of version 0, which does not exist.
func removalOps(entries []oxbow.Entry) (ops []oxbow.Op) {
	for _, e := range entries {
		if e.Version != 0 {
			ops = append(ops, oxbow.Remove{Name: e.Name, If: e.Version})
		}
	}
	return ops
}

// uniqueTurnKey returns a key that distinguishes a turn from all other turns in its session.
func (t *Turn) uniqueTurnKey() string {
	return cmp.Or(t.PromptID, t.StartTime.Format(time.RFC3339Nano))
}

// summaryUpdateOps returns the operations that update two things of the session: the summary entry, and the entries
// with hashes of the turns' identifiers.
func (k *storedSession) summaryUpdateOps(s Summary, turns []Turn) []oxbow.Op {
	b, _ := json.Marshal(&s) // Ignore the error: texts, numbers and valid times can always be encoded.
	labels := appendLabel(nil, "client", s.Client)
	labels = appendLabel(labels, oxbow.LabelProject, s.Project)
	ops := k.hashPageUpdateOps(turns, labels)
	labels = appendLabel(labels, turnCountLabelKey, fmt.Sprint(s.TurnCount))
	if k.summaryEntry.Version == 0 {
		return append(
			ops,
			oxbow.Add{
				Name:    k.key.summaryName(),
				Kind:    oxbow.History,
				Content: string(b),
				Labels:  labels,
				Created: s.StartTime,
			},
		)
	}
	return append(
		ops,
		oxbow.Update{Name: k.key.summaryName(), Content: string(b), Labels: labels, If: k.summaryEntry.Version},
	)
}

// computeNewSummary returns the session's new summary. The list turns contains the new versions of all loaded turns,
// which are the last turns of the session.
//
// ok is false if the time of the session's last activity is unknown. This happens if the old versions of the loaded
// turns contained the last activity, and the new versions contain only earlier activities. The last activity may then
// be in a turn that was not loaded. The caller must load all turns and call computeNewSummary again.
func (k *storedSession) computeNewSummary(turns []Turn) (s Summary, ok bool) {
	s = Summary{Client: k.key.client, Session: k.key.session, TurnCount: k.firstLoadedTurnNumber - 1 + len(turns)}
	if k.firstLoadedTurnNumber > 1 {
		s.StartTime = k.oldSummary.StartTime
	}
	for i := range k.firstTurns {
		s.addTurn(&k.firstTurns[i])
	}
	for i := range turns {
		s.addTurn(&turns[i])
	}
	var was Summary
	for i := range k.parsedTurns {
		was.addTurn(&k.parsedTurns[i])
	}
	if k.firstLoadedTurnNumber == 1 || !s.LastTime.Before(k.oldSummary.LastTime) {
		return s, true
	}
	s.LastTime = k.oldSummary.LastTime // The session's last activity was in a turn before the loaded turns.
	return s, was.LastTime.Before(k.oldSummary.LastTime)
}

// addTurn adds a turn to the summary. Turns must be added in the order of time.
func (s *Summary) addTurn(t *Turn) {
	if s.StartTime.IsZero() {
		s.StartTime = t.StartTime
	}
	if t.EndTime.After(s.LastTime) {
		s.LastTime = t.EndTime
	}
	if s.FirstPrompt == "" {
		s.FirstPrompt = cutTextAndNoteSize(toShortLine(t.Prompt(), 300), 300)
	}
	if s.Title == "" {
		s.Title = cutTextAndNoteSize(toShortLine(t.title(), 300), 300)
	}
	if s.Dir == "" {
		s.Dir, s.Branch = t.Dir(), t.Branch()
	}
}

// Summary contains the facts that the archive stores about a session besides its turns.
type Summary struct {
	Client      string    `json:"client"`
	Session     string    `json:"session"`
	Project     string    `json:"project,omitempty"`
	Dir         string    `json:"dir,omitempty"`
	Branch      string    `json:"branch,omitempty"`
	StartTime   time.Time `json:"start,omitzero"`
	LastTime    time.Time `json:"last,omitzero"`
	TurnCount   int       `json:"turns"`
	FirstPrompt string    `json:"prompt,omitempty"` // beginning of the session's first prompt
	Title       string    `json:"title,omitempty"`  // title of the session, if the client has one
}

// DisplayTitle returns the session's title or, for a session without a title, the beginning of its first prompt.
func (s *Summary) DisplayTitle() string { return cmp.Or(s.Title, s.FirstPrompt) }

// turnCountLabelKey is the key of a label that marks the sessions' summary entries. The label's value is the number of
// turns.
const turnCountLabelKey = "turns"
