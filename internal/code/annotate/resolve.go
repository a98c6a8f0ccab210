// This file finds, in one text, the present positions of the annotations from several sidecars.

package annotate

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// cachedFileAnnotations returns a file's cached annotations if they were found in the same versions of the file and the
// annotation files. Otherwise it returns nil.
func (b *Store) cachedFileAnnotations(src *fileLookupSources) *fileAnnotations {
	b.mu.Lock()
	cached := b.resultsByFile[src.file]
	b.mu.Unlock()
	if cached == nil || !cached.isFromSources(src) {
		return nil
	}
	return cached
}

// cacheFileAnnotations caches the results for later calls.
func (b *Store) cacheFileAnnotations(p *fileAnnotations) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.resultsByFile) >= maxCachedFiles {
		clear(b.resultsByFile)
	}
	b.resultsByFile[p.file] = p
}

// isFromSources reports whether p was computed from the same file content, sidecars and HEAD commit that src contains.
func (p *fileAnnotations) isFromSources(src *fileLookupSources) bool {
	return p.headCommit == src.headCommit && slices.Equal(p.sidecars, src.sidecars) &&
		bytes.Equal(p.content, src.content)
}

// errShallowClone means that a file's deletion or rename may have happened before the history of a shallow clone
// begins.
var errShallowClone = errors.New(
	"this shallow clone has not the history that says what became of a file; git fetch --unshallow gets it",
)

// listDeletedSourceFiles sets p.deletedSourceFiles to the deleted files whose annotations may belong to the file
// p.file. It does so only if git cannot tell to which files the deleted files were renamed, for one of these reasons:
//
//   - Git has failed, so that p.gitError is set.
//   - The clone is shallow, and no annotation of p.file was found. If there are deleted files, p.gitError becomes
//     errShallowClone.
func (b *Store) listDeletedSourceFiles(ctx context.Context, p *fileAnnotations) error {
	if p.gitError == nil {
		if len(p.foundAnnotations) > 0 || !b.isShallowClone() {
			return nil
		}
		p.gitError = errShallowClone
	}
	names, sidecars, err := b.sidecarsOfDeletedFiles(ctx)
	if err != nil {
		return err
	}
	here := map[string]bool{}
	for _, f := range p.foundAnnotations {
		here[f.ID] = true
	}
	for i, s := range sidecars {
		if names[i] != p.file && slices.ContainsFunc(s.records, func(r *Record) bool { return !here[r.ID] }) {
			p.deletedSourceFiles = append(p.deletedSourceFiles, names[i])
		}
	}
	if len(p.deletedSourceFiles) == 0 && p.gitError == errShallowClone {
		p.gitError = nil
	}
	return nil
}

// findAnnotationsInContent searches the content of the file src.file for the annotations in src.sidecars. A sidecar is
// a file that contains the annotations of one source file. Some of the sidecars belong to other source files, which
// were deleted. An annotation from such a sidecar is used only in two cases:
//   - The deleted file was probably renamed to src.file.
//   - The annotated lines are distinctive, and src.file contains them unchanged.
func (b *Store) findAnnotationsInContent(ctx context.Context, src *fileLookupSources) (*fileAnnotations, error) {
	src.setLinesAndBlobName(b.usesSHA256())
	p := &fileAnnotations{fileLookupSources: src}
	h := b.lockOldVersionCache(src.file)
	defer h.mu.Unlock()
	// The function fetch reads all old versions that the sidecars need at once.
	fetch := func(sidecars []*sidecar) error {
		if b.history == nil {
			return nil
		}
		err := h.fetchUncachedBlobs(ctx, b.history, src.headCommit, collectBlobNames(sidecars, src.contentBlobName))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, git.ErrOutputTooLong) {
			src.gitError = err
		}
		return nil
	}
	sidecars := slices.Clone(src.sidecars)
	own := sidecars[:min(1+src.formerNameCount, len(sidecars))]
	if err := fetch(own); err != nil {
		return nil, err
	}
	x := newIndexedText(h.numberer, src.lines)
	adopted := 0
	for i, s := range sidecars[len(own):] {
		if x.isProbablyRenamedFrom(s, src.contentBlobName) {
			sidecars[len(own)+i], sidecars[len(own)+adopted] = sidecars[len(own)+adopted], s
			adopted++
		}
	}
	if err := fetch(sidecars[len(own) : len(own)+adopted]); err != nil {
		return nil, err
	}
	search := annotatedBlockSearch{newText: x}
	olds := map[string]*oldVersion{}
	seen := map[string]bool{}
	for i, s := range sidecars {
		for _, r := range s.records {
			if seen[r.ID] {
				continue
			}
			search.record, search.oldVersion = r, nil
			m := noMatch
			if i < len(own)+adopted {
				old := h.oldFileTexts[r.FileBlobName]
				isOlder := old != nil && r.FileBlobName != src.contentBlobName
				if isOlder && olds[r.FileBlobName] == nil {
					olds[r.FileBlobName] = &oldVersion{oldFileText: old, newText: x, mapper: &h.mapper}
				}
				search.oldVersion = olds[r.FileBlobName]
				m = search.findBlock(src.contentBlobName)
			} else {
				m = search.runMethod(uniqueCopySearchMethod)
				if m.positionConfidence < .9 {
					// This annotation was written for a different file. Accept it for this file only if its lines occur
					// here unchanged and the confidence is at least 0.9.
					continue
				}
			}
			if m.placementKind == NotPlaced {
				// The annotation may have been written for another file that still exists. It is then reported as lost
				// there, and not in this file.
				isOthers := i > 0 && (i >= len(own) || b.HasFile(r.File))
				if isOthers || r.Archived {
					continue
				}
			}
			seen[r.ID] = true
			f := FoundAnnotation{Record: *r}
			f.setPosition(src.file, m)
			p.foundAnnotations = append(p.foundAnnotations, f)
		}
	}
	p.sortFoundAnnotations()
	return p, nil
}
