// This file removes digests from results that already contain the entries they summarize.

package verb

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
)

// withoutRedundantDigests removes all digests from the hits if a hit is an entry that was summarized and is not a
// digest itself. Otherwise, if a hit is a digest that was summarized, it removes the digests that were not
// summarized. It does not check which digest summarizes which entry.
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
