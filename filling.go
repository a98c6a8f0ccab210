// This file builds an index while an empty store is being filled.

package oxbow

import "context"

// filling builds an index from the entries that are being written to an empty store. The
// indexing overlaps with the writing, and no entry has to be read again.
type filling struct {
	s     *searcher
	last  uint64 // largest ID so far
	added chan []analyzedDelta
	ended chan error // receives fill's result (buffered)
}

// newFilling starts a filling of the empty searcher s.
func newFilling(ctx context.Context, s *searcher) *filling {
	f := &filling{s: s, added: make(chan []analyzedDelta, 1), ended: make(chan error, 1)}
	go func() {
		f.ended <- f.s.fill(ctx, func(yield func(*Entry, error) bool) {
			for ds := range f.added {
				for _, d := range ds {
					// ignore the result: only an error stops fill, and this loop yields
					// none
					yield(d.Entry, nil)
				}
			}
		}, 1)
	}()
	return f
}

// take adds the entries of the changes and returns true. If a change is not the addition of
// a new entry, it returns false, and the filling is incomplete.
func (f *filling) take(ds []analyzedDelta) bool {
	for _, d := range ds {
		if d.Entry == nil || d.ID <= f.last {
			return false
		}
		f.last = d.ID
	}
	f.added <- ds
	return true
}

// end waits until all added entries are indexed and returns the searcher. It returns nil if
// f is nil or if the indexing failed.
func (f *filling) end() *searcher {
	if f == nil {
		return nil
	}
	close(f.added)
	if <-f.ended != nil {
		f.s.close()
		return nil
	}
	return f.s
}
