// This file implements Lookup, which finds the annotations whose lines are now in a given range. Each step has a
// separate file: sources.go reads the file and the sidecars that may contain such annotations, resolve.go reads the
// file's old versions, candidates.go finds line ranges for each block, scores.go measures how well the ranges fit, and
// choice.go chooses a range.

package annotate

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
)

// PartialLookupError is returned together with results if git failed. Without git, blocks are found only by their
// text, and annotations that are stored under former names of the file may be missing.
type PartialLookupError struct {
	Err                error
	DeletedSourceFiles []string // deleted files whose annotations may belong to this file but were not found in it
}

func (e *PartialLookupError) Error() string { return "git did not answer: " + e.Err.Error() }

func (e *PartialLookupError) Unwrap() error { return e.Err }

// Lookup returns the annotations whose blocks are now in the span of the file. It reads the file in the working tree,
// including changes that are not committed. The result is sorted by position and then by time. The zero Span means the
// whole file. In this case, the result ends with the annotations of the file that are now in a different file, and with
// the [NotPlaced] annotations. An archived annotation (which was set aside because its lines had been deleted) is
// returned if its lines exist again.
//
// If the old version of the file is known, Lookup finds a block by comparing both versions. Otherwise it searches for
// the block's text and context, and then for similar text. Annotations of a file that was renamed or copied are found
// under the file's new name. Lookup learns of a rename or copy from git's history, or from a sidecar that was moved
// together with the file. If the rename is not committed or git is not available, Lookup finds the renamed file by the
// annotated lines in it.
//
// The error matches [oxbow.ErrInvalid] if the path or the lines are invalid, and [fs.ErrNotExist] if the file does not
// exist and has no annotations. If the error is a [PartialLookupError], the results are returned as well.
func (b *Store) Lookup(ctx context.Context, file string, span LineSpan) ([]FoundAnnotation, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	if span != (LineSpan{}) && span.Len() == 0 {
		return nil, &oxbow.InvalidError{
			Field:  "lines",
			Value:  span.String(),
			Reason: "are no range; lines count from 1",
		}
	}
	p, err := b.findFileAnnotations(ctx, file)
	if err == nil && span == (LineSpan{}) {
		err = b.searchOtherFilesForAnnotations(ctx, p)
	}
	if err != nil {
		return nil, fmt.Errorf("looking up annotations: %w", err)
	}
	if span.First > len(p.lines) && span != (LineSpan{}) {
		return nil, &oxbow.InvalidError{
			Field:  "lines",
			Value:  span.String(),
			Reason: fmt.Sprintf("are not in %s, which has %d", file, len(p.lines)),
		}
	}
	var out []FoundAnnotation
	for _, f := range p.foundAnnotations {
		isInSpan := f.CurrentFile == file && f.CurrentSpan.Overlaps(span)
		if isInSpan || span == (LineSpan{}) {
			out = append(out, f)
		}
	}
	return out, p.partialError()
}

// partialError returns a [PartialLookupError] if git failed, and nil otherwise.
func (p *fileAnnotations) partialError() error {
	if p.gitError == nil {
		return nil
	}
	return &PartialLookupError{p.gitError, p.deletedSourceFiles}
}

// findFileAnnotations finds all annotations of a file. If the file, its sidecars and HEAD have not changed since the
// last call, findFileAnnotations returns the results of that call.
func (b *Store) findFileAnnotations(ctx context.Context, file string) (*fileAnnotations, error) {
	src, err := b.readFileAndSidecars(ctx, file)
	if err != nil {
		return nil, err
	}
	if src.isFileMissing {
		return b.resolveMissingFile(ctx, src)
	}
	if cached := b.cachedFileAnnotations(src); cached != nil {
		return cached, nil
	}
	p, err := b.findAnnotationsInContent(ctx, src)
	if err != nil {
		return nil, err
	}
	err = b.listDeletedSourceFiles(ctx, p)
	if err == nil && p.gitError == nil {
		b.cacheFileAnnotations(p)
	}
	return p, err
}
