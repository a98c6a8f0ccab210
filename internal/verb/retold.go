// This file removes digests from results that already contain the entries they summarize.

package verb

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
)

// withoutRedundantDigests removes the digests that the other hits make superfluous. A digest is a note that summarizes
// other notes. If a hit is a summarized note that is not a digest, all digests are removed. Otherwise, if a hit is a
// summarized digest, such as that of a week, only digests that were not summarized are removed.
// withoutRedundantDigests does not check which digest summarizes which note.
func withoutRedundantDigests(hits []oxbow.Hit) []oxbow.Hit {
	is := func(h oxbow.Hit, key string) bool {
		return slices.Contains(h.Entry.Labels, oxbow.Label{Key: key, Value: "true"})
	}
	isDay := func(h oxbow.Hit) bool { return is(h, profile.LabelCovered) && !is(h, profile.LabelDigest) }
	switch {
	case slices.ContainsFunc(hits, isDay):
		return slices.DeleteFunc(hits, func(h oxbow.Hit) bool { return is(h, profile.LabelDigest) })
	case slices.ContainsFunc(hits, func(h oxbow.Hit) bool { return is(h, profile.LabelCovered) }):
		return slices.DeleteFunc(hits, func(h oxbow.Hit) bool {
			return is(h, profile.LabelDigest) && !is(h, profile.LabelCovered)
		})
	}
	return hits
}
