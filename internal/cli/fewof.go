// This file prints the first items of a long list, so that a command that changed 100,000 entries does
// not print 100,000 lines.

package cli

const (
	wholeList = 20 // a list of up to this many items is printed whole
	fewItems  = 5  // number of items that are printed of a longer list
)

// howToListAll returns the command that lists everything that a change touched. After a dry run there is
// no change, so that the same command with --json has to list it. It returns "" if no command can list it,
// because the home has a layout without a log.
func (t *terminal) howToListAll(dryRun bool) string {
	switch {
	case dryRun:
		return "--json lists them all"
	case t.foreign:
		return ""
	}
	return "oxbow log --limit 1 --json lists them all"
}

// few returns all items, or the first few of a long list.
func few[T any](items []T) []T {
	if len(items) > wholeList {
		return items[:fewItems]
	}
	return items
}

// showFew calls show for each item, or for the first few of a long list. Below a long list, it prints the
// number of the other items and all, which says how to list them. If all is "", it shows each item.
func showFew[T any](a *app, items []T, all string, show func(T)) {
	shown := items
	if all != "" {
		shown = few(items)
	}
	for _, item := range shown {
		show(item)
	}
	if n := len(items) - len(shown); n > 0 {
		a.printf("  and %d more; %s\n", n, a.asTyped(all))
	}
}
