// Hooks for tests within the package.

package oxbow

import "time"

// ParseForTest is query.Parse, which tests within the package cannot import.
var ParseForTest func(s string, now time.Time) (Query, error)

// WithinForTest returns a memory over what the filter selects, by package scope.
var WithinForTest func(m *Memory, f Filter) *Memory

// IndexLeast is minMissingEntriesAtStart.
const IndexLeast = minMissingEntriesAtStart

// IndexState returns whether the index of the memory m was read from its index file. The result unsaved is the
// approximate work to analyze the changes that are not in the index file. Its unit is the work to analyze an average
// entry.
func IndexState(m *Memory) (resumed bool, unsaved int64) {
	s := m.searcher.Load()
	return s.savedIndex != nil, s.unsavedAnalysisWork.Load()
}
