// This file finds the present positions of all annotations in a sidecar, even if the file was renamed or the lines
// were moved to other files.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// SkippedFile is a file that could not be examined, with the reason.
type SkippedFile struct {
	File string
	Err  error
}

// searchScope says in which versions of files annotations are searched for.
type searchScope int

const (
	searchWorkingTreeOnly searchScope = iota // search the working tree
	// search the working tree, and then HEAD for the annotations that were not found in the working tree
	searchWorkingTreeThenHead
)

// surveySidecars finds the present positions of all annotations, and calls the function fn for each sidecar. A sidecar
// is a file that contains the annotations of another file. The arguments of fn are the sidecar's name, the sidecar, and
// its annotations with their positions, sorted by time. If fn returns an error, surveySidecars returns this error. The
// argument scope determines whether annotations are searched for only in the working tree, or also in the commit HEAD.
//
// If an annotated file does not exist any more, surveySidecars asks git for the names to which the file was renamed,
// and searches the files with these names. If there is no commit, for example because there is no git repository,
// surveySidecars searches all files of the working tree.
//
// surveySidecars returns the files that could not be examined, and does not call fn for their sidecars. If git fails,
// surveySidecars returns an error.
func (b *Store) surveySidecars(
	ctx context.Context,
	scope searchScope,
	fn func(name string, s *sidecar, at []FoundAnnotation) error,
) ([]SkippedFile, error) {
	commit := ""
	if b.history != nil {
		var err error
		commit, err = b.history.HeadCommit(ctx)
		if err != nil {
			return nil, err
		}
	}
	var names []string
	var all, gone []*annotationLocator
	err := b.eachSidecar(ctx, func(name string, s *sidecar) error {
		l := &annotationLocator{store: b, commit: commit, sidecar: s}
		names, all = append(names, name), append(all, l)
		if len(s.records) == 0 {
			return nil
		}
		var err error
		own := annotatedFileOf(name, s)
		l.annotations, err = b.locateAnnotations(ctx, commit, scope, own, s)
		if errors.As(err, &l.incompleteErr) {
			return nil
		}
		if commit == "" && l.countLostAnnotations() > 0 {
			if _, err := b.worktree.Stat(own); errors.Is(err, fs.ErrNotExist) {
				gone = append(gone, l)
			}
		}
		return err
	})
	if err == nil {
		err = b.searchOtherFiles(ctx, gone)
	}
	var skipped []SkippedFile
	for i, l := range all {
		switch {
		case err != nil:
			return nil, err
		case l.incompleteErr != nil:
			skipped = append(skipped, SkippedFile{l.incompleteErr.file, l.incompleteErr.err})
		default:
			err = fn(names[i], l.sidecar, l.annotations)
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

var errUnknownContent = errors.New("git did not say what the file was like")

// resolveMissingFile finds the annotations of a file that does not exist, and returns their present positions.
func (b *Store) resolveMissingFile(ctx context.Context, src *fileLookupSources) (*fileAnnotations, error) {
	own := src.sidecars[0]
	found, err := b.locateAnnotations(ctx, src.headCommit, searchWorkingTreeOnly, src.file, own)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		src.gitError = err
		found = nil
		for _, r := range own.records {
			found = append(found, FoundAnnotation{Record: *r, CurrentFile: src.file, Placement: NotPlaced})
		}
	}
	found = slices.DeleteFunc(found, func(f FoundAnnotation) bool { return f.Placement == NotPlaced && f.Archived })
	p := &fileAnnotations{fileLookupSources: src, foundAnnotations: found, hasSearchedOtherFiles: true}
	p.sortFoundAnnotations()
	return p, nil
}

// locateAnnotations returns the annotations in the annotation file s (a sidecar), with the present positions of the
// annotated lines. It searches for the lines in this order:
//
//   - in the source file annotatedFile, which s describes, in the working tree,
//   - in the commit, which is HEAD, if scope is searchWorkingTreeThenHead,
//   - in other files.
//
// It ends the search when it has found all lines. If the lines of an annotation are not found, the annotation's status
// is [NotPlaced].
func (b *Store) locateAnnotations(
	ctx context.Context,
	commit string,
	scope searchScope,
	annotatedFile string,
	s *sidecar,
) ([]FoundAnnotation, error) {
	l := &annotationLocator{store: b, commit: commit, sidecar: s, annotations: make([]FoundAnnotation, len(s.records))}
	for i, r := range s.records {
		l.annotations[i] = FoundAnnotation{Record: *r, CurrentFile: annotatedFile, Placement: NotPlaced}
	}
	if CheckFile(annotatedFile) != nil {
		return l.annotations, nil
	}
	names, seen, err := l.searchWorkingTree(ctx, annotatedFile)
	if err != nil || l.countLostAnnotations() == 0 {
		return l.annotations, err
	}
	if scope == searchWorkingTreeThenHead && commit != "" {
		if err := l.searchHeadCommit(ctx, names, seen); err != nil || l.countLostAnnotations() == 0 {
			return l.annotations, err
		}
	}
	return l.annotations, b.findBlocksInOtherFiles(ctx, annotatedFile, l.annotations)
}

// annotationLocator searches several texts, one after another, for the annotations of one sidecar.
type annotationLocator struct {
	store         *Store
	commit        string // commit of HEAD ("" without git)
	sidecar       *sidecar
	annotations   []FoundAnnotation
	incompleteErr *unreadableError // reason why not everything could be searched, or nil
}

// countLostAnnotations returns the number of annotations that have not been found yet.
func (l *annotationLocator) countLostAnnotations() int {
	n := 0
	for i := range l.annotations {
		if l.annotations[i].Placement == NotPlaced {
			n++
		}
	}
	return n
}

// searchContent searches the content of a file for the annotations that have not been found yet. It returns the blob
// name of the content.
func (l *annotationLocator) searchContent(ctx context.Context, file string, content []byte) (blob string, err error) {
	if isBinary(content) {
		return "", &unreadableError{file, binaryFileError(file)}
	}
	src := &fileLookupSources{file: file, content: content, headCommit: l.commit, sidecars: []*sidecar{l.sidecar}}
	p, err := l.store.findAnnotationsInContent(ctx, src)
	if err != nil {
		return "", err
	}
	if p.gitError != nil {
		return "", errUnknownContent
	}
	l.copyFoundAnnotations(p)
	return src.contentBlobName, nil
}

// copyFoundAnnotations copies annotations from p to l.annotations. An annotation is copied only if its lines were found
// in p, and if the lines of the same annotation in l.annotations were not found (its Placement is NotPlaced).
func (l *annotationLocator) copyFoundAnnotations(p *fileAnnotations) {
	found := map[string]FoundAnnotation{}
	for _, f := range p.foundAnnotations {
		found[f.ID] = f
	}
	for i := range l.annotations {
		f, ok := found[l.annotations[i].ID]
		isFound := ok && f.Placement != NotPlaced
		if isFound && l.annotations[i].Placement == NotPlaced {
			l.annotations[i] = f
		}
	}
}

// searchWorkingTree searches the file in the working tree for the annotations that were not found yet. If the file does
// not exist, it searches the files to which the file was renamed, according to git's history. It stops when all
// annotations are found.
//
// The result names contains the file and the names to which it was renamed. The result blobsByName contains the blob
// name of each file that was searched.
func (l *annotationLocator) searchWorkingTree(
	ctx context.Context,
	annotatedFile string,
) (names []string, blobsByName map[string]string, err error) {
	b := l.store
	names, blobsByName = []string{annotatedFile}, map[string]string{}
	for i := 0; i < len(names); i++ {
		content, err := b.readContent(names[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if i > 0 || l.commit == "" {
				continue
			}
			more, was, err := b.history.LaterNames(ctx, annotatedFile)
			if err != nil {
				return nil, nil, err
			}
			if !was && b.isShallowClone() {
				return nil, nil, &unreadableError{annotatedFile, errShallowClone}
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
		blobsByName[names[i]], err = l.searchContent(ctx, names[i], content)
		if err != nil || l.countLostAnnotations() == 0 {
			return names, blobsByName, err
		}
	}
	return names, blobsByName, nil
}

// searchHeadCommit searches the versions of the named files in the commit HEAD for the annotations that were not found
// yet. It stops when all annotations are found. It skips a version that was already searched in the working tree. The
// map blobsByName contains the blob names of the searched versions.
func (l *annotationLocator) searchHeadCommit(ctx context.Context, names []string, blobsByName map[string]string) error {
	b := l.store
	for _, f := range names {
		blob, err := b.history.BlobAt(ctx, l.commit, f)
		if err != nil {
			return err
		}
		if blob == "" || blob == blobsByName[f] {
			continue
		}
		blobs, err := b.history.ReadBlobs(ctx, []string{blob})
		if err != nil {
			return err
		}
		content, ok := blobs[blob]
		if !ok {
			return fmt.Errorf("%s of HEAD: %w", f, errUnknownContent)
		}
		if len(content) > MaxFileBytes || isBinary(content) {
			continue
		}
		if _, err := l.searchContent(ctx, f, content); err != nil || l.countLostAnnotations() == 0 {
			return err
		}
	}
	return nil
}

// maxSearchedTreeFiles is the maximum number of files of the working tree in which the lines of deleted files are
// looked for.
const maxSearchedTreeFiles = 5000

// searchOtherFiles searches all files in the working tree for the annotated lines of deleted files. It searches all
// files, because a deleted file may have been renamed to any of them. If there are more than maxSearchedTreeFiles
// files, or if the search fails, searchOtherFiles sets incompleteErr of each locator whose annotations were not all
// found. It returns an error only if ctx is done.
func (b *Store) searchOtherFiles(ctx context.Context, lostLocators []*annotationLocator) error {
	if len(lostLocators) == 0 {
		return nil
	}
	n := 0
	err := b.walkFiles(ctx, ".", func(name string) error {
		n++
		if n > maxSearchedTreeFiles {
			return errTooManyFiles
		}
		content, err := b.readContent(name)
		if err != nil || isBinary(content) {
			return nil // Skip this file, because an unreadable or binary file cannot be searched for lines.
		}
		if CheckFile(name) != nil {
			return nil
		}
		src := &fileLookupSources{file: name, content: content, sidecars: []*sidecar{missingSidecar}}
		for _, l := range lostLocators {
			src.sidecars = append(src.sidecars, l.sidecar)
		}
		p, err := b.findAnnotationsInContent(ctx, src)
		if err != nil {
			return err
		}
		for _, l := range lostLocators {
			l.copyFoundAnnotations(p)
		}
		return nil
	})
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	for _, l := range lostLocators {
		if l.countLostAnnotations() > 0 {
			l.incompleteErr = &unreadableError{l.annotations[0].CurrentFile, err}
		}
	}
	return nil
}

var errTooManyFiles = fmt.Errorf(
	"without git, a file that is gone is looked for under other names in %d files, and here are more",
	maxSearchedTreeFiles,
)

// searchOtherFilesForAnnotations searches other files for the lost annotations of the file p.file, and stores their
// positions in p. If it is called again for the same p, it does nothing.
func (b *Store) searchOtherFilesForAnnotations(ctx context.Context, p *fileAnnotations) error {
	b.mu.Lock()
	done := p.hasSearchedOtherFiles
	found := slices.Clone(p.foundAnnotations)
	b.mu.Unlock()
	if done {
		return nil
	}
	if err := b.findBlocksInOtherFiles(ctx, p.file, found); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.foundAnnotations, p.hasSearchedOtherFiles = found, true
	return nil
}

// Limits of the search in [Store.findBlocksInOtherFiles].
const (
	maxSearchedOtherFiles = 50  // maximum number of other files that are searched for lost annotated lines
	maxExaminedCommits    = 3   // maximum number of commits about which git is asked
	minFileMoveConfidence = .85 // minimum confidence for accepting that annotated lines have moved to another file
)

// mayBeInOtherFile reports whether the annotation's block should be searched for in other files. The block must be
// lost, the annotation must have a commit, and the block must be distinctive enough to be found by its text.
func (f *FoundAnnotation) mayBeInOtherFile() bool {
	return f.Placement == NotPlaced && f.Commit != "" && areDistinctiveLines(f.Block)
}

// findBlocksInOtherFiles searches other files for the blocks in the list found that were not found in the file, for
// example because the file was split. It searches only files that commits changed together with the file after an
// annotation was written. The text of a block must be distinctive and occur exactly once in the other file.
// findBlocksInOtherFiles stores the new positions in the list found. If git fails, the blocks stay lost.
func (b *Store) findBlocksInOtherFiles(ctx context.Context, file string, found []FoundAnnotation) error {
	var lost []*FoundAnnotation
	var since []string
	for i := range found {
		if f := &found[i]; f.mayBeInOtherFile() {
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
	for _, commit := range since[:min(len(since), maxExaminedCommits)] {
		names, err := b.history.FilesChangedWith(ctx, commit, file)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// Ignore the error, because the annotation's commit may no longer exist, for example after a rebase.
		if err == nil {
			files = append(files, names...)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for _, name := range files[:min(len(files), maxSearchedOtherFiles)] {
		if name == file || CheckFile(name) != nil {
			continue
		}
		content, err := b.readContent(name)
		if err != nil || isBinary(content) {
			continue
		}
		x := newIndexedText(newLineAndWordNumberer(), SplitLines(content))
		for _, f := range lost {
			search := annotatedBlockSearch{newText: x, record: &f.Record}
			if m := search.runMethod(uniqueCopySearchMethod); m.positionConfidence >= minFileMoveConfidence &&
				m.positionConfidence > f.Confidence {
				f.CurrentFile = name
				f.Placement = PlacedAfterMove
				f.CurrentSpan = m.span
				f.Confidence = m.positionConfidence
				f.Explanation = "its lines went to another file; " + m.explanation
			}
		}
	}
	return nil
}
