// This file prints the first items of a long list, so that a command that changed 100,000 entries does
// not print 100,000 lines.

package cli

const (
	maxWholeList   = 20 // a list of up to this many items is printed whole
	shortListItems = 5  // number of items printed from a longer list
)

// firstItems returns all items, or the first few of a long list.
func firstItems[T any](items []T) []T {
	if len(items) > maxWholeList {
		return items[:shortListItems]
	}
	return items
}
