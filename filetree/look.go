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
	"slices"
	"strings"
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
	info  fs.FileInfo // of the watched one, nil when it is not watched
	files int         // matched when it was listed last
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

// take puts files into the state and tells the watcher. With own, the changes
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
	if len(s.st.files) == 0 {
		s.st.paths = slices.Grow(s.st.paths, len(paths))
	}
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
	deltas := s.st.settle(touched, reborn)
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
	if s.watch != nil && len(deltas) > 0 {
		s.watch(deltas, false)
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
	d.wrong, d.files = "", 0
	there := map[string]bool{}
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
		old := s.st.files[p]
		if old == nil || r.whole || s.again[p] {
			r.read(p)
			continue
		}
		if old.doubt || old.info == nil {
			r.read(p)
			continue
		}
		now, err := s.fs.Stat(p)
		if err != nil || !same(now, old.info) {
			r.read(p)
		}
	}
	for p := range s.st.files {
		if path.Dir(p) == d.path && !there[p] {
			r.read(p)
		}
	}
	return nil
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

// read reads one file, if it is there, and compares it with what was known.
func (r *reader) read(p string) {
	s := r.s
	old := s.st.files[p]
	text, info, err := s.readText(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if old != nil {
			r.next[p] = nil
		}
		return
	case errors.Is(err, errNotFile):
		if old != nil {
			r.next[p] = nil
		}
		return
	}
	f := &file{path: p, info: info, text: text}
	if info == nil {
		f.doubt = true
	} else {
		f.doubt = info.ModTime().After(s.opts.Clock().Add(-doubtful))
	}
	if err == nil && old != nil && old.held == "" && !old.none && old.text == text && old.info != nil && info.ModTime().Equal(old.info.ModTime()) {
		// Nothing but what describes it.
		old.info, old.doubt = f.info, f.doubt
		return
	}
	why := ""
	switch {
	case err != nil:
		why = "cannot be read: " + err.Error()
	case strings.TrimPrefix(text, "\ufeff") == "":
		why = "is empty"
	default:
		why = checkText(text)
	}
	if why == "" {
		items, perr := s.layout.Parse(p, text)
		var wrong []string
		f.items, wrong = finish(items, info.ModTime())
		switch {
		case perr != nil:
			why = "cannot be understood: " + perr.Error()
		case len(wrong) > 0:
			f.wrong = strings.Join(wrong, "; ")
			if old == nil || old.wrong != f.wrong {
				s.warn("%s: %s", p, f.wrong)
			}
		}
	}
	if why == "" {
		r.next[p] = f
		return
	}
	f.held = why
	if err == nil {
		f.disk = text
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
		s.warn("%s %s; %s", p, why, said)
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
	buf := make([]byte, info.Size()+1)
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
