// This file stores turns as entries of a memory.
//
// A turn is an entry named CLIENT/SESSION/0001, numbered in order of time. The entry CLIENT/SESSION
// contains the summary of the session. Every change to a session updates the summary. If two
// writers add to it concurrently, one fails with a conflict and retries. The entries
// CLIENT/SESSION/ids/0001 list hashes of the names and identifiers in each turn, and an entry
// cursor/… contains the position up to which a transcript was read.

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

// Archive stores turns. It is safe for concurrent use if the functions in its fields are.
type Archive struct {
	Memory *oxbow.Memory

	// Project returns the name and the root directory of the project that contains dir, or "" if
	// they are not known. A name without a root is a guess. Project may be nil.
	Project func(dir string) (name, root string)

	// Commits returns the commit that was checked out in dir at the time from, and the commits made
	// there up to the time to. It returns nil if the commits are unknown. Commits may be nil.
	Commits func(dir string, from, to time.Time) []string

	// Redact removes secrets from a text. If it is set, the archive also removes the fenced blocks
	// that hooks insert. Redact may be nil.
	Redact func(string) string

	// Prints finds texts that repeat text by others. It may be nil.
	Prints *fingerprint.File

	// Label returns labels of a turn in addition to the labels made from its events. Its result
	// must depend only on the turn. Label may be nil.
	Label func(t *Turn) []oxbow.Label
}

// Report counts the events and turns that were added to an archive.
type Report struct {
	Events  int `json:"events"`            // events that were read
	Bad     int `json:"bad,omitempty"`     // lines and events that were not valid
	Turns   int `json:"turns"`             // new turns
	Changed int `json:"changed,omitempty"` // existing turns that changed

	Sessions []ChangedSession `json:"-"` // sessions with new or changed turns
}

// ChangedSession is a session with new or changed turns.
type ChangedSession struct {
	Client, Session, Project string

	From int // number of the first new or changed turn
}

func (r *Report) add(o Report) {
	r.Events = r.Events + o.Events
	r.Bad = r.Bad + o.Bad
	r.Turns = r.Turns + o.Turns
	r.Changed = r.Changed + o.Changed
	for _, t := range o.Sessions {
		i := slices.IndexFunc(r.Sessions, func(u ChangedSession) bool {
			return u.Client == t.Client && u.Session == t.Session
		})
		if i < 0 {
			r.Sessions = append(r.Sessions, t)
			continue
		}
		t.From = min(t.From, r.Sessions[i].From)
		r.Sessions[i] = t
	}
}

// name returns the name of the session's summary entry.
func (t talk) name() string { return namePart(t.client) + "/" + namePart(t.session) }

func (t talk) turn(n int) string { return fmt.Sprintf("%s/%04d", t.name(), n) }

// namePart returns an identifier as a part of an entry name. An identifier that contains a slash or
// is longer than 100 bytes is changed and gets a hash as its suffix.
func namePart(s string) string {
	part := strings.ReplaceAll(s, "/", "_")
	if part != s || len(part) > 100 {
		sum := sha256.Sum256([]byte(s))
		part = short(part, 100) + "-" + hex.EncodeToString(sum[:6])
	}
	return part
}

// Add adds events to the archive. Events that it already contains change nothing.
func (a *Archive) Add(ctx context.Context, events []Event) (Report, error) {
	return a.add(ctx, events, nil)
}

// A Reader reads a client's transcript after a cursor. The cursor is "" at the start of the
// transcript. A call reads only complete lines and at most some megabytes. It returns the cursor
// for the next call. If everything has been read, this equals the given cursor.
type Reader func(ctx context.Context, client, path, cursor string) (events []Event, next string, err error)

// cursor is the content of an entry that stores how far a transcript was read.
type cursor struct {
	Client string `json:"client"`
	Path   string `json:"path"`
	Cursor string `json:"cursor"`
}

// Import adds the unread part of a transcript to the archive.
func (a *Archive) Import(ctx context.Context, client, path string, read Reader) (r Report, err error) {
	sum := sha256.Sum256([]byte(client + "\x00" + path))
	name := "cursor/" + hex.EncodeToString(sum[:12])
	for {
		at := cursor{Client: client, Path: path}
		e, err := a.get(ctx, name)
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
		one, err := a.add(ctx, events, func() (oxbow.Op, error) {
			now, err := a.get(ctx, name)
			switch {
			case err != nil || next == from || now.Content == string(b):
				return nil, err
			case now.Version == 0:
				return oxbow.Add{Name: name, Content: string(b), Labels: appendLabel(nil, "cursor", client)}, nil
			}
			return oxbow.Update{Name: name, Content: string(b), Labels: now.Labels, If: now.Version}, nil
		})
		r.add(one)
		if err != nil || next == from {
			return r, err
		}
	}
}

// addBytes is the approximate number of content bytes after which a batch is committed.
const addBytes = 512 << 10

// addition collects changes of several sessions in batches that are each committed at once.
type addition struct {
	*Archive
	events map[talk][]Event
	batch  []talk // sessions whose changes are in ops
	ops    []oxbow.Op
	size   int
	sum    Report // report for the batch
	done   Report
}

// add is like Add, and finally commits the operation that finalOp returns. If finalOp is nil or
// returns a nil operation, add ends without a final commit. After a conflict, add calls finalOp
// again.
func (a *Archive) add(ctx context.Context, events []Event, finalOp func() (oxbow.Op, error)) (Report, error) {
	add := addition{Archive: a, events: map[talk][]Event{}, done: Report{Events: len(events)}}
	events = slices.Clone(events)
	for i := range events {
		events[i] = archivedForm(events[i], a.Redact)
	}
	findRepeats(a.Prints, events)
	for _, e := range events {
		if !e.isArchivable() {
			add.done.Bad++
			continue
		}
		t := talk{e.Client, e.Session}
		add.events[t] = append(add.events[t], e)
	}
	for _, t := range slices.SortedFunc(maps.Keys(add.events), func(a, b talk) int {
		return strings.Compare(a.name(), b.name())
	}) {
		ops, r, err := a.plan(ctx, t, add.events[t])
		if err != nil {
			return add.done, err
		}
		add.batch, add.ops = append(add.batch, t), append(add.ops, ops...)
		add.size += contentSize(ops)
		add.sum.add(r)
		if add.size < addBytes {
			continue
		}
		if err := add.flush(ctx); err != nil {
			return add.done, err
		}
	}
	if err := add.flush(ctx); err != nil || finalOp == nil {
		return add.done, err
	}
	return add.done, a.commitFinal(ctx, finalOp)
}

// isArchivable reports whether the archive can store the event.
func (e *Event) isArchivable() bool { return e.isValid() && e.Kind != cutKind }

// isValid reports whether the event names its client, its session and its kind.
func (e *Event) isValid() bool { return e.Client != "" && ValidID(e.Session) && e.Kind != "" }

// commitFinal commits the operation that finalOp returns, unless the operation is nil. After a conflict, it calls
// finalOp again.
func (a *Archive) commitFinal(ctx context.Context, finalOp func() (oxbow.Op, error)) error {
	for {
		op, err := finalOp()
		if err != nil || op == nil {
			return err
		}
		err = a.Memory.Apply(ctx, op)
		if !again(err) {
			return err
		}
	}
}

// flush commits the batch. If another process changed a session meanwhile, flush adds to each
// session separately.
func (a *addition) flush(ctx context.Context) error {
	var err error
	if len(a.ops) > 0 {
		err = a.Memory.Apply(ctx, a.ops...)
	}
	if again(err) {
		a.sum, err = Report{}, nil
		for _, t := range a.batch {
			r, err := a.addAlone(ctx, t, a.events[t])
			a.sum.add(r)
			if err != nil {
				return err
			}
		}
	}
	if err == nil {
		a.done.add(a.sum)
	}
	a.batch = nil
	a.ops = nil
	a.size = 0
	a.sum = Report{}
	return err
}

// addAlone adds to a single session, and retries as long as other processes change it first.
func (a *Archive) addAlone(ctx context.Context, t talk, events []Event) (Report, error) {
	for {
		ops, r, err := a.plan(ctx, t, events)
		if err != nil {
			return Report{}, err
		}
		if len(ops) == 0 {
			return r, nil
		}
		err = a.Memory.Apply(ctx, ops...)
		if !again(err) {
			return r, err
		}
	}
}

// again reports whether an error shows that another process changed the session first.
func again(err error) bool {
	return errors.Is(err, oxbow.ErrConflict) || errors.Is(err, oxbow.ErrExists) || errors.Is(err, oxbow.ErrNotFound)
}

// isOver reports whether the events belong to a session that ended before anything was said or
// done. Claude Code reports such a session's end for each of its commands, such as "claude
// plugin list".
func isOver(events []Event) bool {
	ended := false
	for _, e := range events {
		if e.Kind != Start && e.Kind != End {
			return false
		}
		ended = ended || e.Kind == End
	}
	return ended
}

// contentSize returns the number of bytes of the contents that the operations write.
func contentSize(ops []oxbow.Op) int {
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

// ApplyToTurn applies fn to a turn's texts, including texts that only its compressed part contains,
// and returns the new content. The bool reports whether the content belongs to a turn.
func ApplyToTurn(content string, fn func(string) string) (string, bool) {
	t, err := Parse(content)
	if err != nil {
		return content, false
	}
	for i, e := range t.reports {
		t.reports[i] = archivedForm(e, fn)
	}
	slices.SortFunc(t.reports, compare)
	t.derive()
	return t.Content(), true
}

// moved is the maximum difference between the times of an entry and its turn. The creation time of
// an entry cannot change, so an entry with a larger difference is removed and added again.
const moved = 5 * time.Minute

// hasSource reports whether all events are prompts of a list, and the archive has turns of the session that a
// transcript or hooks reported. Only such turns have an ID.
func (a *Archive) hasSource(ctx context.Context, t talk, events []Event) (bool, error) {
	if slices.ContainsFunc(events, func(e Event) bool { return !e.IsListed }) {
		return false, nil
	}
	k, err := a.load(ctx, t)
	return slices.ContainsFunc(k.all, func(t Turn) bool { return t.ID != "" }), err
}

// plan returns the operations that add the events to a stored session. If the last turns are
// enough, it reads only these, otherwise the whole session.
func (a *Archive) plan(ctx context.Context, t talk, events []Event) ([]oxbow.Op, Report, error) {
	isKnown, err := a.hasSource(ctx, t, events)
	if isKnown || err != nil {
		return nil, Report{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, Report{}, err
	}
	k, enough, err := a.loadEnd(ctx, t, events)
	if err != nil {
		return nil, Report{}, err
	}
	if k.sum.Turns == 0 && isOver(events) {
		return nil, Report{}, nil
	}
	if enough {
		if ops, r, ok := a.turnOps(&k, events); ok {
			return ops, r, nil
		}
	}
	k, err = a.load(ctx, t)
	if err != nil {
		return nil, Report{}, err
	}
	ops, r, _ := a.turnOps(&k, events)
	return ops, r, nil
}

// turnOps returns the operations that add the events to the loaded session. It returns false if the
// loaded turns do not suffice.
func (a *Archive) turnOps(k *storedSession, events []Event) (ops []oxbow.Op, r Report, ok bool) {
	events = slices.Clone(events)
	given := map[string][]oxbow.Label{} // existing labels by turn identity
	for _, t := range k.all {
		events = append(events, t.SourceEvents()...)
		given[t.identity()] = k.turns[t.N-k.first].Labels
	}
	turns, early := k.talk.fold(events, k.first)
	sum, ok := k.summary(turns)
	dependsOnEarlier := early || !ok
	if dependsOnEarlier && k.first > 1 {
		return nil, r, false
	}
	for i, t := range turns {
		var old oxbow.Entry
		if i < len(k.turns) {
			old = k.turns[i]
		}
		content := t.Content()
		if content == old.Content && old.Version != 0 {
			continue
		}
		labels := a.turnLabels(&t, given[t.identity()])
		if len(ops) == 0 {
			r.Sessions = []ChangedSession{{Client: t.Client, Session: t.Session, From: t.N}}
		}
		switch {
		case old.Version == 0:
			r.Turns++
			ops = append(
				ops,
				oxbow.Add{Name: k.talk.turn(t.N), Kind: oxbow.History, Content: content, Labels: labels,
					Created: t.Start},
			)
		case old.Created.Sub(t.Start).Abs() > moved && !t.Start.IsZero():
			r.Changed++
			ops = append(ops, oxbow.Remove{Name: old.Name, If: old.Version},
				oxbow.Add{Name: old.Name, Kind: oxbow.History, Content: content, Labels: labels, Created: t.Start})
		default:
			r.Changed++
			ops = append(ops, oxbow.Update{Name: old.Name, Content: content, Labels: labels, If: old.Version})
		}
	}
	// two turns became one, so that entries remain
	ops = append(ops, removalOps(k.turns[min(len(turns), len(k.turns)):])...)
	if len(ops) == 0 {
		return nil, r, true
	}
	sum.Project, _ = a.project(sum.Dir, k.head.Labels)
	for i := range r.Sessions {
		r.Sessions[i].Project = sum.Project
	}
	return append(ops, k.headOps(sum, turns)...), r, true
}

// removalOps returns the operations that remove the entries that exist (version > 0).
func removalOps(es []oxbow.Entry) (ops []oxbow.Op) {
	for _, e := range es {
		if e.Version != 0 {
			ops = append(ops, oxbow.Remove{Name: e.Name, If: e.Version})
		}
	}
	return ops
}

// identity distinguishes a turn from its session's other turns.
func (t *Turn) identity() string { return cmp.Or(t.ID, t.Start.Format(time.RFC3339Nano)) }

// headOps returns the operations that update the pages and the summary entry of a session.
func (k *storedSession) headOps(s Summary, turns []Turn) []oxbow.Op {
	b, _ := json.Marshal(&s) // cannot fail: texts, numbers and valid times
	labels := appendLabel(nil, "client", s.Client)
	labels = appendLabel(labels, oxbow.LabelProject, s.Project)
	ops := k.pageOps(turns, labels)
	labels = appendLabel(labels, summaryLabel, fmt.Sprint(s.Turns))
	if k.head.Version == 0 {
		return append(
			ops,
			oxbow.Add{Name: k.talk.name(), Kind: oxbow.History, Content: string(b), Labels: labels, Created: s.Start},
		)
	}
	return append(ops, oxbow.Update{Name: k.talk.name(), Content: string(b), Labels: labels, If: k.head.Version})
}

// summary returns the summary of the session after turns replace the loaded turns. It returns false
// if the summary depends on earlier turns that are not loaded.
func (k *storedSession) summary(turns []Turn) (s Summary, ok bool) {
	s = Summary{Client: k.talk.client, Session: k.talk.session, Turns: k.first - 1 + len(turns)}
	if k.first > 1 {
		s.Start = k.sum.Start
	}
	for i := range k.lead {
		s.add(&k.lead[i])
	}
	for i := range turns {
		s.add(&turns[i])
	}
	var was Summary
	for i := range k.all {
		was.add(&k.all[i])
	}
	if k.first == 1 || !s.Last.Before(k.sum.Last) {
		return s, true
	}
	s.Last = k.sum.Last // from an earlier turn
	return s, was.Last.Before(k.sum.Last)
}

// add adds a turn that is later than all turns added before.
func (s *Summary) add(t *Turn) {
	if s.Start.IsZero() {
		s.Start = t.Start
	}
	if t.End.After(s.Last) {
		s.Last = t.End
	}
	if s.Prompt == "" {
		s.Prompt = cutMarked(short(t.Prompt(), 300), 300)
	}
	if s.Dir == "" {
		s.Dir, s.Branch = t.Dir(), t.Branch()
	}
}

// Summary summarizes a session.
type Summary struct {
	Client  string    `json:"client"`
	Session string    `json:"session"`
	Project string    `json:"project,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	Branch  string    `json:"branch,omitempty"`
	Start   time.Time `json:"start,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Turns   int       `json:"turns"`
	Prompt  string    `json:"prompt,omitempty"` // first prompt, shortened
}

// summaryLabel marks summary entries of sessions. Its value is the number of turns.
const summaryLabel = "turns"
