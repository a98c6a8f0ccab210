// What was found for the annotations of one file.

package annotate

import (
	"cmp"
	"slices"
)

// Found is an annotation and where its block stands now.
type Found struct {
	Record

	Placed Placing
	Now    Span // in the file that was asked for; zero when Placed is [Lost]

	// Confidence is 0 to 1: that the block stands there, and for [Edited] how
	// much of it is still the same. It is 0 when Placed is [Lost].
	Confidence float64

	How string // the same in words, for people; "" when Placed is [Lost]
}

// Status is an annotation of the tree and where it stands.
type Status struct {
	Found
	In string // the file that it stands in now, or stood in
}

// resolved is what was found for all annotations of one file.
type resolved struct {
	content  []byte
	head     string
	sidecars []*sidecar
	found    []Found // by place, the lost ones last
	lines    int
	partial  bool // git did not answer: the next lookup asks again
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
