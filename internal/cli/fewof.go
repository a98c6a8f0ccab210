// This file prints only the first items of a long list. Otherwise a command that changed 100,000 entries would print
// 100,000 lines.

package cli

const (
	maxUncutListItems = 20 // A list with at most this many items is printed whole.
	cutListItemCount  = 5  // number of items that are printed from a longer list
)

// itemsToPrint returns the items that are printed. If there are at most maxUncutListItems items, it returns all of
// them. Otherwise it returns the first cutListItemCount items.
func itemsToPrint[T any](items []T) []T {
	if len(items) > maxUncutListItems {
		return items[:cutListItemCount]
	}
	return items
}
