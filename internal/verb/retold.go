// This file removes digests from results that also contain the entries that the digests summarize.

package verb

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
)

// removeRedundantDigests removes the digests that other hits make unnecessary. A digest is a note that summarizes
// other notes. If one of the hits is a summarized note and not a digest, all digests are removed. Otherwise, if one of
// the hits is a summarized digest, such as a week's digest, the digests that no other digest summarizes are removed.
// It does not check which digest summarizes which note.
func removeRedundantDigests(hits []oxbow.Hit) []oxbow.Hit {
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
