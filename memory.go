// Memory: a store and an index over it.

package oxbow

import (
	"context"
	"crypto/rand"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DefaultLockWait is how long a change waits for another process to finish its
// own before it fails with [ErrBusy].
const DefaultLockWait = 5 * time.Second

// Options change how a memory is opened. Nil and zero fields mean the default.
type Options struct {
	// FS holds the store's files. Nil means the operating system's, and then
	// the path given to Open is the operating system's too; otherwise it is a
	// slash-separated path inside FS.
	FS vfs.FS

	// Clock gives the time that changes are stamped with, time.Now by
	// default; it may be asked by several goroutines at once. No decision is
	// made by it, but ages are counted to it where [Query.Recency] has no time
	// of its own.
	Clock func() time.Time

	// Rand gives the random bytes of a store's identity, crypto/rand by
	// default.
	Rand io.Reader

	// Source is stamped on changes whose context carries none.
	Source Source

	// LockWait bounds the wait for other writers; [DefaultLockWait] by
	// default.
	LockWait time.Duration

	// SealAfter is how long after the last change a seal is written behind it,
	// which makes damage to that change provable later; 0 leaves it to Close.
	// For programs that stay open for long. The seal is not synced and costs
	// one small write.
	SealAfter time.Duration

	// Ranking is how recall ranks unless a [Query] says otherwise:
	// [RankOxbow] by default, or [RankSeed].
	Ranking string

	// ReadOnly refuses every change and takes no lock.
	ReadOnly bool

	// KeepIndex lets a memory that is ReadOnly write the index file all the
	// same ([IndexSuffix]), so that the next process need not make the index
	// again. Memories that are not ReadOnly always do.
	KeepIndex bool

	// freeStep and freeReserve are the sizes of the log's free space, in bytes;
	// 0 is the default. Tests set them, to make small files.
	freeStep, freeReserve int64
	snapshotLeast         int64 // changes that make a snapshot worth writing; tests set another
}

func (o *Options) orDefault() Options {
	var r Options
	if o != nil {
		r = *o
	}
	if r.Clock == nil {
		r.Clock = time.Now
	}
	if r.Rand == nil {
		r.Rand = rand.Reader
	}
	if r.LockWait == 0 {
		r.LockWait = DefaultLockWait
	}
	if r.Ranking == "" {
		r.Ranking = RankOxbow
	}
	if r.Source.Door == "" {
		r.Source.Door = "library"
	}
	return r
}

// Memory is a Store and an index over it: it remembers, recalls and forgets.
// It is itself a [Store], and a [Historian] when the store below is one: its
// methods for history then work, else they fail with [ErrUnsupported]. It is
// safe for concurrent use.
type Memory struct {
	store Store
	opts  Options

	buildMu  ctxMutex // held while the index is built
	applying ctxMutex // held while changes are applied to it, or a ranking is added
	scanFrom int      // see the constant; tests set another

	pending pending // what changed and is not in the index yet

	searcher atomic.Pointer[searcher] // nil until the first recall, and after a reset; set with mu held
	scanned  atomic.Pointer[scanned]  // for the next question, if it is about the same terms; nil for none

	mu       sync.Mutex // guards the following
	building bool       // a searcher is being built
	resets   int        // times that the store was replaced
	hadScan  bool       // the next question builds the index
	distrust bool       // the index file was damaged: it is not read again
}

// Open opens the memory in the file of that path, which by custom ends in
// .oxbow. A missing file is an empty memory; the first change makes it, and
// the directories above it. Errors match [ErrCorrupt], [ErrVersion],
// [ErrNotStore] or those of package io/fs.
func Open(path string, o *Options) (*Memory, error) {
	opts := o.orDefault()
	if err := checkRanking(opts.Ranking); err != nil {
		return nil, err
	}
	fsys, name := opts.FS, path
	if fsys == nil {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		name = filepath.Base(abs)
		fsys, err = openDir(filepath.Dir(abs), opts.ReadOnly)
		if err != nil {
			return nil, err
		}
	}
	db, err := openDB(fsys, name, path, opts)
	if err != nil {
		return nil, err
	}
	return newMemory(db, opts), nil
}

// New returns a memory over any store. Closing the memory closes the store.
func New(s Store, o *Options) *Memory { return newMemory(s, o.orDefault()) }

func newMemory(s Store, opts Options) *Memory {
	m := &Memory{store: s, opts: opts, scanFrom: scanFrom, buildMu: newCtxMutex(), applying: newCtxMutex()}
	if w, ok := s.(Watcher); ok {
		w.Watch(m.changed)
	}
	return m
}

// Store returns the store below the memory.
func (m *Memory) Store() Store { return m.store }

// Options returns the options of the memory, with the defaults filled in.
func (m *Memory) Options() Options { return m.opts }

// Get returns the entry of that name or, when there is none, the one entry
// that has it as an alias. Errors match [ErrNotFound].
func (m *Memory) Get(ctx context.Context, name string) (Entry, error) {
	e, err := m.store.Get(ctx, name)
	if !isNotFound(err) {
		return e, err
	}
	var found []Entry
	for e, err := range m.store.Entries(ctx, Filter{Terms: []Term{{Key: "name", Values: []string{name}}}}) {
		if err != nil {
			return Entry{}, err
		}
		found = append(found, e)
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		err = &AliasError{Alias: name, Names: []string{found[0].Name, found[1].Name}}
	}
	return Entry{}, err
}

// Entries yields the selected entries in order of ID.
func (m *Memory) Entries(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return m.store.Entries(ctx, f)
}

// Apply makes all the changes durable, or none of them.
func (m *Memory) Apply(ctx context.Context, ops ...Op) error {
	err := m.store.Apply(ctx, ops...)
	switch _, ok := m.store.(Watcher); {
	case ok:
		m.applyOwn(ctx)
	case err == nil:
		m.changed(Event{Reset: true})
	}
	return err
}

// Close closes the store below. When the index holds much that the file beside
// the store ([IndexSuffix]) lacks, that is written first.
func (m *Memory) Close() error {
	m.keepIndex()
	err := m.store.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.setSearcher(nil)
	return err
}

// Remember writes e under its name and returns it as stored. A new name is
// added; an entry of that name is updated, and what e leaves nil (aliases,
// labels) stays as it was. Without a name, one is made from the first line of
// the content. The kind of an existing entry cannot change, and a new alias that
// another entry has is an [AliasTakenError].
//
// When e.Version is not 0, the entry must be at that version, else the error
// matches [ErrConflict]. ID, Updated and Source are ignored; Created counts for
// a new entry only. What comes back is at Version 0 when it was remembered but
// could not be read back, as when another process has forgotten it since.
func (m *Memory) Remember(ctx context.Context, e Entry) (Entry, error) {
	if strings.TrimSpace(e.Content) == "" {
		return Entry{}, &InvalidError{Field: "content", Reason: "is empty; say what to remember"}
	}
	if e.Name == "" {
		e.Name = DeriveName(e.Content)
	}
	var old Entry
	err := m.Edit(ctx, e.Name, func(now Entry, found bool) (Op, error) {
		old = now
		if !found {
			if e.Version != 0 {
				return nil, &ConflictError{Name: e.Name, Want: e.Version}
			}
			return Add{Name: e.Name, Kind: e.Kind, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, Created: e.Created, UniqueAliases: true}, nil
		}
		return e.over(old)
	})
	if err != nil {
		return Entry{}, err
	}
	if now, err := m.store.Get(ctx, e.Name); err == nil {
		return now, nil
	}
	// It was remembered. That it cannot be read back, most often because another
	// process has forgotten it since, is no failure of this call.
	e.ID, e.Version, e.Labels = old.ID, 0, SortLabels(e.Labels)
	return e, nil
}

// over returns the change of old to e; what e leaves nil stays as it was.
func (e Entry) over(old Entry) (Op, error) {
	if e.Kind != old.Kind && e.Kind != Note {
		return nil, &InvalidError{Field: "kind", Value: e.Kind.String(),
			Reason: "cannot be given to entry \"" + e.Name + "\", which is of kind " + old.Kind.String() + "; forget it first, or choose another name"}
	}
	u := Update{Name: e.Name, Content: e.Content, Aliases: e.Aliases, Labels: e.Labels, If: old.Version, UniqueAliases: true}
	if e.Version != 0 {
		u.If = e.Version
	}
	if e.Aliases == nil {
		u.Aliases = old.Aliases
	}
	if e.Labels == nil {
		u.Labels = old.Labels
	}
	return u, nil
}

// Edit changes the entry of that name, and no alias, by the operation that edit
// returns for it; found is false where there is none, and a nil operation
// changes nothing. When another writer was first, edit is called again with
// what the entry is then, except after an [Update] of another version than it
// was given: that is the caller's own condition.
func (m *Memory) Edit(ctx context.Context, name string, edit func(old Entry, found bool) (Op, error)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		old, err := m.store.Get(ctx, name)
		if err != nil && !isNotFound(err) {
			return err
		}
		op, err := edit(old, err == nil)
		if err != nil || op == nil {
			return err
		}
		err = m.Apply(ctx, op)
		u, ok := op.(Update)
		if own := ok && u.If != old.Version; own || !isConflict(err) && !isExists(err) && !isNotFound(err) {
			return err
		}
	}
}

// Forget removes the entry of that name. Errors match [ErrNotFound].
func (m *Memory) Forget(ctx context.Context, name string) error {
	return m.Apply(ctx, Remove{Name: name})
}

// DeriveName makes a name from the first line of a text that has words: without
// Markdown marks, at most 60 bytes, cut between words. The name of a text
// without words is "note". A content that [CheckContent] accepts gives a name
// that [CheckName] accepts.
func DeriveName(content string) string {
	content = strings.TrimPrefix(content, "\ufeff") // byte order mark
	for line := range strings.Lines(content) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#>*-+ \t")
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }), " ")
		line = strings.TrimSpace(strings.Trim(line, "*_`"))
		if line == "" {
			continue
		}
		if len(line) <= 60 {
			return line
		}
		cut := strings.TrimSuffix(text.Clip(line, 60), "…")
		if i := strings.LastIndexByte(cut, ' '); i > 20 {
			cut = cut[:i]
		}
		return strings.TrimSpace(cut)
	}
	return "note"
}
