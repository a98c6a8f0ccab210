// This file reports the aliases that a restored entry lost.

package verb

import "slices"

// takenAliases returns notes about the aliases that a restored entry lost because they now identify
// another entry.
func takenAliases(name string, was, now []string) (notes []Note) {
	for _, a := range was {
		if !slices.Contains(now, a) {
			notes = append(notes, Notef("%q came back without its alias %q, which means another entry now", name, a))
		}
	}
	return notes
}
