// This file removes summaries (digests) from search results that also contain the summarized entries.

package verb

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
)

// removeRedundantDigestHits removes hits that repeat other hits. A digest is a note that summarizes other notes, for
// example all notes of a week. A digest of a month may summarize the digests of its weeks. The function does not check
// which digest summarizes which note. It applies the first rule whose condition is met:
//   - If a hit is an ordinary note that was summarized, all digests are removed.
//   - If a hit is a digest that was itself summarized, the digests that were not summarized are removed.
func removeRedundantDigestHits(hits []oxbow.Hit) []oxbow.Hit {
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
