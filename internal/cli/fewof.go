// This file prints only the first items of a long list. Otherwise a command that changed 100,000 entries would print
// 100,000 lines.

package cli

const (
	maxUncutListItems = 20 // A list with at most this many items is printed whole.
	shortListItems    = 5  // number of items that are printed from a longer list
)

// firstItems returns the items that are printed. If there are at most maxUncutListItems items, it returns all of them.
// Otherwise it returns the first shortListItems items.
func firstItems[T any](items []T) []T {
	if len(items) > maxUncutListItems {
		return items[:shortListItems]
	}
	return items
}
