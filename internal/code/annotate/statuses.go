// This file finds the present positions of all annotations in a sidecar, also if the file was
// renamed or the lines were moved to other files.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// SkippedFile is a file whose annotations could not be examined.
type SkippedFile struct {
	File string
	Err  error
}

// searchArea says where annotations are searched.
type searchArea int

const (
	treeOnly searchArea = iota // in the working tree
	// in the working tree, and in HEAD for annotations that are not found in the working tree
	treeAndHead
)

// surveySidecars calls fn for each sidecar with the positions of the sidecar's annotations, sorted by time. It
// searches for the annotations in the area. For a deleted file, it also searches under the later names that git knows
// or, without a commit, in all files of the working tree. It returns the files that cannot be read, and does not call
// fn for these. If git fails, surveySidecars fails.
func (b *Store) surveySidecars(
	ctx context.Context,
	area searchArea,
	fn func(name string, s *sidecar, at []Found) error,
) ([]SkippedFile, error) {
	commit := ""
	if b.history != nil {
		var err error
		commit, err = b.history.Head(ctx)
		if err != nil {
			return nil, err
		}
	}
	var names []string
	var all, gone []*locator
	err := b.each(ctx, func(name string, s *sidecar) error {
		l := &locator{store: b, commit: commit, sidecar: s}
		names, all = append(names, name), append(all, l)
		if len(s.records) == 0 {
			return nil
		}
		var err error
		own := sidecarOwner(name, s)
		l.at, err = b.findStatuses(ctx, commit, area, own, s)
		if errors.As(err, &l.no) {
			return nil
		}
		if commit == "" && l.countLost() > 0 {
			if _, err := b.work.Stat(own); errors.Is(err, fs.ErrNotExist) {
				gone = append(gone, l)
			}
		}
		return err
	})
	if err == nil {
		err = b.inOthers(ctx, gone)
	}
	var skipped []SkippedFile
	for i, l := range all {
		switch {
		case err != nil:
			return nil, err
		case l.no != nil:
			skipped = append(skipped, SkippedFile{l.no.file, l.no.err})
		default:
			err = fn(names[i], l.sidecar, l.at)
		}
	}
	return skipped, err
}

// unreadableError means that a file of the working tree cannot be examined.
type unreadableError struct {
	file string
	err  error
}

func (e *unreadableError) Error() string { return e.err.Error() }

func (e *unreadableError) Unwrap() error { return e.err }

var errNoAnswer = errors.New("git did not say what the file was like")

// resolveMissing returns the present positions of a deleted file's annotations.
func (b *Store) resolveMissing(ctx context.Context, src *sources) (*fileResults, error) {
	own := src.sidecars[0]
	found, err := b.findStatuses(ctx, src.head, treeOnly, src.file, own)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		src.partial = err
		found = nil
		for _, r := range own.records {
			found = append(found, Found{Record: *r, In: src.file, Placed: Lost})
		}
	}
	found = slices.DeleteFunc(found, func(f Found) bool { return f.Placed == Lost && f.Archived })
	p := &fileResults{sources: src, found: found, searched: true}
	p.sort()
	return p, nil
}

// findStatuses finds the annotations in the sidecar of the file own.
func (b *Store) findStatuses(
	ctx context.Context,
	commit string,
	area searchArea,
	own string,
	s *sidecar,
) ([]Found, error) {
	l := &locator{store: b, commit: commit, sidecar: s, at: make([]Found, len(s.records))}
	for i, r := range s.records {
		l.at[i] = Found{Record: *r, In: own, Placed: Lost}
	}
	if CheckFile(own) != nil {
		return l.at, nil
	}
	names, seen, err := l.inTree(ctx, own)
	if err != nil || l.countLost() == 0 {
		return l.at, err
	}
	if area == treeAndHead && commit != "" {
		if err := l.inHead(ctx, names, seen); err != nil || l.countLost() == 0 {
			return l.at, err
		}
	}
	return l.at, b.findElsewhere(ctx, own, l.at)
}

// locator searches for the annotations of one sidecar in one text after another.
type locator struct {
	store   *Store
	commit  string // HEAD ("" without git)
	sidecar *sidecar
	at      []Found
	no      *unreadableError // reason why the search is incomplete, or nil if it is complete
}

// countLost returns the number of annotations that have not been found yet.
func (l *locator) countLost() int {
	n := 0
	for i := range l.at {
		if l.at[i].Placed == Lost {
			n++
		}
	}
	return n
}

// search searches a content for the annotations that have not been found yet. It returns the blob name of the
// content.
func (l *locator) search(ctx context.Context, file string, content []byte) (blob string, err error) {
	if isBinary(content) {
		return "", &unreadableError{file, errBinary(file)}
	}
	src := &sources{file: file, content: content, head: l.commit, sidecars: []*sidecar{l.sidecar}}
	p, err := l.store.resolveAll(ctx, src)
	if err != nil {
		return "", err
	}
	if p.partial != nil {
		return "", errNoAnswer
	}
	l.takeFound(p)
	return src.blob, nil
}

// takeFound copies from p the annotations that l has not found yet.
func (l *locator) takeFound(p *fileResults) {
	found := map[string]Found{}
	for _, f := range p.found {
		found[f.ID] = f
	}
	for i := range l.at {
		f, ok := found[l.at[i].ID]
		isFound := ok && f.Placed != Lost
		if isFound && l.at[i].Placed == Lost {
			l.at[i] = f
		}
	}
}

// inTree searches the file in the working tree or, if it does not exist, the files to which it was
// renamed. names are the searched files, and seen maps each name to the blob name of the content
// that was searched.
func (l *locator) inTree(ctx context.Context, own string) (names []string, seen map[string]string, err error) {
	b := l.store
	names, seen = []string{own}, map[string]string{}
	for i := 0; i < len(names); i++ {
		content, err := b.content(names[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if i > 0 || l.commit == "" {
				continue
			}
			more, was, err := b.history.LaterNames(ctx, own)
			if err != nil {
				return nil, nil, err
			}
			if !was && b.isShallow() {
				return nil, nil, &unreadableError{own, errShallow}
			}
			for _, n := range more {
				if CheckFile(n) == nil && !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
			continue
		case err != nil:
			return nil, nil, &unreadableError{names[i], err}
		}
		seen[names[i]], err = l.search(ctx, names[i], content)
		if err != nil || l.countLost() == 0 {
			return names, seen, err
		}
	}
	return names, seen, nil
}

// inHead searches those files of HEAD that differ from the working tree.
func (l *locator) inHead(ctx context.Context, names []string, seen map[string]string) error {
	b := l.store
	for _, f := range names {
		blob, err := b.history.At(ctx, l.commit, f)
		if err != nil {
			return err
		}
		if blob == "" || blob == seen[f] {
			continue
		}
		blobs, err := b.history.ReadBlobs(ctx, []string{blob})
		if err != nil {
			return err
		}
		content, ok := blobs[blob]
		if !ok {
			return fmt.Errorf("%s of HEAD: %w", f, errNoAnswer)
		}
		if len(content) > MaxFile || isBinary(content) {
			continue
		}
		if _, err := l.search(ctx, f, content); err != nil || l.countLost() == 0 {
			return err
		}
	}
	return nil
}

// maxOthers is the maximum number of files that inOthers searches.
const maxOthers = 5000

// inOthers searches all files in the working tree for annotations of deleted files, because each
// file may be a deleted file with a new name. If there are more than maxOthers files, the search
// ends, and the annotations that were not found get an error.
func (b *Store) inOthers(ctx context.Context, gone []*locator) error {
	if len(gone) == 0 {
		return nil
	}
	n := 0
	err := b.walkFiles(ctx, ".", func(name string) error {
		n++
		if n > maxOthers {
			return errTooMany
		}
		content, err := b.content(name)
		if err != nil || isBinary(content) {
			return nil // skip a file in which a lookup would find nothing
		}
		if CheckFile(name) != nil {
			return nil
		}
		src := &sources{file: name, content: content, sidecars: []*sidecar{noSidecar}}
		for _, l := range gone {
			src.sidecars = append(src.sidecars, l.sidecar)
		}
		p, err := b.resolveAll(ctx, src)
		if err != nil {
			return err
		}
		for _, l := range gone {
			l.takeFound(p)
		}
		return nil
	})
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	for _, l := range gone {
		if l.countLost() > 0 {
			l.no = &unreadableError{l.at[0].In, err}
		}
	}
	return nil
}

var errTooMany = fmt.Errorf(
	"without git, a file that is gone is looked for under other names in %d files, and here are more",
	maxOthers,
)

// searchElsewhere searches other files for the lost annotations of a file. It does this only once
// for each fileResults.
func (b *Store) searchElsewhere(ctx context.Context, p *fileResults) error {
	b.mu.Lock()
	done := p.searched
	found := slices.Clone(p.found)
	b.mu.Unlock()
	if done {
		return nil
	}
	if err := b.findElsewhere(ctx, p.file, found); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.found, p.searched = found, true
	return nil
}

// Limits of [Store.findElsewhere].
const (
	maxElsewhere  = 50  // number of files that are searched
	maxSince      = 3   // number of commits about which git is asked
	sureElsewhere = .85 // minimum confidence for a block in another file
)

// mayBeElsewhere reports whether the block is lost and can be found in another file by its text.
func (f *Found) mayBeElsewhere() bool {
	return f.Placed == Lost && f.Commit != "" && isDistinctive(f.Block)
}

// findElsewhere searches for the lost blocks of a file in the files that were changed by the same
// commits since, for example because the file was split. A block is found only if its text is
// distinctive and occurs exactly once. If git fails, the blocks stay lost.
func (b *Store) findElsewhere(ctx context.Context, file string, found []Found) error {
	var lost []*Found
	var since []string
	for i := range found {
		if f := &found[i]; f.mayBeElsewhere() {
			lost = append(lost, f)
			since = append(since, f.Commit)
		}
	}
	if len(lost) == 0 || b.history == nil {
		return nil
	}
	slices.Sort(since)
	since = slices.Compact(since)
	var files []string
	for _, commit := range since[:min(len(since), maxSince)] {
		names, err := b.history.Alongside(ctx, commit, file)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil { // ignore the error, because, for example, a rebase may have removed the commit
			files = append(files, names...)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for _, name := range files[:min(len(files), maxElsewhere)] {
		if name == file || CheckFile(name) != nil {
			continue
		}
		content, err := b.content(name)
		if err != nil || isBinary(content) {
			continue
		}
		x := newLineIndex(newInterner(), SplitLines(content))
		for _, f := range lost {
			search := blockSearch{text: x, record: &f.Record}
			if m := search.findBy(byUniqueText); m.confidence >= sureElsewhere && m.confidence > f.Confidence {
				f.In = name
				f.Placed = Moved
				f.Now = m.span
				f.Confidence = m.confidence
				f.How = "its lines went to another file; " + m.how
			}
		}
	}
	return nil
}
