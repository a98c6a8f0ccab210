// Hooks for tests within the package.

package oxbow

import "time"

// ParseForTest is query.Parse, which tests within the package cannot import.
var ParseForTest func(s string, now time.Time) (Query, error)

// WithinForTest returns a memory over what the filter selects, by package scope.
var WithinForTest func(m *Memory, f Filter) *Memory
