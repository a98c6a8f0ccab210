// This file says which aliases a restored entry lost.

package verb

import "slices"

// takenAliases says which aliases of a restored entry were left off, because they mean
// another entry by now.
func takenAliases(name string, was, now []string) (notes []Note) {
	for _, a := range was {
		if !slices.Contains(now, a) {
			notes = append(notes, Notef("%q came back without its alias %q, which means another entry now", name, a))
		}
	}
	return notes
}
