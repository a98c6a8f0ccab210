// This file declares the inputs and the results of a lookup.

package annotate

import (
	"cmp"
	"slices"
)

// FoundAnnotation is an annotation and the position at which its block was found.
type FoundAnnotation struct {
	Record

	In     string // file that contains the annotated lines now, or that contained them last
	Placed PlacementKind
	Now    LineSpan // lines of the block in the file that field In names (zero if Placed is [NotPlaced])

	// Confidence is the probability, from 0 to 1, that the block is at this position. For [PlacedAfterEdit], Confidence
	// is the share of the block that is unchanged. If this share is at least .5, at least some lines of the block are
	// unchanged except for white space. For [NotPlaced], Confidence is 0.
	Confidence float64

	// how the annotated lines were found, as a text for people ("" if they were not found, so that Placed is
	// [NotPlaced])
	How string
}

// isFoundIn reports whether the block was found in the given file.
func (f *FoundAnnotation) isFoundIn(file string) bool { return f.In == file && f.Placed != NotPlaced }

// setPosition sets the annotation's position and its explanation from the match m in the file with the path file. If
// the annotation was written for a file with a different path and the text is the same, the placement becomes
// PlacedByTracking, and the explanation begins with the old path.
func (f *FoundAnnotation) setPosition(file string, m annotatedBlockMatch) {
	isSameText := m.placementKind == PlacedExactly || m.placementKind == PlacedAfterMove
	if f.File != file && isSameText {
		m.placementKind = PlacedByTracking
		m.explanation = "the file was called " + f.File + " then; " + m.explanation
	}
	f.In = file
	f.Placed = m.placementKind
	f.Now = m.span
	f.Confidence = m.positionConfidence
	f.How = m.explanation
}

// fileLookupSources contains the texts for a lookup in a file: the file's content, and the sidecars whose annotations
// may be in it.
type fileLookupSources struct {
	file            string
	content         []byte
	lines           []string // the lines of content (not set before the first call to splitContent)
	contentBlobName string   // git's blob name for content ("" before the first call of splitContent)
	isFileMissing   bool     // the file does not exist
	headCommit      string   // commit of HEAD ("" without git)
	sidecarPath     string   // path of the file's sidecar
	// the file's sidecar, then the sidecars for its former names, then the sidecars of missing files
	sidecars []*sidecar
	// number of annotation files in the slice sidecars that are named after former names of the file
	formerNameCount int
	gitError        error // error of git, if git failed (the next lookup asks git again)
}

// fileAnnotations contains the annotations that were found in a file. Results are cached.
type fileAnnotations struct {
	*fileLookupSources
	found []FoundAnnotation // sorted by position, with lost annotations at the end
	// Annotations whose lines are not in this file were already searched in other files.
	hasSearchedOtherFiles bool
	// deleted files that may have been renamed to this file, and that have annotations which were not found in it
	deletedSourceFiles []string
}

// sortFound sorts the annotations by position, and at the same position by time. Lost annotations come last.
func (p *fileAnnotations) sortFound() {
	order := make([]*FoundAnnotation, len(p.found)) // Sort pointers, because copying a FoundAnnotation is expensive.
	for i := range p.found {
		order[i] = &p.found[i]
	}
	slices.SortStableFunc(order, func(x, y *FoundAnnotation) int {
		if (x.Placed == NotPlaced) != (y.Placed == NotPlaced) {
			if x.Placed == NotPlaced {
				return 1
			}
			return -1
		}
		return cmp.Or(x.Now.First-y.Now.First, x.Now.Last-y.Now.Last, x.Time.Compare(y.Time))
	})
	found := make([]FoundAnnotation, len(order))
	for i, f := range order {
		found[i] = *f
	}
	p.found = found
}
