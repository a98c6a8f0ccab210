// This file declares what Lookup compares for a file, and the results.

package annotate

import (
	"cmp"
	"slices"
)

// FoundAnnotation is an annotation and the present position of its block.
type FoundAnnotation struct {
	Record

	In     string // file that contains the block now, or last contained it
	Placed PlacingKind
	Now    Span // lines in that file (zero if Placed is [Lost])

	// Confidence is the probability, 0 to 1, that the block is at this position. For [Edited], it
	// is the unchanged share of the block. A share of at least .5 means that some lines are equal
	// except for white space. It is 0 if Placed is [Lost].
	Confidence float64

	How string // the result in words, for people ("" if Placed is [Lost])
}

// isFoundIn reports whether the block is now in a file.
func (f *FoundAnnotation) isFoundIn(file string) bool { return f.In == file && f.Placed != Lost }

// setPosition sets the position of the annotation to a match.
func (f *FoundAnnotation) setPosition(file string, m blockMatch) {
	isSameText := m.placing == Exact || m.placing == Moved
	if f.File != file && isSameText {
		m.placing = Tracked
		m.explanation = "the file was called " + f.File + " then; " + m.explanation
	}
	f.In = file
	f.Placed = m.placing
	f.Now = m.span
	f.Confidence = m.confidence
	f.How = m.explanation
}

// textSources are a text and the sidecars whose annotations are searched in the text.
type textSources struct {
	file            string
	content         []byte
	lines           []string   // lines of the content (not set before the first call of split)
	blob            string     // git's name for the content ("" before the first call of split)
	isMissing       bool       // the file does not exist
	headCommit      string     // commit of HEAD ("" without git)
	sidecarPath     string     // path of the file's sidecar
	sidecars        []*sidecar // sidecars for the file, for its former names, and for missing files, in this order
	formerNameCount int        // number of former names
	gitError        error      // error of git, if any (the next lookup tries again)
}

// fileResults contains the annotations of a file with their present positions.
type fileResults struct {
	*textSources
	found               []FoundAnnotation // sorted by position, lost annotations last
	isElsewhereSearched bool              // lost blocks were already searched for in other files
	orphanFiles         []string          // deleted files with annotations that were not found in this file
}

// sortFound sorts found by position and then by time. Lost annotations come last.
func (p *fileResults) sortFound() {
	order := make([]*FoundAnnotation, len(p.found)) // sort pointers, because a FoundAnnotation is large
	for i := range p.found {
		order[i] = &p.found[i]
	}
	slices.SortStableFunc(order, func(x, y *FoundAnnotation) int {
		if (x.Placed == Lost) != (y.Placed == Lost) {
			if x.Placed == Lost {
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
