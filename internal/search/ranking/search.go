// This file executes plans.

package ranking

import (
	"math"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// A Hit is an item that was found.
type Hit struct {
	Item  Item
	Score float64
}

// Search returns the hits of a plan, best first. Equal scores are ordered by newer version,
// then by lower ID.
func (v *View) Search(p *Plan, limit int) []Hit {
	if len(p.lookup.Terms) == 0 {
		return nil
	}
	r, lookup := v.r, p.lookup
	lookup.Limit = limit
	if r.speaks.Load() { // fetch more hits at once, because dialogues are likely
		lookup.Limit = poolSize(limit)
	}
	found := v.x.Search(lookup)
	if r.an != nil {
		p.found = v.countSpeeches(p, found[:min(len(found), limit, speechLook)])
		speaks := p.found != speeches{}
		if speaks && lookup.Limit < poolSize(limit) {
			lookup.Limit = poolSize(limit)
			found = v.x.Search(lookup)
		}
		if speaks {
			found = v.rescore(p, found, limit)
		}
		if r.speaks.Load() != speaks {
			r.speaks.Store(speaks)
		}
	}
	found = found[:min(len(found), limit)]
	hits := make([]Hit, 0, len(found))
	for i := range found {
		if it := v.hitItem(&found[i]); it != nil { // nil if it could not be read
			hits = append(hits, Hit{it, found[i].Score})
		}
	}
	return hits
}

// Newest returns the items that a plan without terms selects, newest version first.
func (v *View) Newest(p *Plan, limit int) []Hit {
	v.NeedAll(p)
	lookup := p.lookup
	if p.isSeed { // the index of Seed has no keywords for documents without words
		lookup = index.Query{Accept: p.accept}
	}
	lookup.Limit = limit
	var hits []Hit
	for _, id := range v.x.Newest(lookup) {
		if it := v.item(id); it != nil { // nil if it could not be read
			hits = append(hits, Hit{Item: it})
		}
	}
	return hits
}

// Count returns how many documents have a word of the plan and meet the filter's conditions.
// accept must implement the same conditions and may be nil.
func (v *View) Count(p *Plan, filter index.Query, accept func(id uint64) bool) int {
	if !p.Any {
		filter.Terms = p.lookup.Terms
		return v.x.Count(filter)
	}
	if p.isSeed { // see Newest
		filter = index.Query{Accept: accept}
	}
	filter.Limit = math.MaxInt
	return len(v.x.Newest(filter))
}
