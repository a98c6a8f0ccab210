// An index that is made of what is written to an empty store.

package oxbow

import "context"

// filling is the making of an index of what is written to an empty store: it
// takes part of the time that the writing takes, and no entry is read again.
type filling struct {
	s     *searcher
	last  uint64 // the largest ID
	added chan []analyzedDelta
	ended chan error // has room for what fill returned
}

// newFilling returns one of that searcher, which is empty.
func newFilling(ctx context.Context, s *searcher) *filling {
	f := &filling{s: s, added: make(chan []analyzedDelta, 1), ended: make(chan error, 1)}
	go func() {
		f.ended <- f.s.fill(ctx, func(yield func(*Entry, error) bool) {
			for ds := range f.added {
				for _, d := range ds {
					yield(d.Entry, nil) // goes on without an error
				}
			}
		}, 1)
	}()
	return f
}

// take adds the entries of changes, if all of them are new.
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

// end returns the index of what was added, nil when there is none.
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
