// This file reports the aliases that a restored entry lost.

package verb

import "slices"

// unrestoredAliasNotes returns notes about the aliases that a restored entry lost because they now identify
// another entry.
func unrestoredAliasNotes(name string, oldAliases, newAliases []string) (notes []Note) {
	for _, a := range oldAliases {
		if !slices.Contains(newAliases, a) {
			notes = append(notes, Notef("%q came back without its alias %q, which means another entry now", name, a))
		}
	}
	return notes
}
