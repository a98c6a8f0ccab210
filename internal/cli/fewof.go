// This file prints the first items of a long list, so that a command that changed 100,000 entries does
// not print 100,000 lines.

package cli

const (
	wholeList = 20 // a list of up to this many items is printed whole
	fewItems  = 5  // number of items that are printed of a longer list
)

// howToListAll returns the command that lists everything that a change touched. After a dry run there is
// no change, so that the same command with --json has to list it.
func howToListAll(dryRun bool) string {
	if dryRun {
		return "--json lists them all"
	}
	return "oxbow log --limit 1 --json lists them all"
}

// showFew calls show for each item, or for the first few of a long list. Below a long list, it prints the
// number of the other items and all, which says how to list them.
func showFew[T any](a *app, items []T, all string, show func(T)) {
	shown := items
	if len(items) > wholeList {
		shown = items[:fewItems]
	}
	for _, item := range shown {
		show(item)
	}
	if n := len(items) - len(shown); n > 0 {
		a.printf("  and %d more; %s\n", n, all)
	}
}
