// This file reports aliases that could not be restored with an entry.

package verb

import "slices"

// lostAliasNotesAfterUndo returns notes about aliases that a restored entry had before and does not have now, because
// they belong to another entry.
func lostAliasNotesAfterUndo(name string, oldAliases, newAliases []string) (notes []Note) {
	for _, a := range oldAliases {
		if !slices.Contains(newAliases, a) {
			notes = append(notes, Notef("%q came back without its alias %q, which means another entry now", name, a))
		}
	}
	return notes
}
