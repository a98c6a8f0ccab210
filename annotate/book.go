// This file holds the book: the sidecars of one working tree, and how they are
// written.

package annotate

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/git"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DefaultLockWait is how long an append waits for another process.
const DefaultLockWait = 5 * time.Second

// Options change how a book is opened. Nil and zero fields mean the default.
type Options struct {
	// Dir holds the sidecars, slash-separated, below the root of the tree:
	// [DefaultDir], or .cr/annotations as CodeRhapsody has it.
	Dir string

	// History is what git knows of the tree. Nil means that there is no git:
	// annotations are then placed by their text alone.
	History History

	Clock    func() time.Time // stamps records without a time; time.Now by default
	LockWait time.Duration    // bounds the wait for other writers; [DefaultLockWait] by default
}

// History is what git knows of a working tree. Its methods are safe for
// concurrent use.
type History interface {
	// Head returns the commit of HEAD in hex, and "" before the first.
	Head(ctx context.Context) (string, error)

	// Blobs returns the contents of those objects that are there and are
	// blobs, by name.
	Blobs(ctx context.Context, names []string) (map[string][]byte, error)

	// At returns the name of the blob that the path leads to in a commit, and
	// "" when there is none.
	At(ctx context.Context, commit, file string) (string, error)

	// Names returns what the file of HEAD was called before, or copied from,
	// newest first, without its name of now.
	Names(ctx context.Context, file string) ([]string, error)

	// Steps returns the blobs that the file went through from the commit,
	// which is not counted, to HEAD, oldest first, through renames.
	Steps(ctx context.Context, commit, file string) ([]string, error)

	// Successors returns what a file that HEAD does not have was renamed to,
	// and that in turn, newest last, and whether it was ever deleted or
	// renamed. None of the names need be in HEAD.
	Successors(ctx context.Context, file string) (names []string, was bool, err error)

	// Around returns the blobs that the path led to in the last commit that
	// changed it before that time, and in the first that did so from then on,
	// in the history of HEAD; "" for none.
	Around(ctx context.Context, file string, t time.Time) (before, after string, err error)

	// SHA256 reports whether objects are named by SHA-256 and not by SHA-1.
	SHA256() bool
}

// Book is the annotations of one working tree. It is safe for concurrent use,
// and several processes may have books of one tree open.
type Store struct {
	work vfs.FS
	dir  string
	hist History
	opts Options
	shut func() error
	root string    // of the tree, by the operating system; "" when it is not known
	repo *git.Repo // nil when there is none
	bare error     // says that the root is a repository without a working tree

	mu     sync.Mutex          // guards all below
	cards  map[string]*card    // by path of the sidecar
	places map[string]*placed  // by file
	called map[string][]string // former names, by HEAD and file

	lineages map[string]*lineage // by file
}

// Open opens the book of the tree whose root is work. It reads and makes
// nothing yet.
func Open(work vfs.FS, o *Options) (*Store, error) {
	b := &Store{work: work}
	if o != nil {
		b.opts = *o
	}
	if b.opts.Dir == "" {
		b.opts.Dir = DefaultDir
	}
	if b.opts.Clock == nil {
		b.opts.Clock = time.Now
	}
	if b.opts.LockWait == 0 {
		b.opts.LockWait = DefaultLockWait
	}
	b.dir, b.hist = b.opts.Dir, b.opts.History
	if err := CheckFile(b.dir); err != nil {
		return nil, fmt.Errorf("opening annotations: %w", err)
	}
	b.forget()
	return b, nil
}

// forget drops what was read.
func (b *Store) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cards, b.places, b.called, b.lineages = map[string]*card{}, map[string]*placed{}, map[string][]string{}, map[string]*lineage{}
}

// Close lets go of what [OpenDir] opened.
func (b *Store) Close() error {
	if b.shut == nil {
		return nil
	}
	return b.shut()
}

// card is a sidecar that was read, and the state of the file then.
type card struct {
	size int64
	mod  time.Time
	data *sidecar
}

// maxSidecar is the most bytes of a sidecar that are read.
const maxSidecar = 256 << 20

var noSidecar = &sidecar{} // of a file without one; never changed

// read returns what the sidecar of that path below the book's directory holds;
// nothing when there is none, the same nothing each time. What it returns is shared and not to be changed.
func (b *Store) read(name string) (*sidecar, error) {
	full := path.Join(b.dir, name)
	fi, err := b.work.Stat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return noSidecar, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading annotations: %w", err)
	}
	b.mu.Lock()
	c := b.cards[name]
	b.mu.Unlock()
	if c != nil && c.size == fi.Size() && c.mod.Equal(fi.ModTime()) {
		return c.data, nil
	}
	data, err := vfs.ReadFile(b.work, full, maxSidecar)
	if errors.Is(err, fs.ErrNotExist) {
		return noSidecar, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading annotations: %w", err)
	}
	c = &card{size: int64(len(data)), mod: fi.ModTime(), data: parse(data)}
	b.mu.Lock()
	b.cards[name] = c
	b.mu.Unlock()
	return c.data, nil
}

// Records returns the annotations in the sidecar of a file, oldest first,
// archived ones too. They are as they were written; [Book.Lookup] says where
// they stand now.
func (b *Store) Records(_ context.Context, file string) ([]Record, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	s, err := b.read(sidecarOf(file))
	if err != nil {
		return nil, err
	}
	rs := make([]Record, len(s.records))
	for i, r := range s.records {
		rs[i] = *r
	}
	return rs, nil
}

// content returns the file of the working tree.
func (b *Store) content(file string) ([]byte, error) {
	if b.bare != nil {
		return nil, b.bare
	}
	data, err := vfs.ReadFile(b.work, file, MaxFile)
	if errors.Is(err, vfs.ErrTooLarge) {
		return nil, &oxbow.InvalidError{Field: "file", Value: file, Reason: fmt.Sprintf("is longer than %d MiB, too long to annotate", MaxFile>>20)}
	}
	return data, err
}

// isBinary goes by git's rule: a NUL among the first 8,000 bytes.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// Add keeps annotations, all of one file in one durable append, and returns
// them as kept, in their order, with what was left out filled in: see
// [Record]. One whose ID is there already is not written again (an archived
// one comes back). All are checked before anything is written. Errors match
// [oxbow.ErrInvalid], [oxbow.ErrBusy] or those of package io/fs.
func (b *Store) Add(ctx context.Context, records ...Record) ([]Record, error) {
	out := make([]Record, len(records))
	files := map[string][]int{}
	var order []string
	seen := map[string]*seenFile{}
	for i, r := range records {
		if err := b.complete(ctx, &r, seen); err != nil {
			return nil, err
		}
		if files[r.File] == nil {
			order = append(order, r.File)
		}
		files[r.File] = append(files[r.File], i)
		out[i] = r
	}
	for _, file := range order {
		rs := make([]*Record, 0, len(files[file]))
		for _, i := range files[file] {
			rs = append(rs, &out[i])
		}
		if err := b.append(ctx, sidecarOf(file), rs, nil); err != nil {
			return nil, fmt.Errorf("annotating %s: %w", file, err)
		}
	}
	return out, nil
}

// seenFile is a file that Add has read.
type seenFile struct {
	lines []string
	blob  string
	err   error
}

// complete fills in what the record leaves out.
func (b *Store) complete(ctx context.Context, r *Record, seen map[string]*seenFile) error {
	if err := r.check(); err != nil {
		return err
	}
	if strings.HasPrefix(r.File, b.dir+"/") {
		return &oxbow.InvalidError{Field: "file", Value: r.File, Reason: "is of the annotations themselves"}
	}
	if r.Block == nil {
		f := seen[r.File]
		if f == nil {
			f = b.look(r.File)
			seen[r.File] = f
		}
		if f.err != nil {
			return fmt.Errorf("annotating: %w", f.err)
		}
		if r.Span.Len() == 0 || r.Span.Last > len(f.lines) {
			return &oxbow.InvalidError{Field: "lines", Value: r.Span.String(), Reason: fmt.Sprintf("are not in %s, which has %d", r.File, len(f.lines))}
		}
		r.take(f.lines)
		if r.Blob == "" {
			r.Blob = f.blob
		}
		if r.Commit == "" && b.hist != nil {
			head, err := b.hist.Head(ctx)
			if err != nil {
				return fmt.Errorf("annotating: %w", err)
			}
			r.Commit = head
		}
	} else if r.Hash == "" {
		block := make([]string, len(r.Block))
		for i, l := range r.Block {
			block[i] = normalize(strings.TrimRight(l, "\r\n"))
		}
		r.SetBlock(block)
	}
	r.Before = trimContext(r.Before[max(0, len(r.Before)-Context):])
	r.After = trimContext(r.After[:min(len(r.After), Context)])
	if len(r.Scope) > 0 {
		r.Scope = trimContext(r.Scope[:min(len(r.Scope), maxScope)])
	}
	if s, ok := oxbow.SourceFrom(ctx); ok {
		if r.By == "" {
			r.By = s.Actor
		}
		if r.Session == "" {
			r.Session = s.Session
		}
		if r.Profile == "" {
			r.Profile = s.Profile
		}
		if r.Agent == "" {
			r.Agent = s.Claimed.Agent
		}
	}
	if r.Time.IsZero() {
		r.Time = b.opts.Clock()
	}
	r.Time = r.Time.UTC().Truncate(time.Millisecond)
	if r.ID == "" {
		r.ID = r.id()
	}
	return r.check()
}

func trimContext(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = normalize(strings.TrimRight(l, "\r\n"))
	}
	return out
}

func (b *Store) look(file string) *seenFile {
	data, err := b.content(file)
	if err != nil {
		return &seenFile{err: err}
	}
	if isBinary(data) {
		return &seenFile{err: &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}}
	}
	return &seenFile{lines: Lines(data), blob: blobName(data, b.hist != nil && b.hist.SHA256())}
}

// blobName returns git's name for a content: the hash of "blob", its length, a
// NUL, and itself.
func blobName(data []byte, sha2 bool) string {
	head := fmt.Appendf(nil, "blob %d\x00", len(data))
	if sha2 {
		h := sha256.New()
		h.Write(head)
		h.Write(data)
		return hex.EncodeToString(h.Sum(nil))
	}
	h := sha1.New()
	h.Write(head)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// append writes lines to the end of a sidecar, under the lock of the book: the
// records whose ID is not there yet, and the events.
func (b *Store) append(ctx context.Context, name string, records []*Record, events []event) (err error) {
	if err := b.makeDirs(path.Dir(path.Join(b.dir, name))); err != nil {
		return err
	}
	unlock, err := b.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	// Under the lock the file is read anew: what others have appended counts.
	have, err := b.read(name)
	if err != nil {
		return err
	}
	known := map[string]*Record{}
	for _, r := range have.records {
		known[r.ID] = r
	}
	var out []byte
	for _, r := range records {
		if old, ok := known[r.ID]; ok {
			if old.Archived {
				events = append(events, event{id: r.ID, back: true, time: b.opts.Clock()})
			}
			r.Archived, r.Time = false, old.Time
			continue
		}
		known[r.ID] = r
		if out, err = encode(out, r); err != nil {
			return err
		}
	}
	for _, e := range events {
		// An event counts only when it is later: a clock that was set back, or
		// that of another machine, must not make this one void.
		if was, ok := have.last[e.id]; ok && !e.time.After(was.time) {
			e.time = was.time.Add(time.Millisecond)
		}
		if out, err = e.encode(out); err != nil {
			return err
		}
	}
	if len(out) == 0 {
		return nil
	}
	return b.write(path.Join(b.dir, name), out)
}

// write appends to a file and makes it durable. What a failed write left is cut
// off again.
func (b *Store) write(full string, out []byte) (err error) {
	f, err := b.work.OpenFile(full, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	end := fi.Size()
	if end > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], end-1); err != nil {
			return err
		}
		if last[0] != '\n' { // torn, or from an editor that ends files without one
			out = append([]byte{'\n'}, out...)
		}
	}
	if end+int64(len(out)) > maxSidecar {
		return &oxbow.InvalidError{Field: "sidecar", Value: full, Reason: fmt.Sprintf("would be longer than %d MiB", maxSidecar>>20)}
	}
	if _, err = f.WriteAt(out, end); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(end))
	}
	if end == 0 {
		return b.work.SyncDir(path.Dir(full))
	}
	return nil
}

// ignored keeps what is not for git out of it.
const ignored = "# made by oxbow: the lock is of this machine only\n.lock\n*.tmp\n"

// makeDirs makes a directory below the book's own durably.
func (b *Store) makeDirs(dir string) error {
	if _, err := b.work.Stat(dir); err == nil {
		return nil
	}
	fresh := false
	if _, err := b.work.Stat(b.dir); errors.Is(err, fs.ErrNotExist) {
		fresh = true
	}
	if err := b.work.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if fresh {
		if err := vfs.WriteFile(b.work, path.Join(b.dir, ".gitignore"), []byte(ignored), 0o644); err != nil {
			return err
		}
	}
	for d := dir; d != "."; d = path.Dir(d) {
		if err := b.work.SyncDir(path.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

// lock takes the lock between writers and returns the call that lets go of it.
func (b *Store) lock(ctx context.Context) (func() error, error) {
	name := path.Join(b.dir, ".lock")
	l, err := b.work.OpenLock(name)
	if err != nil {
		return nil, err
	}
	start := time.Now() // of the wait only
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		ok, err := l.TryLock()
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		if ok {
			return l.Close, nil
		}
		if waited := time.Since(start); waited >= b.opts.LockWait {
			return nil, errors.Join(&oxbow.BusyError{Path: name, Waited: waited}, l.Close())
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, errors.Join(ctx.Err(), l.Close())
		case <-t.C:
		}
	}
}
