// This file exports internals of the package to its tests.

package oxbow

import "time"

// ParseForTest is query.Parse, which tests within the package cannot import.
var ParseForTest func(s string, now time.Time) (Query, error)

// WithinForTest returns a memory that contains only the entries of m that the filter f selects. It calls scope.Within,
// because tests in this package cannot import package scope.
var WithinForTest func(m *Memory, f Filter) *Memory

// IndexLeast exports minMissingEntriesAtStart to tests. It is the smallest limit on the number of entries that may be
// missing from the index file when a memory is opened. If more entries are missing, the file is written again.
const IndexLeast = minMissingEntriesAtStart

// IndexState returns whether the index of the memory m was read from its index file. The result unsaved is the
// approximate work to analyze the changes that are not in the index file. Its unit is the work to analyze an average
// entry.
func IndexState(m *Memory) (resumed bool, unsaved int64) {
	s := m.searcher.Load()
	return s.savedIndex != nil, s.unsavedAnalysisWork.Load()
}
