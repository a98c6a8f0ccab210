// This file finds out what others changed: by what the system tells, where it
// does so exactly, and else by looking at every file.

package filetree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// maxFile is the most bytes of a file that are read.
	maxFile = 4*oxbow.MaxContent + 1<<20

	// doubtful is how long before it was read a file must have been changed,
	// so that a later change shows in its time. File systems count in steps
	// of up to 2 s.
	doubtful = 2 * time.Second

	// watchFrom is from how many files on a directory is watched. Looking at
	// fewer costs less than a notice for each write of one's own.
	watchFrom = 64
)

// directory is one of the layout's directories.
type directory struct {
	path  string
	veil  string      // what of the path is hidden, see veil
	info  fs.FileInfo // of the watched one, nil when it is not watched
	files int         // matched when it was listed last
	links []string    // those of them that are links, whose files nobody watches
	wrong string      // why it could not be listed, for saying so once
}

// stale is what must be looked at again in any case: files that a failed write
// may have changed.
func (s *Store) stale(paths ...string) {
	for _, p := range paths {
		s.again[p] = true
	}
}

// refresh brings the state up to the files. look is held. With whole, every
// file is read again, whatever its time says.
func (s *Store) refresh(ctx context.Context, whole bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &reader{s: s, whole: whole, next: map[string]*file{}}
	told, lost := s.notices()
	for _, d := range s.dirs {
		if err := s.lookAt(ctx, d, r, told, lost); err != nil {
			return err
		}
	}
	for p := range s.again {
		if _, done := r.next[p]; !done && s.mine(p) {
			r.read(p)
		}
	}
	clear(s.again)
	s.take(r.next, nil)
	return nil
}

// take puts files into the state and sends the changes to the watchers. With own, the changes
// are this store's.
func (s *Store) take(next map[string]*file, own *applied) {
	if len(next) == 0 {
		return
	}
	s.mu.Lock()
	touched := map[string]bool{}
	before := map[string]*oxbow.Entry{}
	paths := make([]string, 0, len(next))
	for p := range next {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var deltas []oxbow.Delta
	if len(s.st.files) == 0 && own == nil {
		deltas = s.st.fill(paths, next)
	} else {
		for _, p := range paths {
			s.st.put(p, next[p], touched)
		}
		for name := range touched {
			if c := s.st.names[name]; c != nil {
				before[name] = c.entry
			}
		}
		var reborn map[string]bool
		if own != nil {
			reborn = own.removed
		}
		deltas = s.st.settle(touched, reborn)
	}
	for name, e := range before {
		now := s.st.names[name]
		switch {
		case own != nil:
			delete(s.unseen, name)
		case now == nil || now.entry.Version != e.Version:
			if _, ok := s.unseen[name]; !ok {
				s.unseen[name] = e
			}
		}
	}
	s.mu.Unlock()
	if len(deltas) > 0 {
		s.watchers.Send(oxbow.Event{Changes: deltas})
	}
}

// notices returns what the system told since last time: files to read, and
// directories that are no longer watched.
func (s *Store) notices() (told map[string][]string, lost map[string]bool) {
	if s.notes == nil {
		return nil, nil
	}
	files, gone, err := s.notes.Changed()
	told, lost = map[string][]string{}, map[string]bool{}
	for _, d := range s.dirs {
		lost[d.path] = err != nil || slices.Contains(gone, d.path)
	}
	for _, p := range files {
		told[path.Dir(p)] = append(told[path.Dir(p)], p)
	}
	return told, lost
}

// lookAt finds the files of one directory that changed.
func (s *Store) lookAt(ctx context.Context, d *directory, r *reader, told map[string][]string, lost map[string]bool) error {
	if d.info != nil && !lost[d.path] && !r.whole {
		// The name may lead to another directory by now, which nobody watches.
		if now, err := s.fs.Stat(d.path); err == nil && vfs.SameFile(now, d.info) {
			for _, p := range told[d.path] {
				if s.mine(p) {
					r.read(p)
				}
			}
			for _, p := range d.links {
				old := s.st.files[p]
				now, err := s.fs.Stat(p)
				if err != nil && old == nil || err == nil && old != nil && !old.doubt && old.info != nil && same(now, old.info) {
					continue
				}
				r.read(p)
			}
			return nil
		}
	}
	d.info = nil
	if s.opened && d.files >= watchFrom {
		s.watchOver(d)
	}
	return s.list(ctx, d, r)
}

// watchOver begins to watch a directory, before it is listed, so that nothing
// falls between. Where that cannot be it is listed each time.
func (s *Store) watchOver(d *directory) {
	if s.notes == nil {
		w, ok := s.fs.(vfs.Watcher)
		if !ok || s.unwatched {
			return
		}
		notes, err := w.NewWatch()
		if err != nil {
			s.unwatched = true
			return
		}
		s.notes = notes
	}
	info, err := s.notes.Add(d.path)
	if err != nil {
		s.unwatched = s.unwatched || errors.Is(err, vfs.ErrUnsupported)
		return
	}
	d.info = info
}

// list looks at every file of a directory.
func (s *Store) list(ctx context.Context, d *directory, r *reader) error {
	entries, err := s.fs.ReadDir(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		entries = nil
	case err != nil && !s.opened:
		return fmt.Errorf("listing %s: %w", d.path, err)
	case err != nil:
		// What cannot be listed is not taken for removed.
		if why := err.Error(); d.wrong != why {
			d.wrong = why
			s.warn("%s cannot be listed, its files stay as they were: %s", d.path, why)
		}
		return nil
	}
	d.wrong, d.files, d.links = "", 0, nil
	there := make(map[string]bool, len(entries))
	var todo []string
	for i, e := range entries {
		if i%256 == 255 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := path.Join(d.path, e.Name())
		if e.IsDir() || !s.mine(p) {
			continue
		}
		there[p] = true
		d.files++
		if e.Type()&fs.ModeSymlink != 0 {
			d.links = append(d.links, p)
		}
		old := s.st.files[p]
		if old == nil || r.whole || s.again[p] || old.doubt || old.info == nil {
			todo = append(todo, p)
			continue
		}
		if now, err := s.describes(p, e); err != nil || !same(now, old.info) {
			todo = append(todo, p)
		}
	}
	for p := range s.st.files {
		if path.Dir(p) == d.path && !there[p] {
			todo = append(todo, p)
		}
	}
	return r.readAll(ctx, todo)
}

// describes returns what a listing knows of a file already; what a link leads
// to it does not.
func (s *Store) describes(p string, e fs.DirEntry) (fs.FileInfo, error) {
	if e.Type().IsRegular() {
		return e.Info()
	}
	return s.fs.Stat(p)
}

// same reports whether two descriptions are of one file that was not changed.
func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && vfs.SameFile(a, b)
}

// mine reports whether a path is one that the layout may hold entries in.
func (s *Store) mine(p string) bool {
	base := path.Base(p)
	if base[0] == '.' || strings.HasSuffix(base, ".tmp") || IsConflict(base) {
		return false
	}
	dir := path.Dir(p)
	return slices.ContainsFunc(s.dirs, func(d *directory) bool { return d.path == dir }) && s.layout.Match(p)
}

// reader reads files for a refresh.
type reader struct {
	s     *Store
	whole bool
	next  map[string]*file // what was read; nil for a file that is gone
}

// loaded is a file as it was read, before it is compared with what was known.
type loaded struct {
	file *file
	err  error  // of reading
	why  string // it cannot be trusted
}

// read reads one file, if it is there.
func (r *reader) read(p string) {
	l := r.s.load(p)
	r.compare(p, &l)
}

// batch is how many files a goroutine takes at once when many are read.
const batch = 64

// readAll reads files, several at a time when they are many: cutting a file
// into entries takes about as long as reading it.
func (r *reader) readAll(ctx context.Context, paths []string) error {
	if len(paths) <= 2*batch {
		for _, p := range paths {
			r.read(p)
		}
		return nil
	}
	all := make([]loaded, len(paths))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 8) {
		wg.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(batch)) - batch
				if from >= len(paths) {
					return
				}
				for i := from; i < min(from+batch, len(paths)); i++ {
					all[i] = r.s.load(paths[i])
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, p := range paths {
		r.compare(p, &all[i])
	}
	return nil
}

// load reads a file and cuts it into entries. It changes nothing; look is held,
// by the caller or by who waits for the callers.
func (s *Store) load(p string) (l loaded) {
	old := s.st.files[p]
	text, info, err := s.readText(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFile) {
		l.err = fs.ErrNotExist
		return l
	}
	f := &file{path: p, info: info, text: text}
	l.file = f
	// What cannot even be described is looked at again.
	f.doubt = info == nil || info.ModTime().After(s.opts.Clock().Add(-doubtful))
	switch {
	case err != nil:
		l.err, l.why = err, "cannot be read: "+err.Error()
		return l
	case strings.TrimPrefix(text, "\ufeff") == "":
		l.why = "is empty"
		return l
	}
	if l.why = checkText(text); l.why != "" {
		return l
	}
	if old != nil && old.same(f) {
		return l
	}
	items, err := s.layout.Parse(p, text)
	if err != nil {
		l.why = "cannot be understood: " + err.Error()
	}
	var wrong []string
	if f.items, wrong = finish(items, info.ModTime()); len(wrong) > 0 {
		f.wrong = strings.Join(wrong, "; ")
	}
	return l
}

// same reports whether a file reads as it did, so that only what describes it
// may have changed.
func (f *file) same(now *file) bool {
	return f.held == "" && !f.none && f.info != nil && f.text == now.text && f.info.ModTime().Equal(now.info.ModTime())
}

// compare holds what was read against what was known.
func (r *reader) compare(p string, l *loaded) {
	s, old, f := r.s, r.s.st.files[p], l.file
	if f == nil {
		if old != nil {
			r.next[p] = nil
		}
		return
	}
	if l.why == "" {
		if old != nil && old.same(f) {
			old.info, old.doubt = f.info, f.doubt
			return
		}
		if f.wrong != "" && (old == nil || old.wrong != f.wrong) {
			s.warn("%s: %s", p, f.wrong)
		}
		r.next[p] = f
		return
	}
	f.held = l.why
	if l.err == nil {
		f.disk = f.text
	}
	said := "no entry is taken from it"
	if old != nil && !old.none {
		f.text, f.items = old.text, old.items
		said = "it is held as it was last good"
	} else {
		f.none = true
		if len(f.items) > 0 {
			said = "only a part of it is taken"
		}
	}
	if old == nil || old.held != f.held {
		s.warn("%s %s; %s", p, l.why, said)
	}
	r.next[p] = f
}

// checkText says why a text cannot be one that people or programs meant.
func checkText(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not UTF-8 text"
	case strings.IndexByte(text, 0) >= 0:
		return "holds a NUL: it is damaged, or not text"
	}
	return ""
}

// buffers are what files are read into before they become texts.
var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// errNotFile says that what bears the name is no file at all.
var errNotFile = errors.New("not a regular file")

// readText returns the text of a file and what described it before it was read.
// A change during a read shows in the description that comes after.
func (s *Store) readText(p string) (string, fs.FileInfo, error) {
	if t, ok := s.through[p]; ok {
		if t == nil {
			return "", nil, fs.ErrNotExist
		}
		info, err := s.fs.Stat(*t)
		if err == nil {
			data, err := vfs.ReadFile(s.fs, *t, maxFile)
			return string(data), info, err
		}
	}
	f, err := s.fs.OpenFile(p, os.O_RDONLY, 0)
	if err != nil {
		if info, serr := s.fs.Stat(p); serr == nil && !info.Mode().IsRegular() {
			return "", nil, errNotFile
		}
		return "", nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", nil, err
	}
	if info.Size() > maxFile {
		return "", info, fmt.Errorf("%w: it has %d bytes, the most is %d", vfs.ErrTooLarge, info.Size(), maxFile)
	}
	scratch := buffers.Get().(*[]byte)
	defer buffers.Put(scratch)
	buf := *scratch
	if int64(len(buf)) <= info.Size() {
		buf = make([]byte, info.Size()+1)
	}
	for n := 0; ; {
		k, err := f.ReadAt(buf[n:], int64(n))
		n += k
		switch {
		case n > maxFile:
			return "", info, fmt.Errorf("%w: the most is %d bytes", vfs.ErrTooLarge, maxFile)
		case errors.Is(err, io.EOF):
			return string(buf[:n]), info, nil
		case err != nil:
			return "", info, err
		}
		if n == len(buf) {
			buf = append(buf, make([]byte, n)...)
		}
	}
}
