// This file builds an index while an empty store is being filled.

package oxbow

import "context"

// indexFiller builds an index from the entries that are being written to an empty store. The
// indexing overlaps with the writing, and no entry has to be read again.
type indexFiller struct {
	searcher       *searcher
	largestEntryID uint64 // largest entry ID so far
	addedCh        chan []analyzedChange
	fillErrCh      chan error // receives the error of searcher.fillIndex (buffered)
}

// newIndexFiller starts a goroutine that adds entries to the index of the searcher s, which must be empty. The
// goroutine receives the entries from the channel addedCh, until this channel is closed. At the end, it sends the error
// of fillIndex, or nil, to the channel fillErrCh.
func newIndexFiller(ctx context.Context, s *searcher) *indexFiller {
	f := &indexFiller{searcher: s, addedCh: make(chan []analyzedChange, 1), fillErrCh: make(chan error, 1)}
	go func() {
		f.fillErrCh <- f.searcher.fillIndex(ctx, func(yield func(*Entry, error) bool) {
			for ds := range f.addedCh {
				for _, d := range ds {
					// ignore the result of yield: fillIndex stops the loop only after an error, and this loop passes
					// no errors
					yield(d.Entry, nil)
				}
			}
		}, 1)
	}()
	return f
}

// addEntries passes the entries of the changes to the goroutine that indexes them, and returns true. It returns false
// if a change is not the addition of a new entry. The index must then be discarded, because it lacks this change.
func (f *indexFiller) addEntries(changes []analyzedChange) bool {
	for _, d := range changes {
		if d.Entry == nil || d.ID <= f.largestEntryID {
			return false
		}
		f.largestEntryID = d.ID
	}
	f.addedCh <- changes
	return true
}

// finish waits until all added entries are indexed and returns the searcher. It returns nil if
// f is nil or if the indexing failed.
func (f *indexFiller) finish() *searcher {
	if f == nil {
		return nil
	}
	close(f.addedCh)
	if <-f.fillErrCh != nil {
		f.searcher.close()
		return nil
	}
	return f.searcher
}
