// This file collects the sidecars that Lookup needs: the sidecars of a file, of the file's former names, and of
// deleted files.

package annotate

import (
	"context"
	"errors"
	"io/fs"
	"slices"
)

// readSidecars reads the sidecars of the file's former names. If the file has no annotations, it
// also reads deleted files' sidecars.
func (b *Store) readSidecars(ctx context.Context, p *fileResults, own *sidecar, names *nameQuery) error {
	former, err := names.wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.partial = err
	}
	for _, n := range former {
		if CheckFile(n) != nil {
			continue
		}
		s, err := b.readSidecar(sidecarPath(n))
		if err != nil {
			return err
		}
		p.sidecars = append(p.sidecars, s)
		p.former++
	}
	if len(own.records) > 0 {
		return nil
	}
	_, orphans, err := b.orphanSidecars(ctx)
	for _, o := range orphans {
		if !slices.Contains(p.sidecars, o) {
			p.sidecars = append(p.sidecars, o)
		}
	}
	return err
}

// noteOrphans lists the deleted files whose annotations may belong to this file. It lists them only
// if git failed, or if the clone is shallow and nothing was found.
func (b *Store) noteOrphans(ctx context.Context, p *fileResults, file string) error {
	if p.partial == nil && len(p.found) == 0 && b.isShallow() {
		p.partial = errShallow
	}
	if p.partial == nil {
		return nil
	}
	names, sidecars, err := b.orphanSidecars(ctx)
	if err != nil {
		return err
	}
	here := map[string]bool{}
	for _, f := range p.found {
		here[f.ID] = true
	}
	for i, s := range sidecars {
		if names[i] != file && slices.ContainsFunc(s.records, func(r *Record) bool { return !here[r.ID] }) {
			p.orphans = append(p.orphans, names[i])
		}
	}
	if len(p.orphans) == 0 && p.partial == errShallow {
		p.partial = nil
	}
	return nil
}

// prefetchBlobs reads in advance the blobs that are needed to resolve the file's own annotations. It
// ignores errors, because the same error occurs again when a blob is needed.
func (b *Store) prefetchBlobs(ctx context.Context, file string, p *fileResults, own *sidecar) {
	want := recordedBlobs([]*sidecar{own}, blobName(p.content, b.sha256()))
	h := b.blobHistory(file)
	defer h.mu.Unlock()
	_ = h.fetchMissing(ctx, b.history, p.head, want)
}

// nameQuery reads the former names of a file from git.
type nameQuery struct {
	names []string
	err   error
	done  chan struct{} // closed when the result is known; nil if it was known from the start
	stop  func()        // cancels the query and waits until it has ended
}

// wait returns the names. If git failed, it returns the error and the names found so far.
func (q *nameQuery) wait() ([]string, error) {
	if q.done != nil {
		<-q.done
	}
	return q.names, q.err
}

// askNames sets p.head and starts a query for the file's former names. It starts none if the names
// are cached for this state of the history, or if no annotation can come from a different file.
func (b *Store) askNames(ctx context.Context, p *fileResults, file string) (q *nameQuery, known bool) {
	q = &nameQuery{stop: func() {}}
	if b.history == nil {
		return q, false
	}
	p.head, q.err = b.history.Head(ctx)
	if q.err != nil || p.head == "" {
		p.partial = q.err
		return q, false
	}
	origins, err := b.possibleOrigins(ctx, sidecarPath(file), p.content)
	if err == nil && len(origins) == 0 {
		return q, false
	}
	key := p.head + " " + file + " " + hashLines(origins)
	b.mu.Lock()
	q.names, known = b.formerNames[key]
	b.mu.Unlock()
	if known {
		return q, true
	}
	asking, cancel := context.WithCancel(ctx)
	q.done = make(chan struct{})
	q.stop = func() { cancel(); <-q.done }
	go func() {
		defer close(q.done)
		q.names, q.err = b.history.FormerNames(asking, file, origins)
		if q.err == nil {
			b.keepNames(key, q.names)
		}
	}()
	return q, false
}

// possibleOrigins returns the files of which this file may be a copy, and the former names that this file may have
// had: files that do not exist any more, files with an annotation that has a line of the annotation's block or context
// in content, files whose annotations all have only short lines, and all files beyond the limit. If it returns an
// error, the list is incomplete.
func (b *Store) possibleOrigins(ctx context.Context, own string, content []byte) (files []string, err error) {
	var have map[string]bool // lines of content, nil until first needed
	stands := func(r *Record) bool {
		long := 0
		for _, l := range slices.Concat(r.Block, r.Before, r.After) {
			if countLetters(l) < fewLetters {
				continue
			}
			long++
			if have[bareLine(l)] {
				return true
			}
		}
		return long == 0
	}
	n := 0
	err = b.walkSidecars(ctx, func(name string) error {
		if name == own {
			return nil
		}
		file, ok := sidecarSource(name)
		n++
		if n <= maxOrigins || !ok {
			s, err := b.readSidecar(name)
			if err != nil || len(s.records) == 0 {
				return err
			}
			if have == nil {
				lines := SplitLines(content)
				have = (&lineIndex{lines: lines}).bareSet(0, len(lines))
			}
			file = sidecarOwner(name, s)
			if b.HasFile(file) && !slices.ContainsFunc(s.records, stands) {
				return nil
			}
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

// Limits for the number of sidecars to read: for any files, and for deleted files.
const (
	maxOrigins = 200
	maxOrphans = 200
)

// orphanSidecars returns the sidecars of files that do not exist, the first 200 by name. If the
// file was renamed without a commit, its annotations are in such a sidecar.
func (b *Store) orphanSidecars(ctx context.Context) (names []string, sidecars []*sidecar, err error) {
	err = b.walkSidecars(ctx, func(name string) error {
		file, ok := sidecarSource(name)
		if !ok || len(sidecars) == maxOrphans {
			return nil
		}
		if _, err := b.work.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		s, err := b.readSidecar(name)
		if err != nil {
			return err
		}
		names, sidecars = append(names, file), append(sidecars, s)
		return nil
	})
	return names, sidecars, err
}
