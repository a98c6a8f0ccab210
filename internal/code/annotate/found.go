// This file declares the inputs and the results of a lookup.

package annotate

import (
	"cmp"
	"slices"
)

// FoundAnnotation is an annotation and the position at which its block was found.
type FoundAnnotation struct {
	Record

	CurrentFile string // file that contains the annotated lines now, or that contained them last
	Placement   PlacementKind
	// lines of the block in the file that field CurrentFile names (zero if Placement is [NotPlaced])
	CurrentSpan LineSpan

	// Confidence is the probability, from 0 to 1, that the block is at this position. For [PlacedAfterEdit], Confidence
	// is the share of the block that is unchanged. If this share is at least .5, at least some lines of the block are
	// unchanged except for white space. For [NotPlaced], Confidence is 0.
	Confidence float64

	// how the annotated lines were found, as a text for people ("" if they were not found, so that Placement is
	// [NotPlaced])
	Explanation string
}

// isFoundIn reports whether the block was found in the given file.
func (f *FoundAnnotation) isFoundIn(file string) bool {
	return f.CurrentFile == file && f.Placement != NotPlaced
}

// setPosition sets the annotation's position and its explanation from the match m in the file with the path file. If
// the annotation was written for a file with a different path and the text is the same, the placement becomes
// PlacedByTracking, and the explanation begins with the old path.
func (f *FoundAnnotation) setPosition(file string, m annotatedBlockMatch) {
	isSameText := m.placementKind == PlacedExactly || m.placementKind == PlacedAfterMove
	if f.File != file && isSameText {
		m.placementKind = PlacedByTracking
		m.explanation = "the file was called " + f.File + " then; " + m.explanation
	}
	f.CurrentFile = file
	f.Placement = m.placementKind
	f.CurrentSpan = m.span
	f.Confidence = m.positionConfidence
	f.Explanation = m.explanation
}

// fileLookupSources contains the texts for a lookup in a file: the file's content, and the sidecars whose annotations
// may be in it.
type fileLookupSources struct {
	file            string
	content         []byte
	lines           []string // the lines of content (not set before the first call to setLinesAndBlobName)
	contentBlobName string   // git's blob name for content ("" before the first call of setLinesAndBlobName)
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
	foundAnnotations []FoundAnnotation // sorted by position, with lost annotations at the end
	// Annotations whose lines are not in this file were already searched in other files.
	hasSearchedOtherFiles bool
	// deleted files that may have been renamed to this file, and that have annotations which were not found in it
	deletedSourceFiles []string
}

// sortFoundAnnotations sorts the annotations by position, and at the same position by time. Lost annotations come last.
func (p *fileAnnotations) sortFoundAnnotations() {
	order := make(
		[]*FoundAnnotation,
		len(p.foundAnnotations),
	) // Sort pointers, because copying a FoundAnnotation is expensive.
	for i := range p.foundAnnotations {
		order[i] = &p.foundAnnotations[i]
	}
	slices.SortStableFunc(order, func(x, y *FoundAnnotation) int {
		if (x.Placement == NotPlaced) != (y.Placement == NotPlaced) {
			if x.Placement == NotPlaced {
				return 1
			}
			return -1
		}
		return cmp.Or(
			x.CurrentSpan.First-y.CurrentSpan.First,
			x.CurrentSpan.Last-y.CurrentSpan.Last,
			x.Time.Compare(y.Time),
		)
	})
	found := make([]FoundAnnotation, len(order))
	for i, f := range order {
		found[i] = *f
	}
	p.foundAnnotations = found
}
