// This file reads everything that a lookup compares: a file's content, the sidecars for the file and its former names,
// and the sidecars of deleted files.

package annotate

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// setLinesAndBlobName sets the fields lines and contentBlobName from the field content. Later calls do nothing.
func (s *fileLookupSources) setLinesAndBlobName(usesSHA256 bool) {
	if s.contentBlobName == "" {
		s.lines, s.contentBlobName = SplitLines(s.content), blobName(s.content, usesSHA256)
	}
}

// readFileAndSidecars reads a file in the working tree, and the sidecars (the files with annotations) that may contain
// annotations of the file. These are the sidecars for the file and for its former names. If the file's own sidecar is
// empty, the sidecars of deleted files are added, because the file may contain their lines. readFileAndSidecars also
// reads old versions of the file from git in advance, because the annotations were written for these versions.
func (b *Store) readFileAndSidecars(ctx context.Context, file string) (*fileLookupSources, error) {
	content, contentErr := b.readContent(file)
	if isBinary(content) {
		contentErr = binaryFileError(file)
	}
	src := &fileLookupSources{file: file, content: content, sidecarPath: sidecarPath(file)}
	own, err := b.readSidecar(src.sidecarPath)
	if err != nil {
		return nil, err
	}
	src.sidecars = []*sidecar{own}
	src.isFileMissing = errors.Is(contentErr, fs.ErrNotExist) && len(own.records) > 0
	if contentErr != nil && !src.isFileMissing {
		return nil, contentErr
	}
	// Git works in the background while the remaining sidecars are read.
	names, known := b.startFormerNamesQuery(ctx, src)
	defer names.cancelAndWait()
	if src.isFileMissing {
		return src, nil
	}
	if !known && src.hasHistory() {
		b.prefetchBlobs(ctx, src)
	}
	former, err := names.waitForNames()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		src.gitError = err
	}
	others, err := b.readSidecars(former)
	if err != nil {
		return nil, err
	}
	src.formerNameCount = len(others)
	if len(own.records) == 0 {
		_, orphans, err := b.sidecarsOfDeletedFiles(ctx)
		if err != nil {
			return nil, err
		}
		others = append(others, orphans...)
	}
	for i, s := range others {
		if i < src.formerNameCount || !slices.Contains(src.sidecars, s) {
			src.sidecars = append(src.sidecars, s)
		}
	}
	return src, nil
}

// hasHistory reports whether the tree has a commit and git has not failed.
func (s *fileLookupSources) hasHistory() bool { return s.headCommit != "" && s.gitError == nil }

// prefetchBlobs reads in advance the old versions for which the file's annotations were written. It ignores errors,
// because an error occurs again when a version is needed.
func (b *Store) prefetchBlobs(ctx context.Context, src *fileLookupSources) {
	src.setLinesAndBlobName(b.usesSHA256())
	h := b.lockOldVersionCache(src.file)
	defer h.mu.Unlock()
	_ = h.fetchUncachedBlobs(ctx, b.history, src.headCommit, collectBlobNames(src.sidecars, src.contentBlobName))
}

// readSidecars reads the sidecars of the named files. It skips names of files that cannot be annotated.
func (b *Store) readSidecars(files []string) ([]*sidecar, error) {
	var sidecars []*sidecar
	for _, file := range files {
		if CheckFile(file) != nil {
			continue
		}
		s, err := b.readSidecar(sidecarPath(file))
		if err != nil {
			return nil, err
		}
		sidecars = append(sidecars, s)
	}
	return sidecars, nil
}

// formerNamesQuery asks git for the former names of a file, in the background.
type formerNamesQuery struct {
	names         []string
	err           error
	doneChan      chan struct{} // closed when git has returned the former names; nil if the names were cached
	cancelAndWait func()        // stops the git command and waits until it has ended
}

// waitForNames waits for the former names. If git fails, it returns the error and the names found so far.
func (q *formerNamesQuery) waitForNames() ([]string, error) {
	if q.doneChan != nil {
		<-q.doneChan
	}
	return q.names, q.err
}

// startFormerNamesQuery sets src.headCommit, and starts a query that asks git for the file's former names. If the
// former names are already cached, it returns them in q.names, does not start the query, and sets isCached to true.
//
// It does not start the query in these cases either:
//   - The tree has no git history or no HEAD commit.
//   - git cannot return the HEAD commit. Then q.err and src.gitError contain the error.
//   - No other file exists from which an annotation can come.
//
// In all cases, q is not nil.
func (b *Store) startFormerNamesQuery(
	ctx context.Context,
	src *fileLookupSources,
) (q *formerNamesQuery, isCached bool) {
	q = &formerNamesQuery{cancelAndWait: func() {}}
	if b.history == nil {
		return q, false
	}
	src.headCommit, q.err = b.history.HeadCommit(ctx)
	if q.err != nil || src.headCommit == "" {
		src.gitError = q.err
		return q, false
	}
	origins, err := b.possibleSourceFiles(ctx, src)
	if err == nil && len(origins) == 0 {
		return q, false
	}
	key := src.headCommit + " " + src.file + "\n" + strings.Join(origins, "\n")
	b.mu.Lock()
	q.names, isCached = b.formerFileNames[key]
	b.mu.Unlock()
	if isCached {
		return q, true
	}
	asking, cancel := context.WithCancel(ctx)
	q.doneChan = make(chan struct{})
	q.cancelAndWait = func() { cancel(); <-q.doneChan }
	go func() {
		defer close(q.doneChan)
		q.names, q.err = b.history.FormerNames(asking, src.file, origins)
		if q.err == nil {
			b.cacheFormerNames(key, q.names)
		}
	}()
	return q, false
}

// cacheFormerNames caches the former names of a file. The key cacheKey consists of HEAD, the file, and the possible
// origins.
func (b *Store) cacheFormerNames(cacheKey string, names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.formerFileNames) >= maxCachedFiles {
		clear(b.formerFileNames)
	}
	b.formerFileNames[cacheKey] = names
}

// possibleSourceFiles returns annotated files whose annotations may belong to the file src, because src may be a
// renamed or copied version of the annotated file. An annotated file is returned if at least one of these conditions is
// true:
//   - The annotated file no longer exists.
//   - A line from one of its annotations occurs in src.
//   - One of its annotations has only short lines.
//
// Only the first maxSourceFileSidecars annotation files are examined. For each further annotation file, the annotated
// file is returned without a check. If the error is not nil, the list files is incomplete.
func (b *Store) possibleSourceFiles(ctx context.Context, src *fileLookupSources) (files []string, err error) {
	var have map[string]bool // set of the lines in the content; nil until first needed
	stands := func(r *Record) bool {
		long := 0
		for _, l := range slices.Concat(r.Block, r.LinesBefore, r.LinesAfter) {
			if countLetters(l) < minLineLetters {
				continue
			}
			long++
			if have[removeAllSpace(l)] {
				return true
			}
		}
		return long == 0
	}
	n := 0
	err = b.walkSidecars(ctx, func(name string) error {
		if name == src.sidecarPath {
			return nil
		}
		file, ok := fileOfSidecarPath(name)
		n++
		if n <= maxSourceFileSidecars || !ok {
			s, err := b.readSidecar(name)
			if err != nil || len(s.records) == 0 {
				return err
			}
			if have == nil {
				src.setLinesAndBlobName(b.usesSHA256())
				have = (&indexedText{lines: src.lines}).spacelessLineSet(0, len(src.lines))
			}
			file = annotatedFileOf(name, s)
			if b.HasFile(file) && !slices.ContainsFunc(s.records, stands) {
				return nil
			}
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

// These constants limit how many annotation files (sidecars) a search reads. A search for annotations may have to read
// the sidecars of other files, because the examined file may have been renamed or copied from another file.
// maxSourceFileSidecars is the limit for this search. maxDeletedFileSidecars is the limit for the search for
// annotations of files that do not exist any more.
const (
	maxSourceFileSidecars  = 200
	maxDeletedFileSidecars = 200
)

// sidecarsOfDeletedFiles returns the annotation files (sidecars) that belong to files that do not exist. If a file was
// renamed and the rename is not committed, its annotations are in such a sidecar. The element i of fileNames is the
// name of the annotated file for the element i of sidecars. Both lists are in the order in which walkSidecars visits
// the sidecars, and have at most maxDeletedFileSidecars elements.
func (b *Store) sidecarsOfDeletedFiles(ctx context.Context) (fileNames []string, sidecars []*sidecar, err error) {
	err = b.walkSidecars(ctx, func(name string) error {
		file, ok := fileOfSidecarPath(name)
		if !ok || len(sidecars) == maxDeletedFileSidecars {
			return nil
		}
		if _, err := b.worktree.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		s, err := b.readSidecar(name)
		if err != nil {
			return err
		}
		fileNames, sidecars = append(fileNames, file), append(sidecars, s)
		return nil
	})
	return fileNames, sidecars, err
}
