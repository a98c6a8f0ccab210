// What was found for the annotations of one file.

package annotate

import (
	"cmp"
	"slices"
)

// Found is an annotation and where its block stands now.
type Found struct {
	Record

	In     string // the file that the block stands in now, or stood in
	Placed Placing
	Now    Span // in that file; zero when Placed is [Lost]

	// Confidence is 0 to 1: that the block stands there, and for [Edited] how
	// much of it is still the same, where .5 or more says that some of its lines
	// are, white space aside. It is 0 when Placed is [Lost].
	Confidence float64

	How string // the same in words, for people; "" when Placed is [Lost]
}

// set makes a match the place of the annotation.
func (f *Found) set(file string, m match) {
	if f.File != file && (m.placing == Exact || m.placing == Moved) {
		m.placing = Tracked
		m.how = "the file was called " + f.File + " then; " + m.how
	}
	f.In = file
	f.Placed = m.placing
	f.Now = m.span
	f.Confidence = m.confidence
	f.How = m.how
}

// resolved is what was found for all annotations of one file.
type resolved struct {
	content  []byte
	head     string
	sidecars []*sidecar // the file's own, those of former names, and orphans, in this order
	former   int        // number of former names
	found    []Found    // by place, the lost ones last
	lines    int
	searched bool     // lost blocks were looked for in other files
	partial  error    // what git answered, when it failed: the next lookup tries again
	orphans  []string // files that are gone and have annotations that were not found here
}

// sort orders what was found by place, the lost last, and then by time.
func (p *resolved) sort() {
	order := make([]*Found, len(p.found)) // a Found is long to move
	for i := range p.found {
		order[i] = &p.found[i]
	}
	slices.SortStableFunc(order, func(x, y *Found) int {
		if (x.Placed == Lost) != (y.Placed == Lost) {
			if x.Placed == Lost {
				return 1
			}
			return -1
		}
		return cmp.Or(x.Now.First-y.Now.First, x.Now.Last-y.Now.Last, x.Time.Compare(y.Time))
	})
	found := make([]Found, len(order))
	for i, f := range order {
		found[i] = *f
	}
	p.found = found
}
