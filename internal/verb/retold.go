// This file removes digests from results that already contain the entries they summarize.

package verb

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
)

// RecallOnce is like [oxbow.Memory.RecallParsed], but leaves out digests if the hits also contain narrower entries. For
// example, it returns the notes of a day instead of the digest of the week.
func RecallOnce(ctx context.Context, m *oxbow.Memory, q oxbow.Query) ([]oxbow.Hit, oxbow.ParsedQuery, error) {
	hits, read, err := m.RecallParsed(ctx, q)
	if err != nil {
		return nil, read, err
	}
	kept := withoutRetold(slices.Clone(hits))
	if len(kept) == len(hits) || len(hits) < limitOfQuery(q) {
		return kept, read, nil
	}
	// Other hits replace the removed digests, of which there are at most as many as hits.
	q.Limit = min(2*limitOfQuery(q), oxbow.MaxLimit)
	more, read, err := m.RecallParsed(ctx, q)
	if err != nil {
		return nil, read, err
	}
	kept = withoutRetold(more)
	return kept[:min(len(kept), len(hits))], read, nil
}

// limitOfQuery returns a query's maximum number of hits.
func limitOfQuery(q oxbow.Query) int {
	if q.Limit == 0 {
		return oxbow.DefaultLimit
	}
	return q.Limit
}

// withoutRetold removes all digests from the hits if a hit is an entry that was summarized and is not a digest itself.
// Otherwise, if a hit is a digest that was summarized, it removes the digests that were not summarized. It does not
// check which digest summarizes which entry.
func withoutRetold(hits []oxbow.Hit) []oxbow.Hit {
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
