// Changes: they are staged on top of the state, the whole file is written, and
// only then they become visible and are acknowledged. Goroutines that write at
// the same time share one write.

package crmem

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// commitRequest is changes that wait to be committed.
type commitRequest struct {
	ctx  context.Context
	ops  []oxbow.Op
	done chan struct{} // closed when err is set
	err  error

	written []oxbow.Version // what the ops leave, as they were staged last
}

func (r *commitRequest) finish(err error) {
	r.err = err
	close(r.done)
}

func (r *commitRequest) finished() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// Apply implements [oxbow.Store]. See the package comment for what is refused.
func (s *Store) Apply(ctx context.Context, ops ...oxbow.Op) error {
	_, err := s.Commit(ctx, ops...)
	return err
}

// Commit implements [oxbow.Committer]. The change has no number.
func (s *Store) Commit(ctx context.Context, ops ...oxbow.Op) (oxbow.Change, error) {
	if len(ops) == 0 {
		return oxbow.Change{}, s.Refresh(ctx)
	}
	r := &commitRequest{ctx: ctx, ops: ops, done: make(chan struct{})}
	if err := s.commit(r); err != nil {
		return oxbow.Change{}, err
	}
	return oxbow.Change{Versions: r.written}, nil
}

// DryRun implements [oxbow.DryRunner].
func (s *Store) DryRun(ctx context.Context, ops ...oxbow.Op) error {
	if err := s.Refresh(ctx); err != nil {
		return err
	}
	s.mu.RLock()
	g := newStage(s.st, s.clock())
	s.mu.RUnlock()
	return g.request(&commitRequest{ops: ops})
}

// Checkpoint writes the whole file as it is, without a change; a file that does
// not exist is made.
func (s *Store) Checkpoint(ctx context.Context) error {
	return s.commit(&commitRequest{ctx: ctx, done: make(chan struct{})})
}

// commit makes a request durable. The goroutine that becomes the writer commits
// all waiting requests.
func (s *Store) commit(r *commitRequest) error {
	if err := s.ready(r.ctx); err != nil {
		return err
	}
	s.queued.Lock()
	s.queue = append(s.queue, r)
	s.queued.Unlock()
	select {
	case <-r.done:
		return r.err
	case s.writer <- struct{}{}:
		defer func() { <-s.writer }()
	}
	if r.finished() {
		return r.err
	}
	s.queued.Lock()
	batch := s.queue
	s.queue = nil
	s.queued.Unlock()

	err := s.locked(r.ctx, func() error { return s.commitAll(batch) })
	if r.ctx.Err() != nil && !r.finished() {
		// Only this caller gave up: the others are committed.
		r.finish(r.ctx.Err())
		s.queued.Lock()
		s.queue = append(slices.DeleteFunc(batch, (*commitRequest).finished), s.queue...)
		s.queued.Unlock()
		return r.err
	}
	for _, o := range batch {
		if !o.finished() {
			o.finish(err)
		}
	}
	return r.err
}

func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.ro {
		return fmt.Errorf("%w: %s was opened so", oxbow.ErrReadOnly, s.path)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	return nil
}

// locked runs fn with the lock between processes. The caller is the writer.
func (s *Store) locked(ctx context.Context, fn func() error) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return fmt.Errorf("writing %s: %w", s.path, err)
	}
	if err := s.acquire(ctx); err != nil {
		return err
	}
	err := fn()
	return errors.Join(err, s.lock.Unlock())
}

// prepare makes the directories above the file, and makes them durable: once,
// also where another process made them, which may not have got that far.
func (s *Store) prepare() error {
	dir := path.Dir(s.name)
	if s.cleaned || dir == "." {
		return nil
	}
	if err := s.fs.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for d := dir; d != "."; {
		d = path.Dir(d)
		if err := s.fs.SyncDir(d); err != nil {
			return err
		}
	}
	return nil
}

// errRaced says that a program that takes no lock has written meanwhile.
var errRaced = errors.New("was written by another program meanwhile")

// raceTries bounds how often a change is made again because a program that takes
// no lock was faster.
const raceTries = 20

// commitAll stages the requests, writes the file, and shows what was written. A
// request that cannot be applied does not hinder the others.
func (s *Store) commitAll(batch []*commitRequest) error {
	for range raceTries {
		if err := s.catchUp(); err != nil {
			return err
		}
		// Only a program that takes no lock can change the state now; staging
		// is repeated then.
		s.mu.RLock()
		st, seen := s.st, s.seen
		s.mu.RUnlock()
		g := newStage(st, s.clock())
		errs := make([]error, len(batch))
		write := false
		for i, r := range batch {
			if r.finished() {
				continue
			}
			errs[i] = g.request(r)
			if errs[i] == nil {
				write = true
			}
		}
		var err error
		if write {
			err = s.flush(g, seen)
			if errors.Is(err, errRaced) {
				continue
			}
		}
		for i, r := range batch {
			if !r.finished() {
				if errs[i] == nil {
					errs[i] = err
				}
				r.finish(errs[i])
			}
		}
		return nil
	}
	return fmt.Errorf("%w: another program, which takes no lock, writes %s over and over", oxbow.ErrBusy, s.path)
}

// request stages what is asked for, all of it or nothing.
func (g *batch) request(r *commitRequest) error {
	for _, op := range r.ops {
		if err := g.check(op); err != nil {
			return err
		}
	}
	written, err := g.apply(r.ops)
	r.written = written
	return err
}

// catchUp makes the state what the file says, with the lock held. A file that
// another program wrote is compared byte by byte, by its sum, with what was read
// of it: a program that overwrites a file in place and keeps its length may do so within
// one tick of the file's clock.
func (s *Store) catchUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	if s.seen.file != nil && !s.seen.own {
		if img, data, err := s.load(); err == nil {
			img.close()
			if sumOfFile(data) != s.seen.sum {
				s.seen.close()
				s.seen = image{} // read it again
			}
		}
	}
	return s.read()
}

// chunk is how much is encoded before it is written: little enough to stay in
// the processor's cache until the system has copied it.
const chunk = 128 << 10

// flush writes the whole file with the staged changes and, once it is durable,
// makes them the state. seen is the file that they are based on.
func (s *Store) flush(g *batch, seen image) (err error) {
	order := g.order()
	if uint64(len(order)) > 1<<32-1 {
		return unsupported("counts up to 4294967295 entries")
	}
	f, temp, err := s.createTemp(seen)
	if err != nil {
		return s.writeError(err)
	}
	img := image{file: f, own: true}
	renamed := false
	defer func() {
		if err != nil && !renamed {
			img.close()
			if rerr := s.fs.Remove(temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
				err = errors.Join(err, fmt.Errorf("removing the temporary file: %w", rerr))
			}
		}
	}()
	err = s.fill(f, g.nextID, order)
	if err != nil {
		return s.writeError(err)
	}
	img.info, err = f.Stat()
	if err != nil {
		return s.writeError(err)
	}
	switch info, err := s.fs.Stat(s.name); {
	case errors.Is(err, fs.ErrNotExist) && seen.file == nil:
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return s.writeError(err)
	case !seen.same(info):
		return errRaced
	}
	if err := s.fs.Rename(temp, s.name); err != nil {
		// The error may be wrong, as those of network file systems are.
		info, serr := s.fs.Stat(s.name)
		if serr != nil || !vfs.SameFile(info, img.info) {
			return s.writeError(err)
		}
	}
	renamed = true
	// From here on everybody sees the new file, so this store does, too.
	err = s.fs.SyncDir(path.Dir(s.name))
	s.show(g, order, img)
	if err != nil {
		return fmt.Errorf("%w: %s: making its name durable: %w", oxbow.ErrUnknownOutcome, s.path, err)
	}
	s.sweep()
	return nil
}

func (s *Store) writeError(err error) error {
	if vfs.IsFull(err) {
		return fmt.Errorf("%w: %s: nothing was changed: %w", oxbow.ErrFull, s.path, err)
	}
	return fmt.Errorf("writing %s: nothing was changed: %w", s.path, err)
}

// createTemp makes a temporary file as readable as the store is. Its name is not
// the RFC's NAME.tmp: a crabtalk that is running truncates that one.
func (s *Store) createTemp(seen image) (vfs.File, string, error) {
	perm := fs.FileMode(0o600)
	if seen.file != nil {
		perm = seen.info.Mode().Perm() | 0o200
	}
	return vfs.CreateTemp(s.fs, s.name, perm)
}

// fill writes and syncs the whole file.
func (s *Store) fill(f vfs.File, next uint64, order []*record) error {
	var at int64
	if s.buf == nil {
		s.buf = make([]byte, 0, chunk+chunk/4)
	}
	b := appendHeader(s.buf[:0], next, len(order))
	put := func() error {
		n, err := f.WriteAt(b, at)
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		at += int64(n)
		if cap(b) <= 4*chunk {
			s.buf = b
		}
		b = b[:0]
		return err
	}
	for _, r := range order {
		b = r.append(b)
		if len(b) >= chunk {
			if err := put(); err != nil {
				return err
			}
		}
	}
	if len(b) > 0 {
		if err := put(); err != nil {
			return err
		}
	}
	return f.Sync()
}

// sumOfFile is compared to tell whether a file's bytes are still the same.
func sumOfFile(data []byte) uint64 {
	return uint64(crc32.Checksum(data, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(data))
}

// show makes what was written the state, and sends the changes to the watchers.
func (s *Store) show(g *batch, order []*record, img image) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.close()
	s.seen, s.broken = img, nil
	next := &state{names: g.base.names, order: order, nextID: g.nextID}
	if s.st != g.base {
		// A reader has read what another program, which takes no lock, put in
		// place just before it was replaced.
		next.names = make(map[string]*record, len(order))
		for _, r := range order {
			next.names[r.Name] = r
		}
		s.replace(next)
		return
	}
	var deltas []oxbow.Delta
	for name, r := range g.staged {
		before := next.names[name]
		if before != nil && (r == nil || r.ID != before.ID) {
			deltas = append(deltas, oxbow.Delta{ID: before.ID})
		}
		if r == nil {
			delete(next.names, name)
			continue
		}
		e := r.entry()
		deltas = append(deltas, oxbow.Delta{ID: r.ID, Entry: &e})
		next.names[name] = r
	}
	s.st = next
	if len(deltas) > 0 {
		slices.SortFunc(deltas, func(a, b oxbow.Delta) int { return cmp.Compare(a.ID, b.ID) })
		s.watchers.Send(oxbow.Event{Changes: deltas})
	}
}

var tempName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.[0-9a-f]{16}\.tmp$`) })

// sweep removes, once, what writers left that crashed: with the lock held, no
// other one is at work.
func (s *Store) sweep() {
	if s.cleaned {
		return
	}
	s.cleaned = true
	for _, name := range s.temps() {
		_ = s.fs.Remove(path.Join(path.Dir(s.name), name))
	}
}

// temps returns the names of this package's temporary files next to the store.
func (s *Store) temps() []string {
	es, err := s.fs.ReadDir(path.Dir(s.name))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range es {
		if rest, ok := strings.CutPrefix(e.Name(), path.Base(s.name)); ok && tempName().MatchString(rest) {
			names = append(names, e.Name())
		}
	}
	return names
}
